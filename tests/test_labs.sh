#!/bin/sh
# Labs in full: all of them to an end, each ended by Ctrl-C, and under a busy load. Takes half a minute.
. "$(dirname "$0")/command.sh"
. "$(dirname "$0")/lab.sh"

checked() {    # checked NAME PYTHON: what it asserts of `lab`, the JSON in $work/out, is true
    if ! command -v python3 >/dev/null; then
        skip "$1" 'python3 is not there'
    else
        python3 -c "import json, sys; lab = json.load(open(sys.argv[1]))
$2" "$work/out" 2>"$work/problem"
        report "$1" "$(tail -1 "$work/problem")"
    fi
}

run lab contention $short --format json
checked json_of_contention_is_whole '
assert lab["aggbench"] == 1 and lab["lab"] == "contention" and lab["failed"] is None
points = [p for s in lab["charts"][0]["series"] for p in s["points"]]
assert lab["measured"] == len(points) and all(p["low"] <= p["y"] <= p["high"] for p in points)'
run lab sharing $short --threads 3
has more_threads_than_processors_are_noted "$work/out" '3 threads share'

# All of them, with one object: only that none fails, for a busy machine's figures mean nothing.
run lab all --seconds 7 --working-set 1M --format json --quiet
report all_labs_run_to_an_end "$([ "$code" = 0 ] || echo "exit code $code: $(cat "$work/err")")"
checked all_labs_are_told '
labs = lab["labs"]
assert not [lab for lab in labs if lab["failed"]]
assert {"chase", "bandwidth", "contention", "sharing", "calibrate", "pages", "numa"} <= {lab["lab"] for lab in labs}'

rm -rf "$work/cache"
interrupt HUP contention
interrupt INT pages
interrupt INT calibrate

# As many busy processes as there are processors: workers must wait, and that must be seen.
busy=
for _ in $(seq "$(nproc)") 1; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
trap 'kill $busy 2>/dev/null; rm -rf "$work"' EXIT
run lab sharing $short --format json
# shellcheck disable=SC2086  # a list
kill $busy
checked points_are_noisy_under_a_busy_load '
assert 2 * lab["noisy"] > lab["measured"], "only %d of %d points are noisy" % (lab["noisy"], lab["measured"])'
exit $failed
