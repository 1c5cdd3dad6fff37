#!/bin/sh
# The command as people use it: golden outputs, exit codes, and every sentence of refusal once.
set -u
. "$(dirname "$0")/command.sh"

# ---- What the command line got wrong: exit code 2, before a byte is loaded ----
refused 2 'frobnicate|no such command' frobnicate
refused 2 'dscribe|did you mean describe' dscribe
refused 2 'SOURCE is missing|for example' run
refused 2 'SOURCE is missing' describe
refused 2 'NAME is missing|--plugin' verify
refused 2 'SOURCE|empty word' run ''
refused 2 'more|one operand too many|glob' run $rows more
refused 2 'x: takes no operand' list x
refused 2 'x: one operand too many: give no more than 1' lab runq x
refused 2 'frobnicate: no such command' help frobnicate
refused 2 'dscribe|did you mean describe' help dscribe
refused 2 '--agregator|did you mean --aggregator' run $rows --agregator naive
refused 2 '--where: its value is empty' run $rows --where ''
refused 2 'where|UserID|no operator' run $rows --where 'UserID ~ 5'
refused 2 'where|closing quote' run $rows --where "UserID = '5"
refused 2 "where|UserID = 'x'|int64|whole number, or a date" run $rows --where "UserID = 'x'"
refused 2 '--group-by: 1: names no column' run $rows --group-by 1
refused 2 'column number 2 is an empty name' run $rows --group-by UserID,
refused 2 '--query: 3|not one of|7, 12, 14' run $rows --query 3
refused 2 '--query: 43|0..42' run $rows --query 43
refused 2 '--query: 15 has its own --group-by' run $rows --query 15 --group-by UserID
refused 2 '--query: 15 has its own --where' run $rows --query 15 --where 'UserID = 5'
refused 2 '-q|two dashes' run $rows -q
refused 2 '--quiet: takes no value' run $rows --quiet=1
refused 2 '--threads: its value is missing' run $rows --threads
refused 2 '--threads: 0|1..1024' run $rows --threads 0
refused 2 '--threads: two|1..1024' run $rows --threads two
refused 2 '--repetitions: -3|1..10000' run $rows --repetitions -3
refused 2 '--batch-rows: 0|1..1073741824' run $rows --batch-rows 0
refused 2 '--top: 1e6|0..1000000' run $rows --top 1e6
refused 2 '--timeout: 0|1..86400' run $rows --timeout 0
refused 2 '--format: xml|table|json|csv' run $rows --format xml
refused 2 '--format: csv|table|json' list --format csv
refused 2 '--format: csv|table|json' describe $rows --format csv
refused 2 '--foo|no such option: see' run $rows --foo
refused 2 '--pin: 0,1,0|processor 0 twice' run $rows --threads 3 --pin 0,1,0
refused 2 '--twin and --no-twin|leave one out' run $rows --twin --no-twin
refused 2 '--sweep: bits=4|bits a second time' run $rows --aggregator radix --sweep bits=4 --sweep bits=4
refused 2 '--sweep: bits=4,4|different values' run $rows --aggregator radix --sweep bits=4,4
refused 2 '--where: UserID > 5|a second time' run $rows --where 'UserID < 9' --where 'UserID > 5'
refused 2 '--input-format: csv|is generated' run $rows --input-format csv
refused 1 '--spill-folder: /nonexistent|No such file' run $rows --spill-folder /nonexistent
refused 1 '--spill-folder: /dev/null|Not a directory' verify sort --spill-folder /dev/null
refused 2 '--counters: perhaps|auto|pmu|off' run $rows --counters perhaps
refused 2 '--memory: hot|warm|fresh' run $rows --memory hot
refused 2 '--memory-budget: 12X|512M' run $rows --memory-budget 12X
refused 2 '--group-by: its value is empty' run $rows --group-by ''
refused 2 'aggregator naiv|did you mean naive|list' run $rows --aggregator naiv
refused 2 'aggregator (empty)|list' run $rows --aggregator naive,
refused 2 'aggregator nosuch|list' verify nosuch
refused 2 'radix: bits=99|1..16' run $rows --aggregator radix:bits=99
refused 2 'radix|bist|bits' run $rows --aggregator radix:bist=9
refused 2 'all:bits=3|takes no parameters' run $rows --aggregator all:bits=3
refused 2 '--hash: folt|did you mean fold' run $rows --hash folt
refused 2 '--input-format: parqet|did you mean parquet' run $rows --input-format parqet
refused 2 '--plugin: nofile.so' run $rows --plugin nofile.so
refused 2 '--pin: 0,x|processor numbers' run $rows --pin 0,x
refused 2 '--pin: 99999|may not run there|allowed are' run $rows --pin 99999
refused 2 '--pin: 1 processor for 2 threads' run $rows --threads 2 --pin 0
refused 2 '--sweep: bits|p=a..b' run $rows --sweep bits
refused 2 '--sweep: nosuch|no chosen aggregator' run "$work/none" --sweep nosuch=1..3
refused 2 'radix: bits=17|1..16' run $rows --aggregator radix --sweep bits=15..17
refused 2 'synth|nosuch' run synth:nosuch
refused 2 'rows=-1' run synth:hits,rows=-1

