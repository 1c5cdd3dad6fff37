#!/bin/sh
# SPDX-License-Identifier: MIT
# Ctrl-C, and its kin, in the middle of the commands that take long: one sentence, the end by that signal, and neither a
# process nor a file that is left. Labs and doctor, which report on: test_lab_cli.sh, test_doctor_command.sh.
set -u
. "$(dirname "$0")/command.sh"

# As a terminal does it: the signal goes to all processes of the command. A shell's background jobs ignore SIGINT, and
# what nohup began SIGHUP: env gives them back.
begin() {    # begin NAME ARGUMENTS...
    name=$1
    shift
    mkdir -p "$work/$name"
    (cd "$work/$name" && exec setsid env --default-signal=INT,HUP "$here/$aggbench" "$@" >"$work/$name.out" \
        2>"$work/$name.err") &
    echo $! >"$work/$name.pid"
}

watches() {    # watches PID: it handles SIGINT
    mask=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status" 2>/dev/null)
    case $mask in 2 | 3 | 6 | 7 | a | b | e | f) true ;; *) false ;; esac
}

of_session() {    # of_session PID: the processes of its session that are alive
    sed -nE "s/^([0-9]+ \\(.*\\)) [^Z] [0-9]+ [0-9]+ $1 .*/\\1/p" /proc/[0-9]*/stat 2>/dev/null
}

until_it_watches() {    # until_it_watches PID
    for _ in $(seq 100); do
        watches "$1" && break
        sleep 0.1
    done
}

left_of() {    # left_of PID: what is left of its session after five seconds at most
    for _ in $(seq 50); do
        left=$(of_session "$1")
        [ -n "$left" ] || break
        sleep 0.1
    done
    echo "$left"
}

ends() {    # ends NAME SIGNAL CODE SENTENCE
    pid=$(cat "$work/$1.pid") problem=
    until_it_watches "$pid"
    sleep 0.2
    kill -"$2" "-$pid"
    wait "$pid"
    code=$?
    [ $code = "$3" ] || problem="exit code $code"
    [ "$(cat "$work/$1.err")" = "aggbench: $1: interrupted by SIG$2: $4" ] || problem="$problem; $(cat "$work/$1.err")"
    left=$(left_of "$pid")
    report "${1}_ends_by_${2}_in_one_sentence" "$problem${left:+; left: $left}$(find "$work/$1" -name '*report*')"
}

here=$PWD
nothing='nothing is reported: run it again'
many=synth:hits,rows=3000000
begin run run $many --aggregator sort --repetitions 1000 --output report.json --format json --quiet
begin pivot pivot $many --repetitions 1000 --quiet
begin investigate investigate $many --output report.html --quiet
begin matrix matrix --rows 1M --quiet
begin verify verify sort
begin killed run $many --aggregator naive,radix,sort --repetitions 1000 --quiet
ends run INT 130 "$nothing"
ends pivot TERM 143 "$nothing"
ends investigate INT 130 "$nothing"
ends matrix INT 130 'what is done stands in its state file: the same command goes on from there'
ends verify HUP 129 'the checks that are not listed were not made: run it again'

# Nobody can say anything then, but the contestants must not stay.
pid=$(cat "$work/killed.pid")
until_it_watches "$pid"
for _ in $(seq 100); do
    [ "$(of_session "$pid" | wc -l)" -lt 4 ] || break
    sleep 0.1
done
before=$(of_session "$pid" | wc -l)
kill -KILL "$pid"
wait "$pid"
report "no_contestant_outlives_a_parent_that_is_killed" "$([ "$before" -ge 4 ] || echo "no contestants: $before")$(
    left_of "$pid")"
exit $failed
