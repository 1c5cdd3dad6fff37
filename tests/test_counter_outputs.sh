#!/bin/sh
# The published experiment's counts through the whole command to every output, and the options around counters.
. "$(dirname "$0")/command.sh"
counts=replay:tests/replay/pivot_zen4.json

replay() {    # replay COMMAND ARGUMENTS...
    command=$1
    shift
    "$aggbench" "$command" $rows --counters $counts --repetitions 2 --quiet "$@" >"$work/out" 2>"$work/err"
}

replay run --aggregator naive,radix
sed -n '/^replayed .*retiring/,/^$/p; /^replayed .*GHz/,/^$/p; /^replayed .*DRAM/,/^$/p' "$work/out" | sed '/^$/d' |
    grep -v '^counters\|^expected\|^  *from DRAM' >"$work/got"
golden table_has_the_published_figures_phases_and_threads <<'END'
replayed      retiring bad spec.  frontend   backend    memory      core      smt
----------------------------------------------------------------------------------------------------
naive           16.1 %         -         -    62.6 %    50.1 %    12.5 %        -
radix           32.2 %         -         -    47.0 %    23.5 %    23.5 %        -
  partition     38.8 %         -         -    34.2 %    13.7 %    20.5 %        -
  aggregate     27.8 %         -         -    55.6 %    33.3 %    22.2 %        -
  thread 0      32.2 %         -         -    47.0 %    23.5 %    23.5 %        -
  thread 1      32.2 %         -         -    47.0 %    23.5 %    23.5 %        -
replayed                cycles      instructions        operations    ipc    GHz  level 1
----------------------------------------------------------------------------------------------------
naive           11,833,973,312     9,000,000,000    11,431,618,219   0.76   3.29        -
  spread                     0                 -                 -      -   0.00        -
radix           10,015,765,622    15,000,000,000    19,350,459,182   1.50   3.71        -
  spread                     0                 -                 -      -   0.00        -
  partition      4,015,765,622                 -     9,350,459,182      -   4.02        -
  aggregate      6,000,000,000                 -    10,000,000,000      -   3.53        -
  thread 0       5,007,882,811                 -     9,675,229,591      -   3.71        -
  thread 1       5,007,882,811                 -     9,675,229,591      -   3.71        -
replayed      DRAM, demand    any fill      LLC misses      dTLB walks   coverage
----------------------------------------------------------------------------------------------------
naive              4.50 GB     5.76 GB               -       1,000,000    100.0 %
radix              1.50 GB     3.84 GB               -         500,000    100.0 %
END
report 'table_says_where_the_counts_are_from' \
    "$(tr -s '\n ' ' ' <"$work/out" | grep -q \
        'replayed from tests/replay/pivot_zen4.json, counts of AMD EPYC 9124 (Zen 4).*the frontend pass are made up' ||
        cat "$work/out")"

replay pivot
sed -n 's/^\(slots\|operations\|pulled\|-- replayed\)/\1/p' "$work/out" >"$work/got"
golden pivot_has_the_published_figures_twice_and_says_which_were_not_measured <<'END'
-- replayed from counts of AMD EPYC 9124, not measured here ----------------------------------------
slots stalled on memory             50.1 %         23.5 %  |        50.1 %             -        23.5 %
slots retiring                      16.1 %         32.2 %  |        16.1 %             -        32.2 %
operations retired          11,431,618,219 19,350,459,182  | 11,431,618,219             - 19,350,459,182
pulled from DRAM on demand    about 4.5 GB   about 1.5 GB  |       4.50 GB             -       1.50 GB
END
report 'pivot_draws_no_conclusion_from_counts_and_times_of_two_machines' \
    "$(tr -s '\n ' ' ' <"$work/out" | grep -q 'prove nothing about those counts' || cat "$work/out")"

replay run --aggregator naive,radix --format csv
sed 's/"synth[^"]*"/source/' "$work/out" >"$work/out.csv"    # a comma less
cut -d, -f1,"$(head -1 "$work/out" | tr ',' '\n' | grep -n '^retiring_pct$\|^memory_bound_pct$\|^ops_retired$' |
    cut -d: -f1 | paste -sd,)" "$work/out.csv" | sed 's/\.\([0-9]\)[0-9]*/.\1/g' >"$work/got"
golden csv_has_the_published_figures <<'END'
aggregator,retiring_pct,memory_bound_pct,ops_retired
naive,16.1,50.1,11431618219
radix,32.2,23.5,19350459182
END

replay run --aggregator naive,radix --format json
grep -c '"source": "replay"' "$work/out" >"$work/got"
grep -o '"\(retiring_pct\|memory_bound_pct\)": \(16\|50\|32\|23\)\.[0-9]\|"ops_retired": [0-9][0-9.]*' "$work/out" |
    awk '{ if (!seen[$0]++) print }' | head -6 >>"$work/got"
golden json_has_the_published_figures_and_names_their_source <<'END'
7
"retiring_pct": 16.1
"memory_bound_pct": 50.1
"ops_retired": 11431618219
"retiring_pct": 32.2
"memory_bound_pct": 23.5
"ops_retired": 19350459182
END

sed 's/"phases": \["partition", "aggregate"\]/"phases": ["aggregate", "partition"]/' tests/replay/pivot_zen4.json >"$work/x.json"
run run $rows --aggregator naive,radix --counters "replay:$work/x.json" $quick
report 'counts_of_phases_by_other_names_are_not_shown' "$(! grep -q '^  partition' "$work/out" &&
    tr -s '\n ' ' ' <"$work/out" | grep -q 'radix: phases: the replayed counts are of phases by other names' ||
    cat "$work/out")"