# ---- What the world got wrong: exit code 1 ----
printf 'not a table\n' >"$work/junk"
: >"$work/empty"
refused 1 'none.parquet|no such file' run "$work/none.parquet"
refused 1 'none.parquet|no such file' describe "$work/none.parquet"
refused 2 'nonsense|no loader' describe "$work/junk" --input-format nonsense
refused 1 'none.parquet|no such file' load "$work/none.parquet" --columns k --dry-run
refused 1 'none.*|no file matches' run "$work/none.*"
refused 1 'none.*|no file matches' describe "$work/none.*"
refused 1 'none.*|no file matches' load "$work/none.*" --columns k --dry-run
refused 1 'none.parquet|no such file' pivot "$work/none.parquet"
refused 1 'empty' run "$work/empty"
printf 'UserID\n1373846395000000\n' >"$work/micros.csv"
refused 1 "where: column 'UserID': row 0|no seconds" run "$work/micros.csv" --where "UserID > '2013-07-15'"
refused 2 'userid|did you mean|UserID' run $rows --group-by userid
refused 2 'userid|did you mean|UserID' run $rows --where 'userid > 0'
refused 1 '/nonexistent/report|No such file' run $rows --output /nonexistent/report
refused 1 '/nonexistent/groups|No such file' run $rows --groups /nonexistent/groups
# shellcheck disable=SC2086  # a list of options
refused 1 '/dev/full|No space left' run $rows $quick --output /dev/full
# shellcheck disable=SC2086
refused 1 '/dev/full|No space left' run $rows $quick --groups /dev/full

"$aggbench" list >/dev/full 2>"$work/err"
report 'full_disk_behind_standard_output_is_one_sentence' \
    "$([ $? = 1 ] && grep -q '^aggbench: writing standard output: No space left' "$work/err" || cat "$work/err")"
{ "$aggbench" list 2>"$work/err"; echo $? >"$work/code"; } | sleep 0
report 'closed_pipe_is_one_sentence' \
    "$([ "$(cat "$work/code")" = 0 ] || grep -q '^aggbench: writing standard output: Broken pipe' "$work/err" || cat "$work/err")"
# shellcheck disable=SC2086
refused 2 "'UserID' is named twice" run $rows $quick --group-by UserID,UserID
"$aggbench" run --version >"$work/out" 2>&1
report 'every_command_tells_its_version' "$(grep -q '^aggbench [0-9]' "$work/out" || cat "$work/out")"
run
report 'no_command_is_a_usage_error_that_shows_help' \
    "$([ $code = 2 ] && grep -q 'aggbench COMMAND' "$work/err" || echo "exit code $code")"

# ---- What is right ----
for help in --help -h 'run --help' 'pivot --help' 'list -h' 'describe --help' 'verify --help' --version list; do
    # shellcheck disable=SC2086
    run $help
    report "fine: $help" "$([ $code = 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ] || echo "exit code $code")"
