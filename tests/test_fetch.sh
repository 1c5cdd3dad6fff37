#!/bin/sh
# SPDX-License-Identifier: MIT
# data/fetch against a small web server on this machine: whole, cut, lying and missing files.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
for program in python3 curl; do
    if ! command -v $program >/dev/null 2>&1; then
        echo "skipped: data/fetch is not tested: $program is not there"
        echo '[  SKIPPED ] fetch'
        exit 0
    fi
done

work=$(mktemp -d) || exit 1
failed=0
python3 "$root/tests/range_server.py" "$work/site" "$work/port" "$work/log" &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT

# A file that begins and ends as Parquet does, and a program that counts its rows.
mkdir -p "$work/site/athena_partitioned"
{ printf PAR1; head -c 300000 /dev/urandom; printf PAR1; } >"$work/site/hits.parquet"
cp "$work/site/hits.parquet" "$work/site/athena_partitioned/hits_0.parquet"
cp "$work/site/hits.parquet" "$work/site/athena_partitioned/hits_1.parquet"
head -c 5000 /dev/zero >"$work/site/athena_partitioned/hits_2.parquet"
printf '1\t2\n' | gzip >"$work/site/hits.tsv.gz"
printf '#!/bin/sh\necho "{\\"aggbench\\": 1,"\necho "  \\"rows\\": 24586,"\necho "}"\n' >"$work/counts"
printf '#!/bin/sh\necho "aggbench: page 3 is damaged" >&2\nexit 1\n' >"$work/refuses"
chmod +x "$work/counts" "$work/refuses"

tries=0
while [ ! -s "$work/port" ] && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
port=$(cat "$work/port")

fetch() {    # fetch MODE ARGUMENTS...: output to $work/out, status in $status
    mode=$1
    shift
    : >"$work/log"
    AGGBENCH_DATA_URL=http://127.0.0.1:$port/$mode AGGBENCH_FETCH_PAUSE=0 AGGBENCH=$program PATH=$path \
        /bin/sh "$root/data/fetch" "$@" >"$work/out" 2>&1
    status=$?
}

check() {    # check NAME CONDITION...: one test
    name=$1
    shift
    if "$@"; then
        echo "[       OK ] $name"
    else
        failed=1
        echo "status $status, output:"
        cat "$work/out" "$work/log"
        echo "[  FAILED  ] $name"
    fi
}

