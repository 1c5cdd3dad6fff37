# SPDX-License-Identifier: MIT
# For test scripts of labs to source, after command.sh.
export XDG_CACHE_HOME="$work/cache"
short='--seconds 1 --quiet'

has() {    # has NAME FILE WORDS...: each of them stands in the file
    name=$1 file=$2 problem=
    shift 2
    for word in "$@"; do
        grep -qF -- "$word" "$file" || problem="$problem; '$word' is not there"
    done
    report "$name" "${problem:+$problem in: $(head -c 1500 "$file")}"
}

# Ctrl-C, as the terminal sends it. Background jobs of a shell ignore SIGINT, and what nohup began SIGHUP: env gives
# them back.
interrupt() {    # interrupt SIGNAL LAB ARGUMENTS...
    signal=$1
    shift
    rm -f "$work/report.json"
    env --default-signal=INT,HUP "$aggbench" lab "$@" --format json --output "$work/report.json" \
        >"$work/out" 2>"$work/err" &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.1
        grep -q 'predict' "$work/err" && break
    done
    sleep 0.2
    kill -"$signal" "$pid"
    wait "$pid"
    code=$? problem=
    [ "$code" = 1 ] || problem="exit code $code"
    grep -q "^aggbench: lab: $1: interrupted by SIG$signal: nothing is reported" "$work/err" || problem="$problem; $(cat "$work/err")"
    [ -s "$work/out" ] && problem="$problem; a report although it was interrupted"
    [ "$(find "$work" -name 'report*' -o -name '.*report*')" = "" ] || problem="$problem; a file is left"
    echo "$work/report.json" | grep -qsF -f - /proc/[0-9]*/cmdline && problem="$problem; a process is left"
    [ -e "$work/cache/aggbench" ] && [ "$1" = calibrate ] && problem="$problem; a line was saved"
    report "interrupted_by_${signal}_${1}_leaves_nothing_behind" "$problem"
}
