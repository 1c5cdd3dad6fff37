#!/bin/sh
# SPDX-License-Identifier: MIT
# How much is run, and what a sweep makes of it: --precision, --processes, --time-limit, --sweep.
set -u
. "$(dirname "$0")/command.sh"
few='synth:hits,rows=3000'

# ---- Precision ----
run run $few --aggregator naive --precision 50% --repetitions 60 --quiet --format json
runs=$(grep -c '"warmup": false' "$work/out")
report 'rounds_end_when_the_interval_is_narrow_enough' "$([ $code = 0 ] && [ "$runs" -ge 6 ] && [ "$runs" -lt 60 ] &&
    grep -q '"reached": true' "$work/out" || echo "$runs runs: $(cat "$work/err"; grep -A8 '"precision": {' "$work/out")")"
run run $few --aggregator naive,sort --precision 0.1% --repetitions 7 --quiet
report 'a_cap_ends_them_and_the_report_says_so' "$([ $code = 0 ] &&
    tr -s '\n ' ' ' <"$work/out" | grep -q '+-0.100 % of each median wanted, NOT REACHED: the widest is .* after 7 runs' ||
    cat "$work/err" "$work/out")"
run run $few --aggregator naive,sort --precision speedup:50 --repetitions 20 --quiet --format json
report 'speed_ups_can_be_what_is_wanted' "$(grep -q '"of": "speed-ups"' "$work/out" || cat "$work/err")"
run run $few --aggregator naive,sort --precision 2% --repetitions 2 --quiet
report 'too_few_runs_for_a_look_are_said' "$([ $code = 0 ] && tr -s '\n ' ' ' <"$work/out" |
    grep -q 'of each median wanted, NOT REACHED: too few right runs' || cat "$work/err" "$work/out")"
run run $few --aggregator naive --precision speedup:2% --quiet
report 'one_strategy_has_no_speed_up_to_be_precise_about' "$([ $code = 0 ] && tr -s '\n ' ' ' <"$work/out" |
    grep -q 'of each speed-up wanted, NOT REACHED: a speed-up takes two' || cat "$work/err" "$work/out")"
refused 2 '--precision: 99%|0.1%..50%' run $few --precision 99%
refused 2 '--precision: 2x' run $few --precision 2x
refused 2 '--precision: inf' run $few --precision inf
refused 2 '--precision: speedup:' run $few --precision speedup:

# ---- Processes ----
run run $few --aggregator naive,sort --processes 3 --repetitions 2 --warmup 0 --quiet --format json
report 'processes_give_their_runs_to_one_report' "$([ $code = 0 ] && [ "$(grep -c '"process": 2' "$work/out")" = 4 ] &&
    [ "$(grep -c '"wall_s": [0-9]' "$work/out")" -ge 12 ] || cat "$work/err" "$work/out")"
report 'the_spread_between_processes_is_reported' "$(grep -q '"process_spread_pct": [0-9]' "$work/out" || echo 'no spread')"
if [ "$(cat /proc/sys/kernel/randomize_va_space)" != 0 ]; then
    report 'each_process_has_a_layout_of_its_own' "$(
        [ "$(grep '"text":' "$work/out" | sort -u | wc -l)" = 3 ] || grep '"text":' "$work/out")"
else
    skip each_process_has_a_layout_of_its_own 'address space randomisation is off'
fi
run run $few --aggregator naive,sort --processes 2 --repetitions 2 --quiet
report 'the_table_shows_the_median_of_each_process' "$([ $code = 0 ] &&
    [ "$(grep -c '^processes  [a-z]*: medians .*, .*: .* % apart' "$work/out")" = 2 ] &&
    grep -q 'in each of 2' "$work/out" || cat "$work/err" "$work/out")"
run run $few --plugin "$BUILD/plugins/crashes.so" --aggregator naive,crashes --processes 2 --repetitions 2 --quiet
report 'a_crash_costs_its_row_in_every_process' "$([ $code = 1 ] && grep -q '^naive  *[0-9]' "$work/out" &&
    grep -q '^crashes  *crashed' "$work/out" || cat "$work/err" "$work/out")"
run run "$few" --aggregator naive --output "$work/once" --groups "$work/groups" --processes 2 --repetitions 1 --quiet
report 'files_are_written_once' "$([ $code = 0 ] && [ -s "$work/once" ] && [ "$(wc -l <"$work/groups")" -gt 2 ] ||
    cat "$work/err")"
refused 2 '--processes: 2: standard input' run - --processes 2
refused 2 '--process-of: x: not an order' run $few --process-of x

run run synth:hits,rows=300000 --aggregator naive --repetitions 10000 --time-limit 1 --quiet --format json
report 'a_time_limit_ends_the_rounds' "$([ $code = 0 ] && grep -q 'instead of 10000, to keep' "$work/out" ||
    cat "$work/err")"

# ---- Sweeps ----
swept="--quiet --repetitions 5 --warmup 0 --no-twin"
# shellcheck disable=SC2086
run run synth:uniform,rows=3000 --aggregator naive,radix --sweep bits=3..5/2 --sweep groups=10..1e3 $swept
report 'two_sweeps_make_a_map_and_name_the_best_of_each_column' "$([ $code = 0 ] &&
    grep -q '^radix: ns a row over bits (down) and groups (across)' "$work/out" &&
    grep -q '^  *10  *100  *1000$' "$work/out" && grep -q '^bits=5  *[0-9.]' "$work/out" &&
    [ "$(grep -c '^best  *synth:uniform,rows=3000,groups=1' "$work/out")" = 3 ] || cat "$work/err" "$work/out")"
