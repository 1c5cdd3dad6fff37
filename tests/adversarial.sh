#!/bin/sh
# SPDX-License-Identifier: MIT
# How much slower are strategies on keys that are made to hurt hash tables than on random ones? A benchmark, not a test:
#     tests/adversarial.sh [AGGREGATOR,...]    (default: all; BUILD=build/..., ROUNDS=5, PIN=0; KEYS=folder keeps
# the columns, 340 MB, for the next time; TIMEOUT=10 seconds a run)
# Each column has 4 million rows of a million groups, in the same order of groups. All columns take turns, round by
# round; prints for each strategy the time of the random column, the multiple of the same round's that each other column
# takes, medians, and the worst of them. What it printed last: adversarial.txt.
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

round=0
while [ "$round" -lt "${ROUNDS:-5}" ]; do
    for shape in $shapes; do
        "$aggbench" run "$keys/$shape.raw" --aggregator "${1:-all}" --no-twin --repetitions 1 --pages huge --pin "${PIN:-0}" \
            --quiet --counters off --format csv --timeout "${TIMEOUT:-10}" --output "$work/$round.$shape.csv" >"$work/out" || :
    done
    round=$((round + 1))
done

awk -F, -v shapes="$shapes" -v rounds="$round" '
    function middle(name, shape,    i, k, n, ratio, value) {    # or why there is none: timeout, wrong, ...
        for (n = 0; n < rounds; n++) {
            ratio = time[name, shape, n]
            if (ratio !~ /^[0-9]/) return ratio
            if (shape != "random") ratio /= time[name, "random", n]
            for (k = n; k > 0 && value[k - 1] > ratio; k--) value[k] = value[k - 1]
            value[k] = ratio
        }
        i = int(rounds / 2)
        return rounds % 2 ? value[i] : (value[i - 1] + value[i]) / 2
    }
    FNR == 1 { n = split(FILENAME, path, "/"); split(path[n], part, "."); round = part[1]; shape = part[2]
               for (i = 1; i <= NF; i++) column[$i] = i; next }
    { name = $1; if (!(name in known)) { known[name] = 1; names[++strategies] = name }
      state = $4; gsub(/"/, "", state)
      time[name, shape, round] = state == "ok" && $column["groups"] == 1048576 ? $column["median_s"] : state }
    END { n = split(shapes, shape_of, " ")
          printf "%-17s%10s", "aggregator", "random ms"
          for (i = 2; i <= n; i++) printf "%15s", shape_of[i]
          printf "%10s\n", "worst"
          for (s = 1; s <= strategies; s++) {
              worst = 0
              random = middle(names[s], "random")
              printf random ~ /^[0-9]/ ? "%-17s%10.1f" : "%-17s%10s", names[s], random ~ /^[0-9]/ ? random * 1000 : random
              for (i = 2; i <= n; i++) {
                  ratio = random ~ /^[0-9]/ ? middle(names[s], shape_of[i]) : random
                  printf ratio ~ /^[0-9]/ ? "%15.2f" : "%15s", ratio
                  if (worst ~ /^[0-9]/ && (ratio !~ /^[0-9]/ || ratio > worst)) worst = ratio
              }
              printf worst ~ /^[0-9]/ ? "%10.2f\n" : "%10s\n", worst
          } }' "$work"/*.csv
