#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench matrix: cells, the state file that outlives kill -9, and what it refuses.
set -u
. "$(dirname "$0")/command.sh"
grid="--rows 3000 --groups 10,1000 --distributions uniform,sorted --threads 1 --aggregator naive,sort --repetitions 2"

# shellcheck disable=SC2086
run matrix $grid --state "$work/dry" --dry-run
report 'a_dry_run_only_says_how_long_it_takes' "$([ $code = 0 ] && [ ! -e "$work/dry" ] &&
    grep -q '^matrix: 4 cells of 3,000 rows, 0 done, .* the rest takes about [0-9]* s (by a pilot' "$work/out" ||
    cat "$work/out" "$work/err")"

mkfifo "$work/pipe"
# shellcheck disable=SC2086
report 'a_dry_run_waits_for_nobody_at_a_pipe' "$(timeout 20 "$aggbench" matrix $grid --state "$work/pipe" --dry-run 2>&1 |
    grep -q '^matrix: 4 cells' || echo it did not end)"

# shellcheck disable=SC2086
run matrix $grid --state "$work/state" --format json --output "$work/matrix.json"
report 'every_cell_has_a_winner_with_an_interval' "$([ $code = 0 ] && [ "$(grep -c '"winner": "' "$work/matrix.json")" = 4 ] &&
    grep -q '"complete": true' "$work/matrix.json" && grep -q '"lead": [1-9]' "$work/matrix.json" ||
    cat "$work/err" "$work/matrix.json")"
report 'the_estimate_comes_before_the_work' "$(head -1 "$work/err" | grep -q '^matrix: 4 cells .* takes about' ||
    cat "$work/err")"
report 'the_state_has_a_line_for_each_cell' "$([ "$(wc -l <"$work/state")" = 5 ] || cat "$work/state")"

cp "$work/state" "$work/before"
printf '{"distr' >>"$work/state"
# shellcheck disable=SC2086
run matrix $grid --state "$work/state" --dry-run
report 'a_dry_run_counts_the_cells_of_a_state_and_leaves_it_alone' "$([ $code = 0 ] && grep -q ' 4 done,' "$work/out" &&
    [ "$(tail -c 7 "$work/state")" = '{"distr' ] || cat "$work/out" "$work/err" "$work/state")"
# shellcheck disable=SC2086
run matrix $grid --state "$work/state" --quiet
report 'a_finished_matrix_is_only_reported_again' "$([ $code = 0 ] && cmp "$work/state" "$work/before" 2>&1 &&
    grep -q '^1 thread$' "$work/out" && grep -qE '^uniform( +[a-z]+){2}$' "$work/out" &&
    grep -q '^wins  *[a-z]*: fastest in [1-4] of 4 cells' "$work/out" || cat "$work/out" "$work/err")"
report 'no_line_has_blanks_at_its_end_or_is_too_wide' "$(grep -n ' $' "$work/out"; grep -nE '^.{101}' "$work/out")"

# shellcheck disable=SC2086
run matrix ${grid%--groups*} --groups 10,100,1000 --distributions ${grid#*--distributions} --state "$work/state" --quiet --format csv
report 'a_larger_grid_goes_on_from_a_smaller_one' "$([ $code = 0 ] && [ "$(wc -l <"$work/state")" = 7 ] &&
    [ "$(wc -l <"$work/out")" = 13 ] && [ "$(grep -c ',"ok",' "$work/out")" = 12 ] || cat "$work/out" "$work/err")"

# ---- kill -9 in the middle, and a last line that is cut short ----
slow="--rows 100000 --groups 10..1e4 --distributions uniform,zipf0.8 --threads 1 --aggregator naive,sort --quiet"
# shellcheck disable=SC2086
"$aggbench" matrix $slow --state "$work/killed" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 600); do
    [ "$(cat "$work/killed" 2>/dev/null | wc -l)" -ge 3 ] && break
    sleep 0.05
done
# shellcheck disable=SC2086
refused 1 'another matrix is writing it' matrix $slow --state "$work/killed"
kill -9 $pid
wait $pid 2>/dev/null
head -3 "$work/killed" >"$work/first"
printf '{"distribution":"zipf0.8","gro' >>"$work/killed"
# shellcheck disable=SC2086
run matrix $slow --state "$work/killed" --format json
report 'after_kill_9_it_goes_on_where_it_was' "$([ $code = 0 ] && grep -q '"complete": true' "$work/out" &&
    head -3 "$work/killed" | cmp - "$work/first" 2>&1 && [ "$(wc -l <"$work/killed")" = 9 ] &&
    ! grep -q '"gro$' "$work/killed" || { cat "$work/err"; wc "$work/killed"; })"