done
for command in '' $("$aggbench" help | sed -n 's/^  \([a-z]*\) .*/\1/p') completion manual; do
    # shellcheck disable=SC2086
    "$aggbench" $command --help >"$work/want" && run help $command
    report "help does as --help: $command" "$([ $code = 0 ] && [ -s "$work/out" ] && diff "$work/want" "$work/out")"
    report "help does not list itself: $command" "$(grep '^  --help' "$work/out")"
    report "options are announced where there are some: $command" "$([ -z "$command" ] ||
        [ "$(head -1 "$work/out" | grep -c OPTIONS)" = "$(grep -m1 -c '^  --' "$work/out")" ] || cat "$work/out")"
done

# shellcheck disable=SC2086
run run synth:sequential,rows=100,groups=4 --aggregator naive,prefetch,radix:bits=3,sort --format csv $quick
cut -d, -f1,2,5- "$work/out" | tr -d '"' | cut -d, -f1-6 >"$work/got"
golden csv_names_each_contestant_its_state_and_its_answer <<'END'
aggregator,params,reason,rows,groups,load_s
naive,,groups=4,ok,,100
prefetch,,groups=4,ok,,100
radix,bits=3,groups=4,ok,,100
sort,,groups=4,ok,,100
END

# shellcheck disable=SC2086
run run synth:sequential,rows=10,groups=4 --aggregator radix --groups "$work/got" $quick
golden groups_stand_in_the_order_of_their_keys <<'END'
key,count
0,3
1,3
2,2
3,2
END

run describe synth:sequential,rows=10,groups=4
sed 's/;.*//' "$work/out" >"$work/got"
golden describe_shows_schema_and_rows <<'END'
synth:sequential,rows=10,groups=4: synth, 10 rows, 1 column

  no  column  type    NULL      in the file
   1  UserID  int64   never     generated
END

# shellcheck disable=SC2086
run run synth:uniform,rows=1000,groups=10 --aggregator naive --sweep groups=10,20 --format csv $quick
report 'sweep_of_a_source_measures_each_of_them' \
    "$([ $code = 0 ] && [ "$(grep -c '"ok"' "$work/out")" = 2 ] && grep -q groups=20 "$work/out" || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run run synth:uniform,rows=1000 --aggregator naive,radix --sweep bits=2..8*2 --format csv $quick
report 'sweep_of_a_parameter_makes_a_row_of_each_value' \
    "$([ $code = 0 ] && [ "$(grep -c '^radix,"bits=[248]"' "$work/out")" = 3 ] || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run run synth:hits,rows=0 $quick
report 'no_rows_have_no_speed_ups' "$([ $code = 0 ] && ! grep -qE 'speed-up|baseline|no difference' "$work/out" ||
    cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run run synth:hits,rows=0 $quick --format csv
report 'no_rows_are_no_error' "$([ $code = 0 ] && ! grep -q nan "$work/out" || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run pivot synth:hits,rows=20000 $quick
report 'pivot_lays_published_figures_beside_measured_ones' "$([ $code = 0 ] &&
    grep -q '17,630,976' "$work/out" && grep -q '^warm run, median  *3.6 s  *2.7 s' "$work/out" &&
    grep -q 'published 1.33 x, here' "$work/out" || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run run $rows --aggregator naive --memory-budget 4k $quick
report 'a_budget_too_small_is_a_row_and_exit_code_1' \
    "$([ $code = 1 ] && grep -q '^naive  *out-of-memory: ' "$work/out" || cat "$work/out" "$work/err")"
# shellcheck disable=SC2086
run run $rows --output "$work/report.json" --format json $quick
report 'output_goes_to_the_file_and_leaves_no_other' \
    "$([ $code = 0 ] && [ ! -s "$work/out" ] && grep -q '"aggbench": 1' "$work/report.json" &&
       [ "$(find "$work" -name 'report.json*' | wc -l)" = 1 ] || cat "$work/err")"

run verify radix:bits=4 --check 'key shapes'
report 'verify_passes_a_right_aggregator' \
    "$([ $code = 0 ] && tail -1 "$work/out" | grep -q '^radix is right: ' || cat "$work/out" "$work/err")"

