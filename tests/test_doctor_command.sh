#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench doctor on real processes: one that sleeps, one that spins, one that vanishes, a program that fails, Ctrl-C.
. "$(dirname "$0")/command.sh"

has() {    # has FILE WORDS: each of them (parted by |)
    saved=$IFS
    IFS='|'
    for word in $2; do
        grep -qF -- "$word" "$1" || problem="$problem; '$word' is not in $1"
    done
    IFS=$saved
}

off_cpu() {    # on a crowded machine even a sleeper waits for a processor, and that is what is found then
    if grep -q '1 on CPU: found' "$work/out"; then
        has "$work/out" 'not busy|not asked: "on CPU" has answered'
    else
        has "$work/out" '1 on CPU: suspect|does not get a processor'
    fi
}

refused 1 'doctor: --pid 4194303|no such process' doctor --pid 4194303
refused 2 '--pid: 0|not a whole number' doctor --pid 0
refused 2 'no program behind --' doctor --
refused 2 '--pid 1 and a program' doctor --pid 1 -- true
refused 2 'takes no operand' doctor true
refused 2 '--format: csv' doctor --format csv
refused 1 'doctor: ./none-such: No such file|check its name' doctor --quiet -- ./none-such

problem=
run doctor --quiet -- sleep 0.3
[ "$code" = 0 ] || problem="exit code $code: $(cat "$work/err")"
has "$work/out" '9 noise|(sleep)|exit status 0'
off_cpu
report a_program_that_sleeps_is_found_off_cpu "$problem"

problem=
run doctor --quiet --format json -- sh -c 'echo to standard output; echo to standard error >&2; exit 3'
[ "$code" = 1 ] || problem="exit code $code"
has "$work/err" 'to standard output|to standard error|doctor: sh: ended with exit status 3'
has "$work/out" '"exit_status": 3|"step": "on CPU"|"answered_by"'
grep -q 'to standard' "$work/out" && problem="$problem; the program's output is in the report"
[ "$(head -c 1 "$work/out")" = '{' ] || problem="$problem; the report is no JSON"
report a_program_that_fails_is_reported_and_its_output_kept_apart "$problem"

problem=
run doctor --quiet --output "$work/report" -- echo hello
[ "$code" = 0 ] || problem="exit code $code"
[ "$(cat "$work/out")" = hello ] || problem="$problem; standard output is not the program's: $(cat "$work/out")"
has "$work/report" 'doctor: command|(echo)'
report with_output_the_program_has_standard_output "$problem"

problem=
(while :; do :; done) &
spinner=$!
run doctor --quiet --pid $spinner --seconds 1
[ "$code" = 0 ] || problem="exit code $code: $(cat "$work/err")"
grep -qE '1 on CPU: (ruled out|suspect)' "$work/out" || problem="$problem; $(sed -n 3,6p "$work/out")"
has "$work/out" '2 pinned|3 IPC|6 sharing: ruled out|9 noise|conclusion'
kill $spinner
report a_process_that_spins_is_not_off_cpu "$problem"

problem=
sleep 0.4 &
run doctor --quiet --pid $! --seconds 5
[ "$code" = 0 ] || problem="exit code $code: $(cat "$work/err")"
has "$work/out" 'it ended meanwhile'
off_cpu
report a_process_that_vanishes_is_reported_until_then "$problem"

problem=
run doctor --quiet --seconds 1 --format json
[ "$code" = 0 ] || problem="exit code $code: $(cat "$work/err")"
has "$work/out" '"kind": "machine"|"pid": null|"step": "noise"'
report the_machine_itself_is_examined "$problem"

problem=
"$aggbench" doctor --quiet -- sh -c 'echo $$ >"$0"; sleep 30; :' "$work/pid" >"$work/out" 2>"$work/err" </dev/null &
doctor=$!
tries=0
while [ ! -s "$work/pid" ] && [ $tries -lt 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
sleep 0.1
kill -TERM $doctor
wait $doctor
code=$?
[ "$code" = 1 ] || problem="exit code $code"
has "$work/err" 'interrupted by SIGTERM'
has "$work/out" 'interrupted: what follows|1 on CPU'
kill -0 "$(cat "$work/pid")" 2>/dev/null && problem="$problem; the program is still there"
report an_interrupt_ends_both_and_reports_what_was_seen "$problem"

exit $failed