report 'a_lead_is_said_to_be_outside_the_noise_or_inside' "$(
    [ "$(tr '\n' ' ' <"$work/out" | grep -oE 'outside +the +noise|inside +the +noise' | wc -l)" = 3 ] || cat "$work/out")"
# shellcheck disable=SC2086
run run synth:zipf,rows=3000 --aggregator naive,sort --sweep skew=0..1/0.5 $swept
report 'a_sweep_of_a_source_maps_every_contestant' "$([ $code = 0 ] && grep -q '^ns a row over skew' "$work/out" &&
    grep -qE '^naive( +[0-9.]+[░▒▓█]?){3}$' "$work/out" && grep -qE '^sort( +[0-9.]+[░▒▓█]?){3}$' "$work/out" ||
    cat "$work/err" "$work/out")"
# shellcheck disable=SC2086
run run synth:runs,rows=3000 --aggregator naive,radix --sweep run=1,8 --sweep bits=3,4 $swept --format json
report 'json_places_each_result_on_the_axes' "$([ $code = 0 ] && grep -q '"name": "run"' "$work/out" &&
    grep -q '"of": "source"' "$work/out" && grep -q '"claimed": ' "$work/out" || cat "$work/err")"
# shellcheck disable=SC2086
run run synth:uniform,rows=3000 --aggregator radix --sweep bits=3,4 --sweep groups=5,6 $swept --format csv
report 'csv_has_a_column_for_each_axis' "$([ $code = 0 ] && head -1 "$work/out" | grep -q ',"bits","groups"$' &&
    [ "$(grep -c ',"4","6"$' "$work/out")" = 1 ] || cat "$work/err" "$work/out")"
refused 2 '--sweep: given 3 times|at most 2' run $few --aggregator radix --sweep bits=3 --sweep groups=2 --sweep rows=9
# ---- Threads ----
run run synth:zipf,rows=30000,groups=3000,skew=1.2 --aggregator radix:bits=4,naive,shared_table --sweep threads=2,1 \
    --repetitions 5 --quiet --format json --output "$work/threads.json"
report 'threads_are_swept_by_strategies_that_use_them' "$([ $code = 0 ] && [ "$(tr -d ' \n' <"$work/threads.json" |
    grep -oE '"aggregator":"[a-z_]*","state":"ok","params":\{[^}]*\},"threads":[12]' |
    sed 's/"aggregator":"//; s/".*:/ /' | tr '\n' ';')" = 'radix 2;radix 1;naive 1;shared_table 2;shared_table 1;' ] ||
    cat "$work/err")"
report 'each_is_laid_beside_its_own_one_thread' "$(tr -d ' \n' <"$work/threads.json" >"$work/flat"
    grep -q '"scaling":\[{"result":0,"base":1,"threads":2,"base_threads":1,"speedup":[0-9.]*,"ci95_low":[0-9.]*,' \
        "$work/flat" && grep -q '{"result":3,"base":4,"threads":2,"base_threads":1,' "$work/flat" ||
    grep -o '"scaling".*' "$work/flat" | head -c 900)"
run report "$work/threads.json" --output "$work/threads.html"
report 'the_page_shows_what_they_bring' "$(grep -q 'What more threads bring' "$work/threads.html" &&
    grep -q 'shared_table threads=2</th><td class="n">1</td>' "$work/threads.html" ||
    { cat "$work/err"; grep -o 'What more threads.\{600\}' "$work/threads.html"; })"
run compare "$work/threads.json" "$work/threads.json"
report 'numbers_of_threads_are_compared_with_their_like' "$([ $code = 0 ] &&
    [ "$(grep -cE '1.00 x \[1.00, 1.00\]' "$work/out")" = 5 ] || cat "$work/out" "$work/err")"
run run $few --aggregator radix --sweep threads=1,2 --sweep bits=4,5 --repetitions 2 --quiet
report 'threads_and_a_parameter_make_a_map' "$([ $code = 0 ] && grep -q '^radix bits=5:threads=2 ' "$work/out" &&
    grep -q '^radix: ns a row over threads (down) and bits (across)' "$work/out" &&
    [ "$(grep -c '^radix bits=[45]:threads=2 .* x, \?.*too few runs' "$work/out")" -ge 2 ] &&
    grep -q '^settings   at most 2 threads' "$work/out" || cat "$work/out" "$work/err")"
run run $few --aggregator radix --sweep threads=1,2 --repetitions 1 --quiet --format csv
report 'csv_says_what_threads_bring' "$(head -1 "$work/out" | grep -q ',"threads",threads_speedup,threads_speedup_ci95_low' &&
    sed -n 3p "$work/out" | grep -q ',"2",[0-9.]*,,$' || cat "$work/out" "$work/err")"
refused 2 '--sweep: threads=0|1..1024' run $few --aggregator radix --sweep threads=0,1
refused 2 '--sweep: threads=1.5|1..1024' run $few --aggregator radix --sweep threads=1.5,2
refused 2 '--sweep: threads: no chosen aggregator' run $few --aggregator naive --sweep threads=1,2
refused 2 '--threads: 2|leave one' run $few --aggregator radix --threads 2 --sweep threads=1,2
refused 2 '1 processor|2 threads' run $few --aggregator radix --sweep threads=1,2 --pin 0
exit $failed