# ---- Faulty plug-ins: each is a row with its reason, the rest of the table is complete, the exit code is not 0 ----
plugins=
for plugin in wrong_abi no_symbol wrong_name count_one_too_many emits_twice writes_past_buffer crashes never_returns \
    asks_too_much leaves_memory crashes_on_load exits_on_load hangs_on_load aborts_at_exit kills_itself emits_as_nobody \
    writes_to_descriptors writes_on_load; do
    plugins="$plugins --plugin $BUILD/plugins/$plugin.so"
done
# shellcheck disable=SC2086
run run $rows --aggregator naive,radix $plugins --timeout 1 --no-twin --format csv $quick
report 'faulty_plugins_give_exit_code_1_and_no_noise' "$([ $code = 1 ] && [ ! -s "$work/err" ] || cat "$work/err")"

row() {    # row NAME STATE REASON
    report "plugin_$1_is_$2" "$(grep -q "^$1,.*\"$2\",\".*$3" "$work/out" || grep "^$1," "$work/out" || echo 'no row')"
}
row naive ok ''
row radix ok ''
row wrong_abi failed 'version 99'
row no_symbol failed 'no symbol agb_aggregator_no_symbol'
row wrong_name failed 'another_name'
row count_one_too_many wrong 'wrong at key .*: counted .*, right is'
row emits_twice wrong 'emitted twice: key 7'
row writes_past_buffer crashed 'segmentation fault (SIGSEGV) at address 0x[0-9a-f]* in phase build'
row crashes crashed 'segmentation fault (SIGSEGV) at address 0x0 (a null pointer) in phase build'
row never_returns timeout 'no answer after 1 s, in phase build'
row asks_too_much out-of-memory 'refused'
row leaves_memory failed 'unreleased'
row writes_to_descriptors failed 'it wrote to a file descriptor that is not its own'
row writes_on_load failed 'when it was loaded it wrote to a file descriptor that is not its own'
report 'what_a_plugin_writes_everywhere_is_not_in_the_report' "$(head -1 "$work/out" | grep -v ^aggregator,)"
row emits_as_nobody failed 'contract broken: it named a worker that there is not'
row crashes_on_load failed 'loading it ended in illegal instruction (SIGILL)'
row exits_on_load failed 'loading it ended in exit status 0'
row hangs_on_load failed 'loading it did not end within 1 s'
row aborts_at_exit ok ''
row kills_itself crashed 'killed (SIGKILL) in phase build'

# Named in the list, a broken one is a row at its place, too.
for plugin in wrong_abi no_symbol wrong_name crashes_on_load exits_on_load hangs_on_load; do
    # shellcheck disable=SC2086
    run run $rows --plugin "$BUILD/plugins/$plugin.so" --aggregator naive,$plugin:x=1,radix --timeout 1 --no-twin \
        --format csv $quick
    report "a_broken_plugin_that_is_named_is_a_row: $plugin" "$([ $code = 1 ] && [ ! -s "$work/err" ] &&
        [ "$(cut -d, -f1 "$work/out" | tr '\n' ' ')" = "aggregator naive $plugin radix " ] &&
        [ "$(grep -c '"ok"' "$work/out")" = 2 ] || cat "$work/out" "$work/err")"
done
refused 2 'nosuch|no such name' run $rows --plugin "$BUILD/plugins/wrong_abi.so" --aggregator naive,nosuch
for format in table csv; do
    # shellcheck disable=SC2086
    run run $rows --plugin "$BUILD/plugins/aborts_at_exit.so" --aggregator naive --format $format $quick
    report "a_plugin_that_aborts_at_the_end_hurts_nobody: $format" \
        "$([ $code = 0 ] && grep -q ^naive "$work/out" && grep -q ^aborts_at "$work/out" || cat "$work/out" "$work/err")"
done
run list --plugin "$BUILD/plugins/aborts_at_exit.so"
report 'such_a_plugin_is_listed' "$([ $code = 0 ] && grep -q aborts_at_exit "$work/out" || cat "$work/err")"

