#!/bin/sh
# The files that the command writes and the descriptors that it is given: nothing of the user's is ever destroyed.
set -u
. "$(dirname "$0")/command.sh"

same() {    # same NAME FILE TEXT: the file holds just this line
    report "$1" "$([ "$(cat "$2")" = "$3" ] || head -3 "$2")$(cat "$work/err")"
}

few=synth:sequential,rows=10,groups=4
groups='key,count
0,3
1,3
2,2
3,2'
one="$few --aggregator naive --no-twin $quick"
make_source() { printf 'UserID\n5\n5\n7\n' >"$1"; }

# ---- Closed descriptors ----
# shellcheck disable=SC2086
for closed in 0 1 2 01 12 012; do
    make_source "$work/in.csv"
    for command in "run $work/in.csv --output $work/report --groups $work/got --format csv" "describe $work/in.csv" list; do
        case $closed in
        0) "$aggbench" $command >"$work/out" 2>"$work/err" <&- ;;
        1) "$aggbench" $command 2>"$work/err" >&- ;;
        2) "$aggbench" $command >"$work/out" 2>&- ;;
        01) "$aggbench" $command 2>"$work/err" <&- >&- ;;
        12) "$aggbench" $command >&- 2>&- ;;
        012) "$aggbench" $command <&- >&- 2>&- ;;
        esac
        code=$?
        want=0
        case "$closed ${command%% *}" in *run) ;; *1*) want=1 ;; esac
        report "with_descriptors_${closed}_closed_exit_code_$want: ${command%% *}" "$([ $code = $want ] || echo "code $code")"
    done
    report "with_descriptors_${closed}_closed_files_are_whole" "$(printf 'UserID\n5\n5\n7\n' | diff - "$work/in.csv"
        printf 'key,count\n5,2\n7,1\n' | diff - "$work/got"; grep -q '"ok"' "$work/report" || cat "$work/report")"
done
"$aggbench" list 2>"$work/err" >&-
report closed_standard_output_is_one_sentence "$(grep -q '^aggbench: writing standard output: Bad file' "$work/err" || cat "$work/err")"
# shellcheck disable=SC2086
"$aggbench" run $one --output "$work/full" >&- 2>"$work/err"
report closed_standard_output_does_not_matter_to_output "$(cat "$work/err")$([ -s "$work/full" ] || echo empty)"

# ---- What --output and --groups may name ----
: >"$work/target"
ln -s target "$work/link"
# shellcheck disable=SC2086
run run $one --groups "$work/link"
same groups_go_through_a_link "$work/target" "$groups"
report the_link_stays_a_link "$([ -h "$work/link" ] || echo replaced)"
chmod 640 "$work/target"
# shellcheck disable=SC2086
run run $one --output "$work/target"
report an_existing_file_keeps_its_mode "$(stat -c %a "$work/target" | grep -v '^640$')$(cat "$work/err")"
ln -s /dev/null "$work/null"
# shellcheck disable=SC2086
run run $one --output "$work/null" --groups "$work/null"
report a_link_to_a_device_stays "$([ "$(readlink "$work/null")" = /dev/null ] && [ -c /dev/null ] || echo gone)$(cat "$work/err")"

for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    # shellcheck disable=SC2086
    run run $one --groups $name --output "$work/report"
    same "groups_to_standard_output_as: $name" "$work/out" "$groups"
    echo before >"$work/log"
    # shellcheck disable=SC2086
    "$aggbench" run $one --output $name --format csv >>"$work/log" 2>"$work/err"
    report "report_is_appended_to_standard_output_as: $name" \
        "$([ "$(wc -l <"$work/log")" = 3 ] && grep -q ^before "$work/log" || cat "$work/log")$(cat "$work/err")"
done
mkfifo "$work/fifo"
for option in --groups --output; do
    timeout 20 cat "$work/fifo" >"$work/read" &
    # shellcheck disable=SC2086
    timeout 20 "$aggbench" run $one $option "$work/fifo" >"$work/out" 2>"$work/err"
    code=$?
    wait
    report "a_pipe_with_a_name_is_opened_once: $option" \
        "$([ $code = 0 ] && [ -p "$work/fifo" ] && [ -s "$work/read" ] || echo "code $code")$(cat "$work/err")"
