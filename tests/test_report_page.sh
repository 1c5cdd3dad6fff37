#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages in a real browser: no message on its console, nothing from the network, nothing wider than the window at 360 and
# 1280 pixels, no text on text, light and dark and printed. And a whole investigation, which is what takes long here.
. "$(dirname "$0")/command.sh"
case $BUILD in *address* | *thread*) skip pages "valgrind does not run a sanitizer's build"; exit 0 ;; esac
here=$(dirname "$0")

chromium() {    # the name of a browser; installed if node is there to steer it and that can be done here
    for name in chromium chromium-browser google-chrome; do
        command -v $name && return
    done
    if command -v node >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        install='timeout 240 apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=60 -o Acquire::Retries=1
            -o Acquire::http::Timeout=10 chromium fonts-dejavu-core'
        $install >"$work/apt" 2>&1 ||
            { timeout 60 apt-get update -o Acquire::http::Timeout=10 && $install; } >"$work/apt" 2>&1
        command -v chromium
    fi
}

json() {    # json FILE ARGUMENTS...
    file=$1
    shift
    "$aggbench" "$@" --quiet --format json --output "$work/$file.json" 2>"$work/err" ||
        report "measured: $*" "$(cat "$work/err")"
}

json run run synth:hits,rows=200k --aggregator all --repetitions 5 --counters estimate,simulate
json pivot pivot synth:hits,rows=200k --repetitions 5
json bits run synth:uniform,rows=200k,groups=50k --aggregator naive,radix --sweep bits=2..12/2 --repetitions 5
json groups run synth:uniform,rows=200k --aggregator naive,prefetch,radix --sweep groups=100..100000*10 --repetitions 5
json replay run synth:hits,rows=50k --aggregator naive,radix --counters "replay:$here/replay/pivot_zen4.json"
json contention lab contention --seconds 2
json chase lab chase --seconds 4
json investigation investigate synth:hits,rows=200k
json doctor doctor
json two run synth:uniform,rows=100k --aggregator naive,radix --sweep bits=2..12/2 --sweep groups=100..100000*10 \
    --repetitions 5
json matrix matrix --rows 20k --groups 10..10000*10 --threads 1,2 --aggregator naive,prefetch,radix --repetitions 5 \
    --state "$work/matrix.state"
"$aggbench" compare "$work/run.json" "$work/pivot.json" --force --format json >"$work/compare.json" 2>"$work/err"
report compared "$([ $? -lt 2 ] && [ -s "$work/compare.json" ] || cat "$work/err")"
# What could break a page: long names, markup, control bytes, marks that turn the direction.
sed 's/"aggregator": "radix"/"aggregator": "<b onclick=alert(1)>\\u202e\\u0007'"$(printf 'w%.0s' $(seq 200))"'"/' \
    "$work/run.json" >"$work/hostile.json"

pages=
for name in run pivot bits groups two matrix compare replay contention chase doctor investigation hostile; do
    run report "$work/$name.json" -o "$work/$name.html"
    report "there_is_a_page_of: $name" "$([ "$code" = 0 ] || cat "$work/err")"
    pages="$pages $work/$name.html"
done
run report "$work/run.json" "$work/chase.json" "$work/investigation.json" --output "$work/several.html"
report there_is_a_page_of_several_files "$([ "$code" = 0 ] || cat "$work/err")"
pages="$pages $work/several.html"

if command -v xmllint >/dev/null; then
    # shellcheck disable=SC2086  # a list of files
    report pages_are_well_formed "$(xmllint --noout $pages 2>&1 | head -20)"
else
    skip pages_are_well_formed 'xmllint is not there'
fi
# shellcheck disable=SC2086
report pages_need_no_network_and_no_script \
    "$(grep -nEi '<script|(src|href)="?(https?:)?//|@import|url\(' $pages | cut -c1-200 | head -5)"

# ---- The investigation ----
node_check() {    # node_check NAME SCRIPT: prints its problems
    report "$1" "$(node -e "const story = JSON.parse(require('fs').readFileSync('$work/investigation.json'));
$2" 2>&1)"
}
if command -v node >/dev/null; then
    node_check an_investigation_has_exactly_twelve_fields '
        const names = story.investigation.map(field => field.field).join("; ");
        if (names !== "workload and success metric; environment; baseline distribution; initial observations; " +
            "hypotheses considered; measurements and overhead; changes made; before/after evidence; " +
            "bottleneck movement; limitations; rollback or safety considerations; next experiment")
            console.log(names);
        for (const field of story.investigation)
            if (field.statements.length === 0)
                console.log(field.field, "is empty");'
    node_check every_claim_names_a_measurement_that_is_there '
        const ids = new Set(story.measurements.map(measurement => measurement.id));
        const free = new Set(["limitations", "rollback or safety considerations", "next experiment"]);
        for (const { field, statements } of story.investigation)
            for (const { text, measurements } of statements) {
                const definition = field === "workload and success metric" && text.startsWith("Success is");
                if (measurements.length === 0 && !free.has(field) && !definition)
                    console.log("no measurement:", field, text);
                for (const id of measurements.filter(id => !ids.has(id)))
                    console.log("not there:", id, text);
                if (/\bnan\b|\binf\b/.test(text))
                    console.log("no number:", text);
            }'
    node_check every_measurement_has_the_command_that_repeats_it '
        for (const { id, command, result } of story.measurements)
            if (!command.startsWith("aggbench run ") || !(result.results.length > 0))
                console.log(id, command);'
    node_check verdicts_follow_from_intervals '
        const of = id => story.measurements.find(measurement => measurement.id === id).result;
        const last = of(story.measurements.at(-1).id).comparisons[0];
        const text = JSON.stringify(story.investigation.find(field => field.field === "changes made"));
        if ((last.verdict === "faster") === text.includes("It is not kept"))
            console.log(last.verdict, text);'
else
    skip an_investigation_has_exactly_twelve_fields 'node is not there'
fi
first=$(sed -n 's/.*"command": "aggbench \(run .*\)",*$/\1/p' "$work/investigation.json" | head -n1)
# shellcheck disable=SC2086  # words of a command
run $first --quiet
report the_command_of_a_measurement_runs "$([ "$code" = 0 ] || cat "$work/err")"

# ---- The browser ----
browser=$(chromium | head -n1)
if [ -z "$browser" ] || ! command -v node >/dev/null; then
    skip pages_are_right_in_a_browser "no chromium here, or no node$([ ! -s "$work/apt" ] ||
        echo "; apt-get says: $(grep -m1 '^E:' "$work/apt" || tail -n1 "$work/apt")")"
    exit $failed
fi
# shellcheck disable=SC2086
report pages_are_right_in_a_browser "$(node "$here/browser.mjs" "$browser" $pages 2>&1)"
printf '<!DOCTYPE html><body><p style="width:2000px">wide</p><script>console.error("no")</script>' >"$work/bad.html"
node "$here/browser.mjs" "$browser" "$work/bad.html" >"$work/out" 2>&1
report a_bad_page_would_be_found "$(grep -q 'console: no' "$work/out" && grep -q '2008 px wide' "$work/out" ||
    cat "$work/out")"
exit $failed
