#!/bin/sh
# aggbench load as people use it: what it writes, what it says, and what it leaves when it is stopped.
. "$(dirname "$0")/command.sh"
folder=$work

result() {    # result NAME STATUS
    report "$1" "$([ "$2" = 0 ] || { echo "exit status $2:"; cat "$folder/out" "$folder/err" 2>/dev/null; })"
}

run() {    # run ARGUMENTS: keeps both outputs; the exit code is the command's
    "$aggbench" "$@" >"$folder/out" 2>"$folder/err"
}

groups() {    # groups SOURCE COLUMN: the answer about a column, as a file of all its groups
    "$aggbench" run "$1" --group-by "$2" --aggregator naive --repetitions 1 --warmup 0 --counters off --no-twin \
        --groups "$folder/groups" --format csv --output "$folder/report" >"$folder/out" 2>"$folder/err" &&
        cat "$folder/groups"
}

listing() {    # the files that were written, hidden ones included
    (cd "$folder/to" && ls -A)
}

lists() {    # lists FILE: there is this one and no other; without an argument: none
    [ "$(listing)" = "$*" ]
}

mkdir "$folder/to"
printf 'UserID\tURL\tRegionID\n1\ta\t5\n-2\tb\t5\n1\t\t6\n' >"$folder/in.tsv"

run load "$folder/in.tsv" --columns UserID,URL --output "$folder/to/a.agb" &&
    grep -q 'a.agb: 3 rows, 2 columns, .* loaded in .*, written in ' "$folder/out" &&
    [ ! -s "$folder/err" ] && lists a.agb
result says_what_it_wrote $?

groups "$folder/in.tsv" UserID >"$folder/wanted" && groups "$folder/to/a.agb" UserID | cmp -s - "$folder/wanted"
result the_answer_from_the_file_is_the_source_s $?

run describe "$folder/to/a.agb" && grep -q 'agb, 3 rows, 2 columns' "$folder/out" && ! grep -q RegionID "$folder/out"
result only_named_columns_are_written $?

run load "$folder/in.tsv" --output "$folder/to/a.agb" && run describe "$folder/to/a.agb" &&
    grep -q 'agb, 3 rows, 3 columns' "$folder/out"
result all_columns_are_written_when_none_is_named $?

for codec in auto zstd none; do
    run load synth:hits,rows=300000 --threads 2 --codec $codec --output "$folder/to/$codec.agb" || break
    groups "$folder/to/$codec.agb" UserID >"$folder/$codec" || break
done
groups synth:hits,rows=300000 UserID >"$folder/wanted"
cmp -s "$folder/wanted" "$folder/auto" && cmp -s "$folder/wanted" "$folder/zstd" &&
    cmp -s "$folder/wanted" "$folder/none" &&
    [ "$(wc -c <"$folder/to/zstd.agb")" -lt "$(wc -c <"$folder/to/none.agb")" ]
result every_codec_gives_the_same_answer $?

printf 'UserID\n1\n2\n' | run load - --columns UserID --output "$folder/to/a.agb" &&
    grep -q ' 2 rows, 1 column,' "$folder/out"
result standard_input_is_taken $?

printf '\001\0\0\0\0\0\0\0' >"$folder/one"
run load "$folder/one" --input-format raw --columns UserID --output "$folder/to/a.agb" &&
    grep -q ' 1 row, ' "$folder/out" && groups "$folder/to/a.agb" UserID | grep -q '^1,1$'
result an_input_format_is_taken $?

refuses() {    # refuses NAME CODE WORDS ARGUMENTS...: one sentence with these words, that exit code, no new file
    name=$1 code=$2 words=$3
    shift 3
    before=$(listing)
    run "$@"
    got=$?
    [ $got = "$code" ] && [ "$(wc -l <"$folder/err")" = 1 ] && grep -qF -- "$words" "$folder/err" &&
        [ ! -s "$folder/out" ] && [ "$before" = "$(listing)" ]
    result "$name" $?
}

refuses no_output 2 'load: --output is missing: give FILE.agb' load "$folder/in.tsv"
refuses no_source 2 'load: SOURCE is missing' load
nested=$samples/parquet-testing/data/null_list.parquet
[ ! -f "$nested" ] || refuses nothing_to_load 1 'it has no column that can be loaded' load "$nested" \
    --output "$folder/to/b.agb"
refuses another_ending 2 'its ending is of no format that can be written: end it in .agb' load "$folder/in.tsv" \
    --output "$folder/to/b.csv"
refuses a_misspelt_column 2 "did you mean 'UserID'" load "$folder/in.tsv" --columns userid --output "$folder/to/b.agb"
refuses an_empty_column 2 'columns: name number 2 is empty' load "$folder/in.tsv" \
    --columns UserID, --output "$folder/to/b.agb"
refuses a_column_twice 2 "columns: 'URL' is named twice" load "$folder/in.tsv" --columns URL,URL \
    --output "$folder/to/b.agb"
refuses another_codec 2 "codec 'lzo': choose auto, zstd or none" load "$folder/in.tsv" --codec lzo \
    --output "$folder/to/b.agb"
refuses no_folder 1 'No such file or directory' load "$folder/in.tsv" --output "$folder/nowhere/b.agb"
mkfifo "$folder/pipe.agb"
refuses a_pipe 2 'pipe.agb: it is no regular file' load "$folder/in.tsv" --output "$folder/pipe.agb"
refuses unnamed_columns_of_standard_input 2 '--columns is missing' load - --output "$folder/to/b.agb"
refuses a_missing_source 1 'no such file' load "$folder/none.tsv" --output "$folder/to/b.agb"

# A limit of the file's size stands for a full disk.
rm -f "$folder"/to/*
(
    trap '' XFSZ
    ulimit -f 100
    run load synth:hits,rows=300000 --output "$folder/to/a.agb"
)
[ $? = 1 ] && [ "$(wc -l <"$folder/err")" = 1 ] && grep -q 'a.agb: File too large' "$folder/err" && lists
result a_full_disk_leaves_nothing $?

# Stopped in the middle, where the unfinished file is to be seen; with more rows if it was too fast for that.
stop_by() {    # stop_by SIGNAL: the exit code of the command that was sent it
    for rows in 4000000 16000000; do
        rm -rf "$folder/to"
        mkdir "$folder/to"
        env --default-signal=HUP "$aggbench" load "synth:hits,rows=$rows" --codec zstd --output "$folder/to/a.agb" \
            >"$folder/out" 2>"$folder/err" &
        child=$!
        while kill -0 $child 2>/dev/null && lists; do
            sleep 0.01
        done
        kill "-$1" $child 2>/dev/null
        wait $child 2>/dev/null
        code=$?
        [ $code = 0 ] || break
    done
    return "$code"
}

for signal in TERM HUP; do
    stop_by $signal
    [ $? -gt 128 ] && lists && grep -q "^aggbench: load: interrupted by SIG$signal: nothing is written" "$folder/err"
    result "sig${signal}_removes_the_unfinished_file_and_says_so" $?
done

stop_by KILL
[ $? = 137 ] && [ ! -e "$folder/to/a.agb" ]
result sigKILL_leaves_nothing_under_the_name $?

exit $failed