run verify --plugin "$BUILD/plugins/naive.so"
report 'a_plugin_of_a_taken_name_is_refused_in_one_sentence' \
    "$([ $code = 2 ] && grep -q '^aggbench: naive: an aggregator of that name' "$work/err" || cat "$work/out" "$work/err")"

for command in list describe load; do
    run $command --help
    report "help_offers_what_is_accepted: $command" "$([ $code = 0 ] && grep -q 'format table|json ' "$work/out" &&
        ! grep -q csv "$work/out" || cat "$work/out")"
done

# ---- Help, and reports of runs that are tiny or all wrong ----
run pivot --help
report 'what_can_be_left_out_stands_in_brackets' "$(grep -q '^aggbench pivot \[SOURCE\] \[OPTIONS\]$' "$work/out" ||
    head -1 "$work/out")"
run verify --help
report 'help_shows_the_defaults_of_the_command' "$(grep -q 'NAME\[:p=v...\]\]' "$work/out" &&
    tr -s '\n ' ' ' <"$work/out" | grep -q 'before it is ended (60)' || cat "$work/out")"
for default in 'run|(default) --memory-budget' 'pivot|(huge) --memory-budget' 'pivot|(naive,prefetch,radix)' \
    'load|neither read nor checked (all rows)' 'matrix|further cell that would end later than this; 0 = no limit (0)'; do
    run "${default%%|*}" --help
    report "help_tells_what_holds_for_the_command: $default" "$(tr -s '\n ' ' ' <"$work/out" |
        grep -qF "${default#*|}" || cat "$work/out")"
done
run run synth:hits,rows=1000 --aggregator naive,sort --quiet
report 'what_fits_in_a_cache_has_no_floor' "$(grep -qE '^naive .* cache ' "$work/out" && grep -q '^cache: ' "$work/out" ||
    cat "$work/out")"
# shellcheck disable=SC2086
run run synth:hits,rows=1000 --plugin "$BUILD/plugins/crashes.so" --aggregator crashes $quick
report 'where_all_fail_no_empty_table_stands' "$([ $code = 1 ] && ! grep -q 'page faults' "$work/out" || cat "$work/out")"
report 'where_all_fail_no_check_has_a_time' "$(grep -q '^check  .*(counted in [^)]*)$' "$work/out" || cat "$work/out")"

# ---- A part that is too large for the others to wait for it ----
for kind in same uniform; do
    # shellcheck disable=SC2086
    run run synth:$kind,rows=100k --aggregator radix --threads 2 $quick
    report "the_share_of_the_largest_part_is_said_where_it_matters: $kind" "$([ $code = 0 ] || cat "$work/err"
        found=$(grep -c '^note  *radix: the largest part has 100 % of what was partitioned' "$work/out")
        case $kind in same) [ "$found" = 1 ] ;; *) ! grep -q 'largest part' "$work/out" ;; esac || cat "$work/out")"
done

# ---- Spilling ----
spilling="synth:uniform,rows=300000,groups=300000 --aggregator spill --memory-budget 3M $quick"
mkdir "$work/spill"
# shellcheck disable=SC2086
run run $spilling --spill-folder "$work/spill" --format json
report 'spilling_leaves_nothing_in_its_folder' "$([ $code = 0 ] && grep -q '"spilled_bytes": [1-9]' "$work/out" ||
    cat "$work/err" "$work/out")$(ls "$work/spill")"
# shellcheck disable=SC2086
run run $spilling --spill-folder /proc
report 'spilling_goes_to_the_folder_that_was_named' "$([ $code = 1 ] && grep -q 'spill: /proc' "$work/out" || cat "$work/out")"

# shellcheck disable=SC2086
run run synth:hits,rows=1000 --aggregator spill,spill:bits=4 --memory-budget 200k --format csv $quick
report 'a_budget_too_small_for_spill_names_the_least_that_list_names' "$(for k in $(grep -o 'raise it to [0-9]*k' "$work/out" |
    grep -o '[0-9]*k'); do "$aggbench" list | grep -A7 '^  spill ' | grep -wo "$k"; done | tr '\n' ' ' >"$work/named"
    [ "$(cat "$work/named")" = '1801k 261k ' ] || cat "$work/named" "$work/out")"

