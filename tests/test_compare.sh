#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench compare: verdicts, exit codes for CI, and what it refuses. Files with made-up times, so that nothing depends
# on this machine; one real pair at the end.
set -u
. "$(dirname "$0")/command.sh"

runs() {    # runs SECONDS...: a list of timed runs
    round=1
    for seconds in "$@"; do
        [ $round = 1 ] || printf ','
        printf '{"wall_s":%s,"round":%d}' "$seconds" $round
        round=$((round + 1))
    done
}

result() {    # result NAME "SECONDS...": a right contestant; without seconds: one that crashed
    # shellcheck disable=SC2086
    if [ -n "$2" ]; then
        printf '{"aggregator":"%s","state":"ok","params":{"bits":12},"source":"s","checksum":"ab","runs":[%s]}' \
            "$1" "$(runs $2)"
    else
        printf '{"aggregator":"%s","state":"crashed","params":{"bits":12},"source":"s","reason":"SIGSEGV","runs":[]}' "$1"
    fi
}

file() {    # file NAME CPU NOISE RESULT...: $work/NAME
    name=$1 cpu=$2 noise=$3
    shift 3
    printf '{"aggbench":1,"machine":{"cpu":"%s","commit":"%s"},"source":{"name":"s","rows":9},"noise_floor":[%s],%s' \
        "$cpu" "$name" "$noise" '"settings":{"seed":1,"threads":1},"results":[' >"$work/$name"
    (IFS=,; printf '%s' "$*") >>"$work/$name"
    printf ']}\n' >>"$work/$name"
}

steady='1.00 1.01 0.99 1.00 1.02 0.98 1.00'
slower='1.21 1.20 1.19 1.20 1.22 1.18 1.20'
slightly='1.03 1.04 1.02 1.03 1.05 1.01 1.03'
file old.json A '' "$(result naive "$steady")" "$(result radix "$steady")"
file same.json A '' "$(result naive "$steady")" "$(result radix "$steady")"
file slower.json A '' "$(result naive "$steady")" "$(result radix "$slower")"
file slightly.json A '' "$(result naive "$steady")" "$(result radix "$slightly")"
file noisy.json A '{"ci95_low":0.7,"ci95_high":1.4}' "$(result naive "$steady")" "$(result radix "$slower")"
file crashed.json A '' "$(result naive "$steady")" "$(result radix '')"
file fewer.json A '' "$(result naive "$steady")"
file alien.json A '' "$(result sort "$steady")"
file elsewhere.json B '' "$(result naive "$steady")" "$(result radix "$steady")"
file alone.json A '' "$(result naive '2.0')" "$(result radix "$steady")"
sed 's/"settings":{/"settings":{"processes":3,/' "$work/old.json" >"$work/old3.json"
sed 's/"settings":{/"settings":{"processes":3,/' "$work/slightly.json" >"$work/slightly3.json"

judged() {    # judged NAME CODE PATTERN OLD NEW [OPTIONS...]
    name=$1 want=$2 pattern=$3 old=$4 new=$5
    shift 5
    run compare "$work/$old" "$work/$new" "$@"
    report "$name" "$([ "$code" = "$want" ] && grep -qE -- "$pattern" "$work/out" ||
        echo "exit code $code: $(cat "$work/out" "$work/err")")"
}

