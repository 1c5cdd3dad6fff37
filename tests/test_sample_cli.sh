#!/bin/sh
# SPDX-License-Identifier: MIT
# --head and --every: the same answer as from a file that holds only those rows, from every kind of source; and the
# report says what was left out, and what that does.
. "$(dirname "$0")/command.sh"
set -f

# Ordered as hits is: one region for a long time, and equal users in runs.
awk 'BEGIN { print "UserID,URL,RegionID"
             for (i = 0; i < 6000; i++) printf "%d,u%d,%d\n", int(i / 5) * 77 % 1000, i % 9, 1 + int(i / 2000) }' \
    >"$work/all.csv"
awk 'NR == 1 || NR <= 1001' "$work/all.csv" >"$work/head.csv"
awk 'NR == 1 || (NR - 2) % 7 == 0' "$work/all.csv" >"$work/every.csv"
awk 'NR == 1 || NR <= 1001 && (NR - 2) % 7 == 0' "$work/all.csv" >"$work/both.csv"

groups() {    # groups FILE SOURCE ARGUMENTS: all groups into $work/FILE
    file=$1
    shift
    rm -f "$work/$file"
    # shellcheck disable=SC2086
    run run "$@" --aggregator naive,radix --top 0 --counters off $quick --groups "$work/$file"
    [ "$code" = 0 ] || report "groups of $*" "$(cat "$work/err")"
}

"$aggbench" load "$work/all.csv" --output "$work/all.agb" --quiet >"$work/out"
mkdir "$work/parts"
awk -v to="$work/parts/part_" 'NR == 1 { head = $0; next }
    (NR - 2) % 1500 == 0 { file = to int((NR - 2) / 1500) ".csv"; print head >file } { print >file }' "$work/all.csv"
same() {    # same NAME: both files hold the same groups
    report "$1" "$(cmp "$work/wanted" "$work/got" 2>&1)"
}

groups wanted "$work/both.csv"
for source in all.csv all.agb parts; do
    groups got "$work/$source" --head 1000 --every 7 --threads 2
    same "a_sample_of_$source"
done
rm "$work/got"
# shellcheck disable=SC2086
"$aggbench" run - --aggregator radix --counters off $quick --groups "$work/got" --head 1000 --every 7 \
    <"$work/all.csv" >"$work/out" 2>&1
same a_sample_of_standard_input
"$aggbench" load "$work/all.agb" --output "$work/part.agb" --head 1000 --every 7 --quiet >"$work/loaded"
groups got "$work/part.agb"
same a_sample_that_load_has_written
groups wanted "$work/head.csv" --group-by URL,RegionID --where 'UserID < 500'
groups got "$work/all.csv" --group-by URL,RegionID --where 'UserID < 500' --head 1000
same a_head_with_strings_and_a_filter
groups wanted "$work/every.csv" --group-by URL
groups got "$work/all.csv" --group-by URL --every 7 --processes 2
same a_stride_in_several_processes

says() {    # says NAME PATTERN: in the report, whose lines are joined
    report "$1" "$(tr -s '\n ' ' ' <"$work/out" | grep -qE -- "$2" || cat "$work/out" "$work/err")"
}

says_of_load='part.agb: 143 rows of 6,000, one in 7 of the first 1000, 3 columns'
report load_says_what_it_took "$(grep -q "$says_of_load" "$work/loaded" || cat "$work/loaded")"

# shellcheck disable=SC2086
set -- --aggregator naive --counters off $quick
run run "$work/all.agb" --group-by RegionID --head 1000 "$@"
says a_head_says_how_many_of_how_many 'rows 1,000 of 6,000, the first ones, in 1 groups of RegionID'
says a_head_warns_of_order_and_names_the_stride \
    'note nothing beyond the first 1,000 of 6,000 rows .* with 1 group: .* begins with few of its values; --every 6 takes'
run run "$work/all.agb" --group-by RegionID --every 6 "$@"
says a_stride_finds_what_the_head_does_not 'rows 1,000 of 6,000, one in 6, in 3 groups of RegionID'
says a_stride_says_what_it_does_to_runs 'note one row in 6 was taken, also of each run'
report a_stride_has_no_warning_of_order "$(grep 'order of time' "$work/out")"
run run "$work/all.agb" --head 1000 --every 7 --format csv "$@"
report csv_says_how_many_of_how_many "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["rows"] != 143 || $at["source_rows"] != 6000' "$work/out")"

# As many rows, taken otherwise, are another question.
for part in 'first --head 1000' 'sixth --every 6' 'whole --head 6000'; do
    # shellcheck disable=SC2086
    run run "$work/all.agb" ${part#* } --format json --output "$work/${part%% *}.json" "$@"
done
tr -d ' \n' <"$work/first.json" >"$work/out"
says json_says_the_head '"sample":\{"of_rows":6000,"head":1000,"every":1\}'
tr -d ' \n' <"$work/sixth.json" >"$work/out"
says json_says_the_stride '"sample":\{"of_rows":6000,"head":null,"every":6\}'
tr -d ' \n' <"$work/whole.json" >"$work/out"
says json_says_that_all_rows_are_no_sample '"sample":null.*--head6000:thesourcehas6,000rows:nonewasleftout'
report all_rows_have_no_warning "$(grep -o beginswithfew "$work/out")"
refused 2 'source.sample|--force' compare "$work/first.json" "$work/sixth.json"
refused 2 'source.rows|source.sample' compare "$work/whole.json" "$work/sixth.json"
run compare "$work/sixth.json" "$work/sixth.json"
report a_sample_is_compared_with_itself "$([ "$code" = 0 ] || cat "$work/err")"
run report "$work/first.json" --output "$work/page.html"
report the_page_says_how_many_of_how_many_and_warns "$(grep -q '1,000 rows of 6,000 (a sample) in' "$work/page.html" &&
    grep -q 'begins with few of its values' "$work/page.html" || grep -o '<p class="over">.*' "$work/page.html")"
run report "$work/whole.json" --output "$work/page.html"
report the_page_of_all_rows_says_nothing_of_a_sample "$(cat "$work/err"; grep 'a sample' "$work/page.html")"

# How many rows files behind the head have, nobody looks.
run run "$work/parts" --group-by RegionID --head 1000 "$@"
says a_head_of_many_files_does_not_count_them 'rows 1,000, the first ones, in 1 groups of RegionID'
says a_head_of_many_files_says_so \
    'note nothing beyond the first 1,000 rows was taken, counted or checked, .*; --every K takes rows from all of it'
run run "$work/parts" --head 1000 --format csv "$@"
report csv_leaves_open_what_nobody_counted "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["rows"] != 1000 || $at["source_rows"] != ""' "$work/out")"
run run "$work/parts" --head 1000 --format json --output "$work/parts.json" "$@"
tr -d ' \n' <"$work/parts.json" >"$work/out"
says json_leaves_open_what_nobody_counted '"sample":\{"of_rows":null,"head":1000,"every":1\}'
run report "$work/parts.json" --output "$work/page.html"
report the_page_leaves_open_what_nobody_counted "$(cat "$work/err"; grep -q '1,000 rows (a sample) in' "$work/page.html" ||
    grep -o '<p class="over">.*' "$work/page.html")"

refused 2 '--head: 0|1..' run "$work/all.csv" --head 0
refused 2 '--every: 1e3|whole number' run "$work/all.csv" --every 1e3
refused 2 '--head|no such option' describe "$work/all.csv" --head 5
exit $failed