# shellcheck disable=SC2086
run matrix $slow --state "$work/limited" --time-limit 1 --repetitions 3000
report 'a_time_limit_leaves_cells_and_says_so' "$([ $code = 0 ] && tr -s '\n ' ' ' <"$work/out" |
    grep -q 'unfinished [1-7] of 8 cells, as --time-limit allowed no more: the same command goes on' ||
    cat "$work/out" "$work/err")"
run matrix --rows 3000 --groups 10,1e6 --distributions hits --threads 1,2 --aggregator naive,sort,atomics \
    --state "$work/threads" --repetitions 1 --format csv --quiet
report 'serial_strategies_run_on_one_thread_only' "$([ $code = 0 ] && [ "$(grep -c '^hits,10,1,' "$work/out")" = 3 ] &&
    [ "$(grep -c '^hits,10,2,' "$work/out")" = 2 ] && ! grep -q ',1000000,' "$work/out" || cat "$work/out" "$work/err")"
run matrix --rows 3000 --groups 10 --distributions hits --threads 1 --plugin "$BUILD/plugins/crashes.so" \
    --aggregator naive,crashes --state "$work/crash" --repetitions 1 --quiet
report 'a_strategy_that_fails_is_named' "$([ $code = 0 ] && grep -q '^failed  *crashes: in 1 cells; the first: crashed' \
    "$work/out" || cat "$work/out" "$work/err")"
run matrix --rows 3000 --groups 10 --threads 1 --dry-run --state "$work/standard"
report 'the_standard_grid_has_five_distributions' "$(grep -q '^matrix: 5 cells ' "$work/out" || cat "$work/out" "$work/err")"
run matrix --rows 3000 --groups 100 --threads 1 --distributions all --aggregator naive --state "$work/every" --repetitions 1 \
    --format csv --quiet
report 'all_distributions_can_be_had' "$([ $code = 0 ] && [ "$(sed '1d;s/,.*//' "$work/out" | tr '\n' ' ')" = \
    "uniform zipf0.8 zipf1.0 zipf1.2 hits sorted giant " ] || cat "$work/out" "$work/err")"

cp "$work/state" "$work/kept"
ln -s state "$work/link"
# shellcheck disable=SC2086
refused 2 'state: is of another matrix: rows is 3000 there, and 4000 here' matrix --rows 4000 ${grid#--rows 3000} --state "$work/state"
# shellcheck disable=SC2086
run matrix --rows 4000 ${grid#--rows 3000} --state "$work/state" --dry-run
report 'a_dry_run_plans_beside_the_state_of_another' "$([ $code = 0 ] && [ ! -s "$work/err" ] &&
    grep -q '^matrix: 4 cells of 4,000 rows, 0 done, ' "$work/out" &&
    grep -q '^matrix: without --dry-run it would be refused: --state: .* is of another matrix: rows is 3000 there' \
        "$work/out" || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
refused 2 "output: $work/link|is where the state is, too" matrix $grid --state "$work/state" --output "$work/link"
report 'a_report_does_not_take_the_place_of_the_state' "$(cmp "$work/state" "$work/kept" 2>&1)"
printf 'my diary' >"$work/diary"
# shellcheck disable=SC2086
refused 1 'diary: is no state of a matrix' matrix $grid --state "$work/diary"
report 'a_file_of_somebody_else_is_left_alone' "$(grep -q 'my diary' "$work/diary" || cat "$work/diary")"
sed '2s/.*/{"distribution":5}/' "$work/before" >"$work/damaged"
# shellcheck disable=SC2086
refused 1 'damaged: line 2 is no line of a matrix' matrix $grid --state "$work/damaged"
refused 1 '--state: /nonexistent/s|No such file' matrix --rows 1000 --state /nonexistent/s
refused 2 '--rows: 10X' matrix --rows 10X
refused 2 '--groups: 0|whole numbers' matrix --groups 0
refused 2 '--groups: 1.5' matrix --groups 1.5
refused 2 '--threads: 5000|1..1024' matrix --threads 5000
refused 2 '--distributions: unifrom|did you mean uniform: there are uniform, zipf0.8, zipf1.0, zipf1.2, hits, sorted and giant' matrix --distributions unifrom
refused 2 'sorted: is named twice' matrix --distributions sorted,sorted
refused 2 'no cell is possible' matrix --rows 10 --groups 1000 --distributions uniform
exit $failed
