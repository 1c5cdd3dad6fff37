#!/bin/sh
# Pipes as a SOURCE, by whatever name: opened once, read once, and never waited for where a file was meant.
. "$(dirname "$0")/command.sh"
folder=$work

result() {    # result NAME STATUS
    report "$1" "$([ "$2" = 0 ] || { echo "exit status $2:"; cat "$folder/out" "$folder/err" 2>/dev/null; })"
}

bench() {    # bench COMMAND SOURCE ARGUMENTS: a hang ends in the exit code 124
    timeout 60 "$aggbench" "$@" >"$folder/out" 2>"$folder/err"
}

answer() {    # answer SOURCE: all groups of a run, from the largest count
    bench run "$1" --group-by UserID --aggregator naive,radix --repetitions 2 --counters off --quiet \
        --groups "$folder/groups" && cat "$folder/groups"
}

# Small ones fit a pipe's buffer and the program's first look; large ones neither.
for rows in 3 300000; do
    seq "$rows" | sed '1i UserID' >"$folder/in.csv"
    answer "$folder/in.csv" >"$folder/wanted"
    [ "$(wc -l <"$folder/wanted")" = $((rows + 1)) ]
    result "a_file_of_${rows}_rows_has_an_answer" $?

    cat "$folder/in.csv" | answer - | cmp -s - "$folder/wanted"
    result "a_dash_gives_all_of_${rows}_rows" $?
    cat "$folder/in.csv" | answer /dev/stdin | cmp -s - "$folder/wanted"
    result "standard_input_by_name_gives_all_of_${rows}_rows" $?
    cat "$folder/in.csv" | answer /dev/fd/3 3<&0 | cmp -s - "$folder/wanted"
    result "a_descriptor_by_name_gives_all_of_${rows}_rows" $?
    answer /dev/stdin <"$folder/in.csv" | cmp -s - "$folder/wanted"
    result "a_redirected_file_by_name_gives_all_of_${rows}_rows" $?

    rm -f "$folder/fifo"
    mkfifo "$folder/fifo"
    cat "$folder/in.csv" >"$folder/fifo" &
    answer "$folder/fifo" | cmp -s - "$folder/wanted"
    result "a_named_pipe_gives_all_of_${rows}_rows" $?

    cat "$folder/in.csv" | bench load /dev/stdin --columns UserID --output "$folder/out.agb" &&
        answer "$folder/out.agb" | cmp -s - "$folder/wanted"
    result "load_takes_all_of_${rows}_rows" $?
    cat "$folder/in.csv" | bench describe /dev/stdin && grep -q ' 1 column' "$folder/out"
    result "describe_looks_into_a_pipe_of_${rows}_rows" $?
done

cat "$folder/in.csv" | bench load /dev/stdin --output "$folder/none.agb"
[ $? = 2 ] && grep -q 'columns is missing: with a pipe' "$folder/err" && [ ! -e "$folder/none.agb" ]
result unnamed_columns_of_a_pipe_are_refused $?

cat "$folder/in.csv" | bench run /dev/stdin --group-by Nobody --aggregator naive --quiet
[ $? != 124 ] && [ "$(wc -l <"$folder/err")" = 1 ] && grep -q "no column 'Nobody'" "$folder/err"
result a_missing_column_of_a_pipe_is_told $?

printf 'device bytes\nname bytes\n' >"$folder/schema"
for threads in 1 2; do
    bench load /proc/filesystems --input-format tsv --schema "$folder/schema" --output "$folder/out.agb" \
        --threads $threads && grep -q ": $(wc -l </proc/filesystems) rows" "$folder/out"
    result "a_file_that_hides_its_size_gives_all_of_its_rows_to_${threads}_threads" $?
done

mkdir "$folder/mixed"
cp "$folder/in.csv" "$folder/mixed/a.csv"
mkfifo "$folder/mixed/b.csv"
for source in "$folder/mixed" "$folder/mixed/*"; do
    bench run "$source" --group-by UserID --aggregator naive --quiet
    [ $? = 1 ] && [ "$(wc -l <"$folder/err")" = 1 ] && grep -q 'b.csv. in it is not a regular file' "$folder/err"
    result "nobody_waits_for_a_pipe_in_${source##*/}" $?
done

exit $failed