# ---- Names that would act on a terminal, and a stack too small ----
escape=$(printf '\033')
printf '{"User\\u001b[31mID\\u0001":5}\n' >"$work/e${escape}vil.jsonl"
for command in describe "run $quick --group-by User$escape[31mID$(printf '\001') --aggregator naive"; do
    # shellcheck disable=SC2086
    run $command "$work/e${escape}vil.jsonl"
    report "control_bytes_are_shown_and_not_sent: ${command%% *}" "$(LC_ALL=C grep -n '[[:cntrl:]]' "$work/out")$(
        grep -qF 'User\x1b[31mID\x01' "$work/out" && grep -qF 'e\x1bvil.jsonl' "$work/out" || cat "$work/out" "$work/err")"
done
for stack in 32 64 128; do
    (ulimit -s $stack && "$aggbench" run $rows --repetitions 1 --quiet >"$work/out" 2>"$work/err")
    report "a_stack_too_small_is_one_sentence: $stack" "$(grep -q '^aggbench: the stack is limited' "$work/err" ||
        echo "not said: $(cat "$work/err" "$work/out")")"
done

# ---- An interrupted run leaves nothing behind ----
timeout --foreground -s INT 1 "$aggbench" run synth:hits,rows=3000000 --aggregator sort --repetitions 1000 --quiet \
    --output "$work/interrupted" >/dev/null 2>&1
code=$?
sleep 0.2
report 'an_interrupt_leaves_no_process_and_no_file' "$([ $code = 124 ] || echo "exit code $code")$(
    grep -l "${work##*/}/interr[u]pted" /proc/[0-9]*/cmdline 2>/dev/null)$(find "$work" -name 'interrupted*')"

# ---- Keys of several columns, and strings ----
cat >"$work/keys.csv" <<'END'
Who,What,N
ab,ab,1
a,bab,2
aba,b,3
ab,ab,1
"x,""y",,-5
NULL,é,7
END
# shellcheck disable=SC2086
run run "$work/keys.csv" --group-by Who,What --aggregator naive,prefetch,radix,sort --hash constant $quick \
    --groups "$work/groups.csv" --format json
cp "$work/groups.csv" "$work/got"
golden joined_strings_stay_apart_and_csv_fields_are_quoted <<'END'
Who,What,count
"NULL",é,1
a,bab,1
ab,ab,2
aba,b,1
"x,""y","",1
END
report 'four_aggregators_agree_with_any_hash' "$([ $code = 0 ] && [ "$(grep -c '"state": "ok"' "$work/out")" = 4 ] ||
    cat "$work/err" "$work/out")"
# shellcheck disable=SC2086
run run "$work/keys.csv" --group-by N,Who --where "N < '3' AND Who <> 'a'" --aggregator naive,best $quick --no-twin
sed -n '/count(\*)/,/^$/p; /^where/p; /^best/p' "$work/out" >"$work/got"
golden the_table_shows_each_column_and_who_was_skipped <<'END'
where      N < '3' AND Who <> 'a': 3 rows, selected inside the clock
best          skipped: it does not take string keys
N  Who        count(*)
1  ab                2
-5 x,"y              1

END
report 'a_skipped_contestant_is_no_failure' "$([ $code = 0 ] || echo "exit code $code")"
# shellcheck disable=SC2086
run run "$work/keys.csv" --group-by Who --aggregator best $quick
report 'but_none_that_took_part_is' "$([ $code = 1 ] || echo "exit code $code")"
# shellcheck disable=SC2086
run run synth:same,rows=10 --group-by UserID,UserID-1,UserID-2 --aggregator naive,best $quick
report 'numbers_that_fit_no_key_are_not_called_strings' \
    "$(grep -q '^best  *skipped: it does not take keys of more than 128 bits$' "$work/out" || cat "$work/out" "$work/err")"