echo '{"aggbench_counts": 1}' >"$work/bad.json"
refused 1 'bad.json|not a file of counts' run $rows --counters "replay:$work/bad.json"
refused 1 'none.json|No such file' run $rows --counters "replay:$work/none.json"
refused 2 "replay: the file's name is missing" run $rows --counters replay:
refused 2 'off,estimate|off goes with nothing else' run $rows --counters off,estimate
refused 2 'pmu,off|exclude each other' run $rows --counters pmu,off
refused 2 'auto,pmu|exclude each other' run $rows --counters auto,pmu
refused 2 'replay goes with nothing else' run $rows --counters estimate,replay:x
refused 2 '--counters|second time' run $rows --counters pmu --counters off
printf 'Word\na\nb\n' >"$work/words.csv"
refused 1 '--counters estimate|one integer column without --where' run "$work/words.csv" --group-by Word \
    --aggregator naive --quiet --counters estimate
refused 1 '--counters estimate|without --where' run $rows --where 'UserID <> 0' --aggregator naive --quiet \
    --counters estimate
"$aggbench" run "$work/words.csv" --group-by Word --aggregator naive $quick --counters auto >"$work/out" 2>&1
report 'without a demand there is nothing to miss' "$([ $? = 0 ] || cat "$work/out")"
refused 2 'estimat|auto|estimate|simulate|replay:FILE' run $rows --counters estimat
refused 2 '--events: nosuchevent: |libpfm4|r01c0' run $rows --events nosuchevent
report 'a sentence about an event says its name once' "$([ "$(grep -o nosuchevent "$work/err" | wc -l)" = 1 ] ||
    cat "$work/err")"
refused 2 'a name is empty' run $rows --events r76,
refused 2 'r76|given twice|name it once' run $rows --events r76,r76
refused 2 'r0076|the same event as r76' run $rows --events r76,r0076
refused 2 'r76|--counters off' run $rows --events r76 --counters off
refused 2 'more than 8 events' run $rows --events r1,r2,r3,r4,r5,r6,r7,r8,r9
refused 2 'x.json|--counters replay' run $rows --counters $counts --record "$work/x.json"
refused 2 '--perf-check|--counters off' run $rows --counters off --perf-check
refused 2 '--perf-check|--counters replay' run $rows --counters $counts --perf-check
run run $rows --aggregator naive $quick --perf-check
report 'a_perf_check_that_cannot_be_had_fails_behind_the_report' "$(if grep -q '^perf stat  no check: ' "$work/out"; then
    { [ "$code" = 1 ] && grep -q '^aggbench: --perf-check: ' "$work/err"; } || cat "$work/err"
else
    [ "$code" = 0 ] || cat "$work/err"
fi)"
refused 2 'DESCRIPTOR:JOB is missing' count-once
refused 2 'not an order' count-once 3
refused 2 'no such order' count-once 77:0

run run $rows --aggregator naive --events perf::page-faults $quick --format csv
head -1 "$work/out" | sed 's/.*,//' >"$work/got"
if grep -q 'not permitted' "$work/err"; then
    skip an_event_adds_a_column 'this container forbids software events, too'
else
    golden an_event_adds_a_column <<'END'
"perf::page-faults"
END
fi
# An event has a name: it is demanded. No machine counts this one: there is no such code.
refused 1 '--events: rffffffffffffffff|cannot be counted' run $rows --aggregator naive $quick --events rffffffffffffffff
# The machine's own line: none yet, one of this machine, one of another, a damaged one.
XDG_CACHE_HOME=$work
export XDG_CACHE_HOME
refused 1 'ipc-line.json|there is none yet|lab calibrate' run $rows --aggregator naive $quick --ipc-line
line() {    # line MACHINE
    printf '{"aggbench_ipc_line": 1, "machine": "%s", "unit": "ops_per_ns", "cpu_bound": 9, "memory_bound": 0.05,
             "midpoint": 0.7, "measured": "2026-11-30T14:00:00Z"}' "$1" >"$work/aggbench/ipc-line.json"
}
mkdir "$work/aggbench"
line 'Another Machine'
refused 1 'it is of another machine (Another Machine)|lab calibrate' run $rows --aggregator naive $quick --ipc-line
here=$("$aggbench" run $rows --aggregator naive $quick --ipc-line 2>&1 |
    sed 's/.*), this is \(.*\): run `aggbench.*/\1/')
line "$here"
run run $rows --aggregator naive $quick --ipc-line
tr -s '\n ' ' ' <"$work/out" >"$work/flat"
report 'the_line_of_this_machine_is_shown' "$([ "$code" = 0 ] || cat "$work/err")$(grep -qF \
    'measured on 2026-11-30: a loop that only computes reaches 9.00, one that only waits for memory 0.050' \
    "$work/flat" || cat "$work/out")"
run run $rows --aggregator naive $quick --ipc-line --format json
report 'json_has_the_line' "$(grep -A3 '"ipc_line": {' "$work/out" | grep -q '"unit": "ops_per_ns"' || cat "$work/out")"
echo '{' >"$work/aggbench/ipc-line.json"
refused 1 'ipc-line.json|damaged|lab calibrate' run $rows --aggregator naive $quick --ipc-line

"$aggbench" --help | grep count-once >"$work/got"
golden help_does_not_show_the_hidden_command </dev/null

exit $failed