done

# ---- What they may not name ----
make_source "$work/in.csv"
mkdir "$work/in"
make_source "$work/in/part.csv"
ln -s in.csv "$work/alias"
run load "$work/in.csv" --output "$work/in.agb"
ln "$work/in/part.csv" "$work/hard"
refused 2 'groups|in.csv|is a file of the source' run "$work/in.csv" --groups "$work/in.csv"
refused 2 'output|alias|is a file of the source' run "$work/in.csv" --output "$work/alias"
refused 2 'groups|hard|is a file of the source' run "$work/in" --groups "$work/hard"
refused 2 'output|part.csv|is a file of the source' run "$work/in/p*.csv" --output "$work/in/part.csv"
refused 2 'output|in.csv|is a file of the source' investigate "$work/in.csv" --output "$work/in.csv"
refused 2 'save|in.agb|is a file of the source' verify naive --input "$work/in.agb" --save "$work/in.agb"
refused 2 'output|in.csv|is a file of the source' pivot "$work/in.csv" --output "$work/in.csv"
# shellcheck disable=SC2086
refused 2 'groups|new|--output|two files' run $one --groups "$work/new" --output "$work/../${work##*/}/new"
# shellcheck disable=SC2086
refused 2 'groups|link|--output|two files' run $one --groups "$work/link" --output "$work/target"
refused 1 "groups: $work/new: not written|naive: memory budget exceeded" run $few --groups "$work/new" \
    --memory-budget 1k
refused 2 'groups|one source|--sweep' run $few --groups "$work/new" --sweep groups=2,3
refused 1 'writing|/tmp|Is a directory' run $few --output /tmp
"$aggbench" run - --groups "$work/in.csv" <"$work/in.csv" >"$work/out" 2>"$work/err"
report 'refused: the file behind standard input' "$(grep -q 'is a file of the source -' "$work/err" || cat "$work/err")"
printf 'UserID\n5\n5\n7\n' >"$work/want"
report the_sources_are_as_they_were "$(diff "$work/want" "$work/in.csv")$(diff "$work/want" "$work/in/part.csv")"

# ---- Limits of the system ----
full() {    # full ARGUMENTS...: to a full device, one sentence that says what to do
    "$aggbench" "$@" >/dev/full 2>"$work/err"
    code=$?
    report "full_disk_is_one_sentence: $1" "$([ $code = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q \
        '^aggbench: writing standard output: No space left on device: make room or choose another place$' "$work/err" ||
        cat "$work/err")"
}
full list
full --help
full --version
full run --help
full describe "$work/in.csv"
full verify sort
# shellcheck disable=SC2086
full run $one
# shellcheck disable=SC2086
(ulimit -f 1 && "$aggbench" run synth:sequential,rows=5000 $quick --groups "$work/new" >"$work/out" 2>"$work/err")
code=$?
report a_limit_of_file_sizes_is_one_sentence "$([ $code = 1 ] && grep -q 'ulimit -f' "$work/err" || cat "$work/err")"
# shellcheck disable=SC2086
(ulimit -f 20 && "$aggbench" run synth:sequential,rows=2000,groups=200 $quick --counters off --groups /dev/null \
    --output "$work/new" --format json >"$work/out" 2>"$work/err")
code=$?
report a_report_beyond_it_is_one_sentence \
    "$([ $code = 1 ] && grep -q "^aggbench: writing $work/new: File too large" "$work/err" || cat "$work/err")"
for files in 4 6; do
    # shellcheck disable=SC2086
    sh -c 'ulimit -n "$0" && exec "$@"' $files "$aggbench" run synth:sequential,rows=2000 $quick --counters off \
        >"$work/out" 2>"$work/err"
    code=$?
    report a_limit_of_${files}_open_files_is_one_sentence "$([ $code = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] &&
        grep -q 'Too many open files: see `ulimit -n`' "$work/err" || cat "$work/err")"
done
report nothing_is_left_of_a_refused_file "$(ls "$work" | grep '^new')"
exit $failed
