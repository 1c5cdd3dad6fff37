#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench new: which names it takes, that it writes over nothing, and that what it wrote is right as it is: as a plug-in
# built by the printed commands, and built in by being moved into aggregators/.
set -u
. "$(dirname "$0")/command.sh"
root=$(pwd)
case $aggbench in /*) ;; *) aggbench=$root/$aggbench ;; esac
cd "$work" || exit 1

for name in '' 9lives 'a b' mine.c a/b ../up 'ä' "$(printf %065d 0 | tr 0 a)" -x; do
    refused 2 "new" new -- "$name"
done
refused 2 'new: radix: a built-in strategy has that name' new radix
refused 2 'new: all: means every strategy' new all
refused 2 'new: mine.c: is no C identifier' new mine.c
refused 2 'NAME is missing' new
report nothing_was_written "$(ls | grep -vxE 'out|err')"

run new mine
report it_writes_a_file "$([ "$code" = 0 ] && [ -s mine.c ] || cat err)"
for heading in Idea Layout 'Cost per row' 'Where the slots should go' Try; do
    grep -q "^ \* $heading\$" mine.c || echo "$heading"
done >lacking
report it_has_the_five_headings "$(cat lacking)"
report it_is_the_template_under_another_name "$(sed 's/template/mine/g; s/ | AGB_EXAMPLE//' "$root/aggregators/template.c" |
    diff - mine.c)"
grep '^    ' out >commands
cp mine.c before.c
refused 1 'new: mine.c: is there already' new mine
ln -s nowhere.c link.c
refused 1 'new: link.c: is there already' new link
report nothing_is_written_over "$(cmp before.c mine.c; [ ! -e nowhere.c ] || echo it wrote through a link)"
sed -i 's/ run .*/& --repetitions 1 --counters off --quiet/; s/rows=10M/rows=20k/' commands
report the_printed_commands_build_verify_and_compare_it "$(sh -eu commands >log 2>&1 &&
    grep -q 'mine is right' log && grep -q '^mine ' log || cat log)"
mkdir locked && chmod 500 locked
if [ "$(id -u)" != 0 ]; then
    report a_folder_that_takes_no_file_is_said "$(cd locked && "$aggbench" new other 2>&1 | grep -v 'writing other.c: Perm')"
fi
for name in int linux host phases _; do    # none of them may clash with the text
    "$aggbench" new $name >steps 2>&1 && grep '^    cc' steps | sed 's/ cc / cc -Wall -Wextra -Werror /' >build &&
        sh -eu build 2>&1 || cat steps
done >log
report no_name_clashes_with_the_text "$(cat log)"

# ---- Built in ----
case $BUILD in *address* | *thread*) skip moved_into_aggregators_it_is_built_in "the objects of a sanitizer are too large to copy"; exit $failed ;; esac
mkdir -p tree/build "tree/$BUILD" && cd "$root" || exit 1
cp -a Makefile .ci engine loaders aggregators bench "$work/tree" && cp -a build/deps.mk "$work/tree/build" &&
    for part in "$BUILD"/*; do
        case $part in */tests | */plugins | */peers) ;; *) cp -a "$part" "$work/tree/$BUILD" ;; esac
    done
cp "$work/mine.c" "$work/tree/aggregators" && cd "$work/tree" || exit 1
make -s --no-print-directory B="$BUILD" all >"$work/log" 2>&1
aggbench=$work/tree/$BUILD/aggbench
report moved_into_aggregators_it_is_built_in "$("$aggbench" list >"$work/list" && grep -q "^ *mine " "$work/list" &&
    "$aggbench" verify mine >"$work/log" &&
    grep -q "mine is right" "$work/log" || cat "$work/log")"
# Directly in the build folder stand the lists that the Makefile makes of what there is.
report nothing_else_had_to_be_built "$(find "$BUILD" -mindepth 2 -name '*.o' -newer aggregators/mine.c |
    grep -vE '/(aggregators/mine|bench/machine)\.o$')"
exit $failed