says() {    # says STATUS WORDS: one line of output with these words (a pattern), and this exit status
    [ "$status" = "$1" ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q -- "$2" "$work/out"
}

same() {
    cmp -s "$1" "$2" && [ ! -e "$2.part" ] && [ ! -e "$2.part.edition" ]
}

program=$work/counts path=$PATH
fetch good parquet --to "$work/a"
check whole_file_arrives same "$work/site/hits.parquet" "$work/a/hits.parquet"
check its_size_and_rows_are_told says 0 'hits.parquet: 300008 bytes, 24586 rows'
fetch good parquet --to "$work/a"
check second_time_nothing_is_downloaded says 0 'already there'
check and_no_get_was_sent sh -c "! grep -q GET '$work/log'"

printf x >>"$work/a/hits.parquet"
fetch good parquet --to "$work/a"
check other_file_of_that_name_is_left_alone says 1 'has 300009 bytes, the server.s has 300008: move it away'

fetch cut parquet --to "$work/b"
check cut_download_is_continued same "$work/site/hits.parquet" "$work/b/hits.parquet"
check by_asking_for_the_rest_only grep -q 'GET .*bytes=150004-' "$work/log"

fetch short parquet --to "$work/c"
check truncated_answers_are_refused says 1 'of 300008 bytes after 5 attempts.*again to continue'
check and_keep_no_proper_name [ ! -e "$work/c/hits.parquet" ]
fetch good parquet --to "$work/c"
check a_later_run_continues_the_part same "$work/site/hits.parquet" "$work/c/hits.parquet"
check with_a_byte_range grep -q 'GET .*bytes=[1-9]' "$work/log"

mkdir "$work/d"
head -c 1000 /dev/zero >"$work/d/hits.parquet.part"
fetch good parquet --to "$work/d"
check part_of_another_edition_is_not_continued same "$work/site/hits.parquet" "$work/d/hits.parquet"

mkdir "$work/e"
head -c 1000 "$work/site/hits.parquet" >"$work/e/hits.parquet.part"
echo '300008 "300008"' >"$work/e/hits.parquet.part.edition"
fetch norange parquet --to "$work/e"
check server_without_ranges_starts_again same "$work/site/hits.parquet" "$work/e/hits.parquet"

rm "$work/site/hits.parquet"
fetch good parquet --to "$work/f"
check missing_file_is_named says 1 'hits.parquet: .*404.*check the address'
cp "$work/site/athena_partitioned/hits_0.parquet" "$work/site/hits.parquet"
fetch huge parquet --to "$work/f"
check too_little_room_is_told_before says 1 '1000000000000000 bytes are needed and only [0-9]* are free'
fetch nolength parquet --to "$work/f"
check unknown_length_is_refused says 1 'does not say how long'
check and_nothing_was_written [ -z "$(ls "$work/f")" ]

fetch good partitioned 2 --to "$work/g"
check first_partitions_arrive same "$work/site/hits.parquet" "$work/g/hits/hits_1.parquet"
check and_no_more_than_asked [ ! -e "$work/g/hits/hits_2.parquet" ]
fetch good partitioned 3 --to "$work/g"
check what_is_no_parquet_is_refused grep -q 'hits_2.parquet.part: is no Parquet file' "$work/out"
check and_gets_no_proper_name [ ! -e "$work/g/hits/hits_2.parquet" ]

fetch good tsv --to "$work/h"
check text_arrives_compressed same "$work/site/hits.tsv.gz" "$work/h/hits.tsv.gz"
head -c 20 "$work/h/hits.tsv.gz" >"$work/site/hits.tsv.gz"
fetch good tsv --to "$work/i"
check cut_gzip_is_refused says 1 'no whole gzip file'

program=$work/refuses
fetch good parquet --to "$work/j"
check what_aggbench_refuses_gets_no_name says 1 'aggbench cannot read it: aggbench: page 3 is damaged'
program=$work/nowhere
fetch good parquet --to "$work/k"
check without_aggbench_rows_are_not_counted says 0 'rows not counted'

if command -v wget >/dev/null 2>&1; then    # a PATH that has wget and no curl
    mkdir "$work/tools"
    for tool in awk cat cut df dirname grep gzip head mkdir mktemp mv rm sed sleep tail tr wc wget; do
        ln -s "$(command -v $tool)" "$work/tools/$tool"
    done
    program=$work/counts path=$work/tools
    fetch cut partitioned 1 --to "$work/l"
    check wget_also_continues_a_cut_download same "$work/site/hits.parquet" "$work/l/hits/hits_0.parquet"
    fetch short parquet --to "$work/l"
    check wget_also_refuses_truncated_answers says 1 'after 5 attempts'
    fetch good/none parquet --to "$work/l"
    check wget_also_names_a_missing_file says 1 '404'
    path=$PATH
else
    echo 'skipped: data/fetch with wget is not tested: wget is not there'
fi

fetch good parquet --to /proc/nowhere
check unwritable_folder_is_named says 1 '/proc/nowhere: cannot be written to'
fetch good
check form_has_to_be_said says 2 'parquet, partitioned or tsv'
fetch good partitioned 101
check too_many_files_are_refused says 2 '1..100'
fetch good parquet --colour
check unknown_option_is_refused says 2 'colour: unknown'
fetch good --help
check help_is_given grep -q 'usage: data/fetch' "$work/out"
exit $failed
