#!/bin/sh
# SPDX-License-Identifier: MIT
# report and investigate at the command line: one sentence for what is wrong, and never half a page.
. "$(dirname "$0")/command.sh"

# shellcheck disable=SC2086
run run $rows --aggregator naive,radix $quick --format json --output "$work/a.json"
run report "$work/a.json"
report a_page_goes_to_standard_output "$([ "$code" = 0 ] && grep -q '^<!DOCTYPE html>' "$work/out" &&
    [ "$(tail -n1 "$work/out")" = '</html>' ] || cat "$work/err")"
run report "$work/a.json" -o "$work/a.html"
report a_page_goes_to_a_file "$([ "$code" = 0 ] && [ -s "$work/a.html" ] && [ ! -s "$work/out" ] || cat "$work/err")"
run report "$work/a.json" "$work/a.json" --output "$work/b.html"
report several_files_have_a_list_of_contents "$([ "$code" = 0 ] && grep -q '<a href="#part2">' "$work/b.html" ||
    cat "$work/err")"

head -c 500 "$work/a.json" >"$work/short.json"
echo 'not JSON' >"$work/text.json"
echo '{"name": "foreign"}' >"$work/foreign.json"
refused 2 'report|FILE.json... is missing' report
refused 1 'nothing.json|No such file' report "$work/nothing.json"
refused 1 'short.json|line|no whole JSON' report "$work/short.json"
refused 1 'text.json|line 1' report "$work/text.json"
refused 1 'foreign.json|none of a kind' report "$work/a.json" "$work/foreign.json"
refused 1 'Is a directory' report "$work"
refused 2 '--output|is one of the files to be read' report "$work/a.json" -o "$work/a.json"
refused 2 '--output|value is missing' report "$work/a.json" -o
refused 1 'No such file or directory' report "$work/a.json" -o "$work/nowhere/a.html"
cp "$work/a.html" "$work/kept.html"
run report "$work/short.json" -o "$work/a.html"
report a_failure_leaves_an_old_page_as_it_was "$(cmp "$work/kept.html" "$work/a.html")"

refused 2 'read ten times' investigate -
refused 1 'nowhere.parquet' investigate "$work/nowhere.parquet"
refused 2 '--format|markdown|html|json' investigate --format csv
refused 1 'No such file or directory' investigate --output "$work/nowhere/a.md"
exit $failed
