#!/bin/sh
# Labs in full: all of them to an end, each ended by Ctrl-C, and under a busy load. Takes half a minute.
. "$(dirname "$0")/command.sh"
. "$(dirname "$0")/lab.sh"

run lab contention $short --format json
python3 -c '
import json, sys
lab = json.load(open(sys.argv[1]))
assert lab["aggbench"] == 1 and lab["lab"] == "contention" and lab["failed"] is None
points = [p for s in lab["charts"][0]["series"] for p in s["points"]]
assert lab["measured"] == len(points) and all(p["low"] <= p["y"] <= p["high"] for p in points)
' "$work/out" 2>"$work/problem"
report json_of_contention_is_whole "$(cat "$work/problem")"
run lab sharing $short --threads 3
has more_threads_than_processors_are_noted "$work/out" '3 threads share'

# All of them, with one object: only that none fails, for a busy machine's figures mean nothing.
run lab all --seconds 7 --working-set 1M --format json --quiet
problem=$(python3 -c '
import json, sys
labs = json.load(open(sys.argv[1]))["labs"]
print([lab["lab"] for lab in labs if lab["failed"]] or "", end="")
assert {"chase", "bandwidth", "contention", "sharing", "calibrate", "pages", "numa"} <= {lab["lab"] for lab in labs}
' "$work/out" 2>&1)
[ "$code" = 0 ] || problem="$problem; exit code $code: $(cat "$work/err")"
report all_labs_run_to_an_end "$problem"

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
python3 -c '
import json, sys
lab = json.load(open(sys.argv[1]))
assert 2 * lab["noisy"] > lab["measured"], "only %d of %d points are noisy" % (lab["noisy"], lab["measured"])
' "$work/out" 2>"$work/problem"
report points_are_noisy_under_a_busy_load "$(tail -1 "$work/problem")"
exit $failed