judged 'equal_times_are_no_regression' 0 '^radix .* 1.00 x \[.*no difference seen' old.json same.json
judged 'a_fifth_slower_is_a_regression_and_exit_code_1' 1 '^radix .* 0.8[0-9]* x \[.*REGRESSION: slower' old.json slower.json
judged 'the_other_way_round_it_is_faster' 0 '^radix .* 1.20 x \[.* faster' slower.json old.json
judged 'three_percent_of_one_process_is_not_claimed' 0 '^radix .* 0.97[0-9]* x .* no difference' old.json slightly.json
judged 'three_percent_of_several_processes_is_claimed' 1 '^radix .* REGRESSION: slower' old3.json slightly3.json
judged 'what_the_twins_differ_by_is_not_claimed' 0 '^radix .* no difference seen' old.json noisy.json
judged 'a_contestant_that_fails_now_is_a_regression' 1 '^radix  *REGRESSION: fails now: SIGSEGV' old.json crashed.json
judged 'a_contestant_that_is_gone_is_named' 0 '^radix  *only in OLD' old.json fewer.json
judged 'one_design_is_compared_round_by_round' 0 '^pairs  *2 of 2: ' old.json same.json
judged 'another_design_is_compared_by_medians' 0 '^unpaired  *1 of 1: ' old.json fewer.json
judged 'one_run_is_never_a_regression' 0 '^naive .*too few runs for an interval' old.json alone.json
judged 'what_differs_is_said' 0 '^differs  *machine.commit: old.json in OLD, same.json in NEW' old.json same.json
judged 'force_compares_machines_and_warns' 0 '^caution  *machine.cpu: A in OLD, B in NEW' old.json elsewhere.json --force
judged 'json_names_the_regression' 1 '"regressions": 1' old.json slower.json --format json
judged 'csv_names_the_regression' 1 '^"radix","bits=12","s","slower",1,"rounds",0.83' old.json slower.json --format csv

refused 2 'machine.cpu (A before, B now)|--force' compare "$work/old.json" "$work/elsewhere.json"
refused 2 'no contestant in common' compare "$work/old.json" "$work/alien.json"
refused 2 'NEW.json is missing|for example' compare "$work/old.json"
refused 2 'OLD.json is missing' compare
refused 2 'output|old.json|is a file of the source' compare "$work/old.json" "$work/same.json" --output "$work/old.json"
refused 2 'third.json: one operand too many' compare "$work/old.json" "$work/same.json" third.json
refused 2 'none.json|No such file' compare "$work/none.json" "$work/old.json"

# ---- Files that are no results: one sentence each, whatever they hold ----
hostile() {    # hostile WORDS TEXT
    printf '%s' "$2" >"$work/hostile.json"
    refused 2 "hostile.json|$1" compare "$work/old.json" "$work/hostile.json"
}
hostile 'not JSON' ''
hostile 'not JSON' '{"aggbench":1,'
hostile 'not JSON' "$(printf '{"a":"\033[31m')"
hostile 'no results' '[]'
hostile 'no results' '{"aggbench":1,"results":[]}'
hostile 'no results' '{"aggbench":2,"results":[{}]}'
hostile 'no results' '{"aggbench":1,"results":{"a":1}}'
hostile 'result 1|missing' '{"aggbench":1,"results":[5]}'
hostile 'result 1|missing' '{"aggbench":1,"results":[{"aggregator":3,"state":"ok"}]}'
hostile 'result 1|runs' '{"aggbench":1,"results":[{"aggregator":"a","state":"ok"}]}'
hostile 'result 1|wall_s' '{"aggbench":1,"results":[{"aggregator":"a","state":"ok","runs":[{"wall_s":-1}]}]}'
hostile 'result 1|wall_s' '{"aggbench":1,"results":[{"aggregator":"a","state":"ok","runs":[{"wall_s":"1"}]}]}'
for seconds in 1e308 1e-320 0; do
    hostile 'result 1|wall_s' "{\"aggbench\":1,\"results\":[{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[{\"wall_s\":$seconds}]}]}"
done
hostile 'result 1|state: perfect: not a state' '{"aggbench":1,"results":[{"aggregator":"naive","state":"perfect"}]}'
hostile 'result 1|round' '{"aggbench":1,"results":[{"aggregator":"a","state":"ok","runs":[{"wall_s":1,"round":-5}]}]}'
hostile 'not JSON' "$(head -c 20000 /dev/zero | tr '\0' '[')"
refused 2 "$work" compare "$work" "$work/old.json"

# ---- A real pair ----
# shellcheck disable=SC2086
"$aggbench" run $rows --aggregator naive,sort --format json --output "$work/real.json" --quiet --repetitions 5
judged 'a_file_against_itself_has_no_regression' 0 '^naive .* 1.00 x \[1.00, 1.00\]' real.json real.json
exit $failed
