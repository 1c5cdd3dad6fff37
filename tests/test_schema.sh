#!/bin/sh
# SPDX-License-Identifier: MIT
# --schema: names and types for text that says neither, and what is wrong with them.
. "$(dirname "$0")/command.sh"

printf 'UserID uint64\r\nmy name\tbytes\n\n  Day date\n' >"$work/schema"
printf '18446744073709551615\t007\t2013-07-15\n1\t\t2013-07-15\n' >"$work/in.tsv"

groups() {    # groups SOURCE COLUMN: all groups of it by the schema, in $work/got
    run run "$1" --schema "$work/schema" --group-by "$2" --aggregator naive $quick --counters off \
        --groups "$work/got" --format csv --output "$work/report"
    [ "$code" = 0 ] || cat "$work/err" >"$work/got"
}

groups "$work/in.tsv" UserID
golden a_file_without_a_header_has_the_columns_of_the_schema <<EOF
key,count
1,1
18446744073709551615,1
EOF
groups "$work/in.tsv" 'my name'
golden bytes_keep_their_zeros <<EOF
key,count
"",1
007,1
EOF
groups "$work/in.tsv" Day
golden a_date_is_a_number_of_days <<EOF
key,count
15901,2
EOF

{ printf 'UserID\tmy name\tDay\n'; cat "$work/in.tsv"; } >"$work/header.tsv"
groups "$work/header.tsv" Day
golden a_first_row_of_the_schema_s_names_is_no_data <<EOF
key,count
15901,2
EOF
printf 'Day date\n' >"$work/day"
printf '2013-07-15\n2013-07-15' >"$work/lone"
run run "$work/lone" --schema "$work/day" --group-by Day --aggregator naive $quick --counters off --groups "$work/got" \
    --format csv --output "$work/report"
golden a_lone_column_without_a_header_is_text_where_there_is_a_schema <<EOF
key,count
15901,2
EOF
printf '{"Day":"2013-07-15","UserID":5,"my name":1}\n' >"$work/in.jsonl"
groups "$work/in.jsonl" 'my name'
golden json_lines_take_types_from_it_and_any_order_of_keys <<EOF
key,count
1,1
EOF

run describe "$work/in.tsv" --schema "$work/schema"
grep -q '1  UserID .* uint64 ' "$work/out" && grep -q 'columns as the schema says' "$work/out"
report describe_shows_the_schema_s_types "$([ $? = 0 ] || cat "$work/out" "$work/err")"
run load "$work/in.tsv" --schema "$work/schema" --output "$work/out.agb" --quiet
run describe "$work/out.agb"
grep -q '1  UserID .* uint64 ' "$work/out"
report load_writes_the_schema_s_types "$([ $? = 0 ] || cat "$work/out" "$work/err")"

printf 'id,URL\n007,a\n' >"$work/header.csv"
run describe "$work/header.csv"
grep -q '1  id .* bytes .* as nothing says more: a schema can' "$work/out"
report an_unknown_column_of_a_header_is_bytes_and_says_so "$([ $? = 0 ] || cat "$work/out" "$work/err")"

wrong() {    # wrong CODE WORDS SCHEMA-TEXT SOURCE: the schema is refused
    printf "$3" >"$work/wrong"
    refused "$1" "$2" describe "$4" --schema "$work/wrong"
}

file="aggbench: $work/wrong:"
wrong 2 "$file line 2: type 'int' of column 'b'|choose int16, int32" 'a int64\nb int\n' "$work/in.tsv"
for command in 'run -' 'load - --columns a --dry-run' "run $work/in.jsonl" "load $work/in.jsonl --dry-run"; do
    # shellcheck disable=SC2086
    echo 1 | "$aggbench" $command --schema "$work/wrong" --input-format jsonl >"$work/out" 2>"$work/err"
    report "what is wrong in a schema is found by its file's name: $command" "$(
        [ "$(cat "$work/err")" = "$file line 2: type 'int' of column 'b' is not known: choose int16, int32, \
int64, uint32, uint64, date, time or bytes" ] || cat "$work/err" "$work/out")"
done
wrong 2 "$file line 1: 'a': its type is missing: write NAME TYPE" 'a\n' "$work/in.tsv"
wrong 2 'write NAME TYPE' "$(printf '%2000s' '' | tr ' ' x)" "$work/in.tsv"    # found by the fuzzer: the advice was cut off
wrong 2 "$file column 'a' is there twice" 'a int64\na bytes\nb bytes' "$work/in.tsv"
wrong 2 "$file it names no column" '\n \n' "$work/in.tsv"
wrong 1 'in.tsv: line 1: 3 fields where the schema has 2 columns' 'a int64\nb bytes' "$work/in.tsv"
wrong 2 'no text: it holds a NUL byte' 'a int64\000' "$work/in.tsv"
wrong 2 'synth:hits,rows=10000: a schema is given, but synth names and types its own columns' 'a int64' $rows
refused 1 '--schema: /nonexistent: No such file' run "$work/in.tsv" --schema /nonexistent
printf 'UserID uint32\nb bytes\nc date' >"$work/wrong"
refused 1 "line 1: column 'UserID': \"18446744073709551615\"|within 0..4294967295" run "$work/in.tsv" \
    --schema "$work/wrong" --group-by UserID --aggregator naive $quick

exit $failed
