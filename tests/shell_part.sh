# What the test scripts share; sourced, with $BUILD set. Leaves $aggbench, $work (removed at the end), $failures, and:

aggbench=$BUILD/aggbench
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

report() {    # report NAME PROBLEM: an empty problem is success
    if [ -z "$2" ]; then
        printf '[       OK ] %s\n' "$1"
    else
        printf '[  FAILED  ] %s: %s\n' "$1" "$2"
        failures=$((failures + 1))
    fi
}

run() {    # run ARGUMENTS...: leaves $code, $work/out and $work/err
    "$aggbench" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

refused() {    # refused CODE WORDS ARGUMENTS...: one sentence on stderr that has the words (parted by |), no report
    want=$1 words=$2
    shift 2
    run "$@"
    problem=
    [ "$code" = "$want" ] || problem="exit code $code instead of $want"
    [ "$(wc -l <"$work/err")" = 1 ] || problem="$problem; not one line: $(cat "$work/err")"
    grep -q '^aggbench: .*[^.]$' "$work/err" || problem="$problem; no sentence: $(cat "$work/err")"
    [ -s "$work/out" ] && problem="$problem; a report although it failed"
    saved=$IFS
    IFS='|'
    for word in $words; do
        grep -qF -- "$word" "$work/err" || problem="$problem; '$word' is not in: $(cat "$work/err")"
    done
    IFS=$saved
    report "refused: $*" "$problem"
}

golden() {    # golden NAME: $work/got must be what stands on standard input
    cat >"$work/want"
    report "$1" "$(diff "$work/want" "$work/got" | head -20)"
}
