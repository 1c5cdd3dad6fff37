#!/bin/sh
# The rules of the map, checked instead of promised: who includes whom, what is never called, how large files may be.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

check() {    # check NAME: standard input is the list of offences
    found=$(cat)
    if [ -z "$found" ]; then
        echo "[       OK ] $1"
    else
        echo "$found"
        echo "[  FAILED  ] $1"
        return 1
    fi
}

includes() {    # includes FOLDER: its own-header includes as file:"header"
    grep -rnoE '#include "[^"]+"' "$1" --include='*.c' --include='*.h'
}

includes aggregators | grep -vE '"(aggregator|linear_table|[a-z_]+_part)\.h"' | check aggregators_see_only_the_contract || failed=1
includes engine | while IFS=: read -r file _ line; do
    header=$(printf %s "$line" | sed 's/.*"\(.*\)"/\1/')
    [ -f "engine/$header" ] || echo "$file includes $header"
done | check engine_sees_nobody || failed=1
includes loaders | grep -E '"(internal|batch|aggregator)\.h"' | check loaders_see_public_engine_headers_only || failed=1
includes bench | grep -E '"(internal|batch)\.h"' | check bench_sees_public_engine_headers_only || failed=1
grep -nE '\b(malloc|calloc|realloc|free|printf|fopen|clock_gettime|pthread_[a-z]+)\(' aggregators/*.c aggregators/*.h \
    aggregators/examples/*.c |
    check aggregators_call_no_system || failed=1
grep -nE '\b(printf|fprintf|puts|perror|exit|abort|getenv)\(' -r engine loaders --include='*.c' --include='*.h' \
    --exclude-dir=examples |
    grep -vE 'snprintf' | check libraries_never_print_or_exit || failed=1
grep -nE '^(static )?[a-z_]+[a-z_0-9 *]* = .*;$|^static [a-z_]+[a-z_0-9 *]*;$' -r engine loaders aggregators --include='*.c' |
    grep -vE '\bconst\b' | check no_mutable_globals || failed=1
for file in $(git ls-files -- '*.c' '*.h' 2>/dev/null); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 520 ] || echo "$file has $lines lines"
done | check files_stay_readable || failed=1
# But for the rows of tables, which cannot be broken: in prose, and as the program prints them.
git ls-files -- '*.c' '*.h' '*.md' Makefile 2>/dev/null | xargs grep -nHE '^.{121}' |
    awk '!/^[^:]*\.md:[0-9]+:(\||    )/ || /^[^:]*\.md:[0-9]+:    .*build\//' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1 has more than 120 columns/' | check lines_fit_120_columns || failed=1
for file in aggregators/*.c aggregators/examples/*.c; do
    for heading in Idea Layout 'Cost per row' 'Where the slots should go' Try; do
        grep -q "^ \* $heading\$" "$file" || echo "$file lacks the heading $heading"
    done
done | check every_aggregator_has_its_five_headings || failed=1
git grep -nIiE '\b(TODO|FIXME|XXX)\b' -- '*.c' '*.h' '*.sh' Makefile ':!tests/test_layers.sh' 2>/dev/null |
    check nothing_is_left_to_do || failed=1
exit $failed
