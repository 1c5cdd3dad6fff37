#!/bin/sh
# SPDX-License-Identifier: MIT
# The author's guide, followed to the letter: its commands, run as they stand on fewer rows, and the files it names.
set -u
. "$(dirname "$0")/command.sh"
root=$(pwd)
case $aggbench in /*) ;; *) aggbench=$root/$aggbench ;; esac
guide=$root/aggregators/README.md

grep -oE '\]\([^)]+\)' "$guide" | tr -d '])(' | while read -r file; do
    [ -e "aggregators/$file" ] || echo "$file is not there"
done >"$work/lacking"
report every_file_it_names_is_there "$(cat "$work/lacking")"

cd "$work" || exit 1
ln -s "$root/engine" "$root/aggregators" . && mkdir build && ln -s "$aggbench" build/aggbench
sed -n '/^```sh/,/^```/p' "$guide" | sed '/^```/d; /^make /d; s/rows=10M/rows=20k/; s/ run .*/& --repetitions 1 --counters off --quiet/' >commands
report it_has_commands "$(grep -q 'aggbench new mine' commands && grep -q 'aggbench verify' commands || echo 'some are missing')"
report its_commands_do_what_it_says "$(sh -eu commands >log 2>&1 || echo "exit code $?: $(cat log)")"
report its_strategy_is_right "$(grep -qx 'mine is right: [0-9]* cases' log || cat log)"
report it_is_compared_with_naive_and_radix "$(grep -qE '^mine .*( x|no difference)' log || cat log)"
report its_results_are_kept "$(grep -q '"aggregator": *"mine"' mine.json || ls)"
report they_are_shown_in_a_page "$(grep -q '<svg' mine.html && grep -q 'mine' mine.html || ls -l)"
exit $failed