# ---- A query of ClickBench by another program: of rows of which many meet it, groups 101 to 110 by awk and sort ----
awk 'BEGIN { srand(7); split("-1 6 -1 6 0 -2 5 7", source, " ")
             print "URLHash,EventDate,CounterID,IsRefresh,TraficSourceID,RefererHash"
             for (i = 0; i < 20000; i++) {
                 day = int(rand() * 36)
                 date = day < 3 ? "2013-06-" 28 + day : sprintf(day < 34 ? "2013-07-%02d" : "2013-08-%02d",
                                                                day < 34 ? day - 2 : day - 33)
                 printf "%s40%015d,%s,%d,%d,%s,359412000017254546%d\n", rand() < 0.4 ? "-" : "",
                        31 * int(40 * rand() * rand()), date, rand() < 0.8 ? 62 : 61, rand() < 0.2,
                        source[1 + int(rand() * 8)], rand() < 0.9 ? 5 : 6 } }' >"$work/q40.csv"
awk -F, 'NR > 1 && $3 == 62 && $2 >= "2013-07-01" && $2 <= "2013-07-31" && $4 == 0 && ($5 == "-1" || $5 == "6") &&
         $6 == "3594120000172545465" "" { count[$1 "," 15886 + substr($2, 9)]++ }
         END { for (key in count) print count[key] "," key }' "$work/q40.csv" |
    LC_ALL=C sort -t , -k 1,1nr -k 2,2n -k 3,3n | sed -n 101,110p >"$work/wanted"
# shellcheck disable=SC2086
run run "$work/q40.csv" --query 40 --aggregator naive $quick --format json
tr -d ' "\n' <"$work/out" | grep -o '{key:\[[^]]*\],count:[0-9]*' | sed 's/.*\[\(.*\)\],count:\(.*\)/\2,\1/' >"$work/got"
report a_list_of_clickbench_selects_as_awk_does "$(cat "$work/err"; [ "$(wc -l <"$work/wanted")" -eq 10 ] || echo few
    cmp "$work/wanted" "$work/got")"

# ---- Real rows ----
if [ -d "$samples/hits" ]; then
    for file in nano_hits.parquet hits_nano.tsv.zst hits_part; do
        # shellcheck disable=SC2086
        run run "$samples/hits/$file" --aggregator all --format json --top 1 $quick
        report "real_rows_are_counted_right: $file" "$([ $code = 0 ] && grep -q '"rows": 24586' "$work/out" &&
            [ "$(grep -c '"key": "-7918574344944952583"' "$work/out")" -ge 4 ] && grep -q '"count": 194' "$work/out" &&
            ! grep -q '"verified": false' "$work/out" || cat "$work/err")"
    done
    refused 2 'userid|did you mean|UserID' run "$samples/hits/nano_hits.parquet" --group-by userid
    refused 2 'URL = 5|bytes|single quotes' run "$samples/hits/nano_hits.parquet" --where 'URL = 5'
    for query in 7 12 14 15 16 17 33 34 35 36 37 38 40 41; do
        # shellcheck disable=SC2086
        run run "$samples/hits/nano_hits.parquet" --query $query --aggregator naive,radix $quick --format json
        report "clickbench_query_runs: $query" "$([ $code = 0 ] && grep -q "\"clickbench\": $query" "$work/out" &&
            [ "$(grep -c '"verified": true' "$work/out")" = 2 ] || cat "$work/err")"
    done
    for file in "$samples"/text/hits_2k.* "$samples"/hits/hits_2k.*; do
        [ -e "$file" ] || continue
        # shellcheck disable=SC2086
        run run "$file" --group-by EventDate,UserID,SearchPhrase --where "EventDate = '2013-07-15'" --aggregator radix \
            $quick --format json --top 3
        sed -n '/"checksum"/p; /"top": \[/,/^  *\],*$/p' "$work/out" >"$work/this"
        [ -e "$work/first" ] || cp "$work/this" "$work/first"
        report "every_text_format_gives_the_same_groups: ${file##*/}" "$([ $code = 0 ] && [ -s "$work/this" ] ||
            cat "$work/err")$(diff "$work/first" "$work/this")"
    done
else
    echo "skipped: samples folder $samples is not there (it is no part of the repository; AGB_SAMPLES names another)"
    echo '[  SKIPPED ] real_rows_are_counted_right'
fi

exit $failed
