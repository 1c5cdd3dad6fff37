#!/bin/sh
# SPDX-License-Identifier: MIT
# The loaders under valgrind's memcheck: small samples of every format, whole and damaged. What it finds (bytes that were
# never written, leaks) the sanitizers do not all find.
. "$(dirname "$0")/command.sh"

case $BUILD in *address* | *thread*) skip valgrind 'a sanitizer and valgrind do not go together'; exit 0 ;; esac
if ! command -v valgrind >/dev/null 2>&1 || [ ! -d "$samples" ]; then
    skip valgrind "valgrind or $samples is not there"
    exit 0
fi

check() {    # check SOURCE: loads all columns; a refusal is fine, an error of memory is not
    valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --log-file="$work/log" \
        "$aggbench" load "$1" --dry-run --threads 2 --quiet >"$work/out" 2>"$work/err" </dev/null
    [ $? -lt 2 ]
    report "valgrind: ${1##*/}" "$([ $? = 0 ] || head -30 "$work/log" "$work/err")"
}

for file in own_int_types own_v1_nulls_runs duckdb_v1_snappy rs_delta_byte_array; do
    check "$samples/parquet/$file.parquet"
done
for file in dict_index_out_of_range truncated_half; do
    check "$samples/bad/$file.parquet"
done
for file in escapes.jsonl quotes.csv escapes.tsv truncated.tsv.gz; do
    check "$samples/text/$file"
done
for codec in zstd none; do
    run load "$samples/parquet/own_int_types.parquet" --codec $codec --output "$work/$codec.agb" --quiet
    check "$work/$codec.agb"
done
exit $failed
