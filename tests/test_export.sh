#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench load to raw files, which other programs read, and without writing at all.
set -u
. "$(dirname "$0")/reporting.sh"
: "${BUILD:?the build folder}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

load() {    # load ARGUMENTS...: leaves $code and $work/out, which has both streams
    "$BUILD/aggbench" load "$@" --quiet >"$work/out" 2>&1
    code=$?
}

says() {    # says CODE WORDS
    [ "$code" = "$1" ] || echo "exit code $code instead of $1"
    grep -qF -- "$2" "$work/out" || echo "'$2' is not in: $(cat "$work/out")"
}

groups() {    # groups SOURCE
    "$BUILD/aggbench" run "$1" --aggregator naive --repetitions 1 --counters off --quiet --groups "$work/groups" \
        --output "$work/report" && cat "$work/groups"
}

printf 'UserID,Name,Small,Big\n-1,a,1,9\n9223372036854775807,b,2,8\n-1,c,3,7\n' >"$work/in.csv"
load "$work/in.csv" --columns UserID --output "$work/out.raw"
report a_column_is_written "$(says 0 '3 rows, 1 column')"
report it_is_little_endian_words_and_nothing_else \
    "$(od -An -v -t x1 "$work/out.raw" | tr -d ' \n' | sed 's/^ffffffffffffffffffffffffffffff7fffffffffffffffff$//')"
report it_comes_back_as_it_was \
    "$([ "$(groups "$work/out.raw")" = "$(groups "$work/in.csv")" ] && [ -s "$work/groups" ] || cat "$work/groups")"

load synth:hits,rows=1500000 --output "$work/long.raw"
report more_than_one_block_is_written "$(says 0 '1,500,000 rows')"
report all_blocks_are_written "$([ "$(wc -c <"$work/long.raw")" = 12000000 ] || ls -l "$work")"

load "$work/in.csv" --columns UserID,Big --output "$work/two.raw"
report two_columns_are_refused "$(says 2 '2 columns: a raw file holds exactly 1')"
load "$work/in.csv" --columns Name --output "$work/name.raw"
report strings_are_refused "$(says 1 "column 'Name' is bytes: a raw file holds int64 without NULL")"
load "$work/in.csv" --columns UserID --codec zstd --output "$work/packed.raw"
report codecs_are_refused "$(says 2 "codec 'zstd': a raw file has none")"
report nothing_is_left_of_a_refused_file \
    "$(ls "$work"/two.raw "$work"/name.raw "$work"/packed.raw "$work"/.*.tmp 2>/dev/null)"

load "$work/in.csv" --columns UserID,Name --dry-run
report a_dry_run_only_loads "$(says 0 '3 rows, ' && says 0 'nothing written')"
load "$work/in.csv" --columns UserID --dry-run --format json
report it_reports_in_json "$(says 0 '"load_s": ' && says 0 '"output": null')"
load "$work/in.csv" --columns UserID --dry-run --output "$work/out.agb"
report it_has_no_output "$(says 2 'load: --output and --dry-run: a dry run writes nothing: leave one out')"
load "$work/in.csv" --columns UserID --dry-run --format csv
report there_is_no_csv "$(says 2 '--format: csv: not one of table|json')"
exit $failed
