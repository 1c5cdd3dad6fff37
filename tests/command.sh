#!/bin/sh
# SPDX-License-Identifier: MIT
# For test scripts to source: the command, a folder of the test's own, and what may be asked of one call of the command.
# Needs $BUILD, the build folder. The script ends with `exit $failed`.
set -u
: "${BUILD:?the build folder}"
. "$(dirname "$0")/reporting.sh"
aggbench=$BUILD/aggbench
samples=${AGB_SAMPLES:-../shared/samples}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
rows=synth:hits,rows=10000
quick='--repetitions 1 --quiet'

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
