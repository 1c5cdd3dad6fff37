#!/bin/sh
# SPDX-License-Identifier: MIT
# How much slower are strategies on keys that are made to hurt hash tables than on random ones? A benchmark, not a test:
#     tests/adversarial.sh [AGGREGATOR,...]    (default: all; BUILD=build/..., ROUNDS=3, PIN=0; KEYS=folder keeps
# the columns, 340 MB, for the next time; TIMEOUT=10 seconds a run)
# Each column has 4 million rows of a million groups, in the same order of groups; prints for each strategy the time of
# the random column and the multiple of it that each other column takes, medians. Ends with the worst of them.
set -eu
aggbench=${BUILD:-build}/aggbench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
keys=${KEYS:-$work}
shapes='random ascending sequential times_2_16 times_2_32 times_2_40
    same_low_bits same_high_bits one_partition one_slot'

# A shape maps group numbers to keys. one_partition: the top 20 bits of the shared hash are 0; one_slot: all but its top
# 20 bits.
[ -f "$keys/made" ] || perl -e '
    my ($work, $groups, $rows) = (shift, 1 << 20, 1 << 22);
    sub product { use integer; my $product = $_[0] * $_[1]; no integer; return $product & ~0 }
    my $multiplier = 0x9e3779b97f4a7c15;
    my $inverse = $multiplier;
    for (1 .. 6) { use integer; $inverse *= 2 - $multiplier * $inverse; }
    sub random { my $x = product($_[0] + 1, $multiplier); $x = product($x ^ $x >> 30, 0xbf58476d1ce4e5b9);
                 $x = product($x ^ $x >> 27, 0x94d049bb133111eb); return $x ^ $x >> 31 }
    sub unhash { my $x = product($_[0], $inverse); return $x ^ $x >> 32 }
    sub order { my $x = $_[0] % $groups; $x ^= $x >> 9; $x = $x * 0x9e377 % $groups; $x ^= $x >> 11;
                $x = $x * 0xb5297 % $groups; return $x ^ $x >> 10 }
    my %key = (random => sub { random($_[0]) }, ascending => sub { $_[0] }, sequential => sub { $_[0] },
        times_2_16 => sub { $_[0] << 16 }, times_2_32 => sub { $_[0] << 32 }, times_2_40 => sub { $_[0] << 40 },
        same_low_bits => sub { $_[0] << 44 | 0x123456789ab }, same_high_bits => sub { 0x7234567800000000 | $_[0] },
        one_partition => sub { unhash(random($_[0]) >> 20) }, one_slot => sub { unhash($_[0] << 44) });
    my @order = map { order($_) } 0 .. $rows - 1;
    for my $shape (keys %key) {
        my @keys = map { $key{$shape}->($_) } 0 .. $groups - 1;
        open my $file, ">:raw", "$work/$shape.raw" or die "$work/$shape.raw: $!\n";
        for (my $row = 0; $row < $rows; $row += 65536) {
            my @rows = $row .. $row + 65535;
            print $file pack "Q<*", @keys[$shape eq "ascending" ? map { $_ >> 2 } @rows : @order[@rows]];
        }
        close $file or die "$work/$shape.raw: $!\n";
    }
    open my $made, ">", "$work/made";' "$keys"

for shape in $shapes; do
    "$aggbench" run "$keys/$shape.raw" --aggregator "${1:-all}" --no-twin --repetitions "${ROUNDS:-3}" --pages huge \
        --pin "${PIN:-0}" --quiet --format csv --timeout "${TIMEOUT:-10}" --output "$work/$shape.csv" >"$work/out" || :
done

awk -F, -v shapes="$shapes" '
    FNR == 1 { n = split(FILENAME, path, "/"); shape = path[n]; sub(/\.csv$/, "", shape)
               for (i = 1; i <= NF; i++) column[$i] = i; next }
    { name = $1; if (!(name in known)) { known[name] = 1; names[++strategies] = name }
      time[name, shape] = $4 == "\"ok\"" && $column["groups"] == 1048576 ? $column["median_s"] : $4 }
    END { n = split(shapes, shape_of, " ")
          printf "%-17s%10s", "aggregator", "random ms"
          for (i = 2; i <= n; i++) printf "%15s", shape_of[i]
          printf "%10s\n", "worst"
          for (s = 1; s <= strategies; s++) {
              name = names[s]; worst = 0
              printf "%-17s%10.1f", name, time[name, "random"] * 1000
              for (i = 2; i <= n; i++) {
                  took = time[name, shape_of[i]]
                  if (took !~ /^[0-9]/) {    # timeout, wrong, ...
                      gsub(/"/, "", took)
                      printf "%15s", worst = took
                      continue
                  }
                  ratio = took / time[name, "random"]
                  if (worst ~ /^[0-9]/ && ratio > worst) worst = ratio
                  printf "%15.2f", ratio
              }
              printf worst ~ /^[0-9]/ ? "%10.2f\n" : "%10s\n", worst
          } }' $(for shape in $shapes; do echo "$work/$shape.csv"; done)
