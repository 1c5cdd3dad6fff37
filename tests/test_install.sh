#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make install` puts there, used as its users use it: headers and libraries by a program, the command by a plug-in
# author, the manual and the completions by a shell; and what `make uninstall` leaves.
set -u
. "$(dirname "$0")/command.sh"
case $BUILD in *address* | *thread*) skip an_installed_tree "a build for a sanitizer is not meant to be installed"; exit 0 ;; esac
root=$work/root tree=$work/root/opt/agg
make_quietly() { MAKEFLAGS= make -s --no-print-directory B="$BUILD" DESTDIR="$root" PREFIX=/opt/agg "$@" >"$work/make" 2>&1 || cat "$work/make"; }

report it_installs "$(make_quietly install)"
PKG_CONFIG_PATH=$tree/lib/pkgconfig
export PKG_CONFIG_PATH

# ---- Libraries ----
exported() { nm -D --defined-only "$tree/lib/libaggbench.so" | sed 's/.* //; s/@.*//; /^AGGBENCH_/d' | sort; }
declared() {
    for header in aggbench aggregator loader status; do
        cc -E -P -I"$tree/include/aggbench" "$tree/include/aggbench/$header.h" | tr -d '\n' | tr ';{}' '\n\n\n' |
            grep -vE 'static inline|return|=' | grep -oE '\bagb_[a-z_0-9]+\(' | tr -d '('
    done | sort -u
}
declared >"$work/declared"
exported >"$work/exported"
report the_shared_library_exports_what_the_headers_declare_and_nothing_else "$(diff "$work/declared" "$work/exported")"
report it_carries_its_version_in_its_name \
    "$(readelf -d "$tree/lib/libaggbench.so" | grep -q 'SONAME.*libaggbench\.so\.[0-9]' || echo no version in SONAME)"
report the_static_library_takes_no_names_but_its_own \
    "$(nm -g --defined-only "$tree/lib/libaggbench.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^agb_/ {print $3}')"

# ---- Programs of one's own ----
build() {    # build static|shared EXAMPLE
    libs=$(pkg-config --libs aggbench)
    [ "$1" = shared ] || libs="$(pkg-config --static --libs aggbench | sed 's/-laggbench/-l:libaggbench.a/')"
    # shellcheck disable=SC2046,SC2086  # lists of words
    cc -Wall -Wextra -Werror "$tree/share/doc/aggbench/examples/$2.c" $(pkg-config --cflags aggbench) $libs \
        -o "$work/$2.$1" 2>&1
}
counted() { LD_LIBRARY_PATH=$tree/lib "$work/$@" 2>&1 | tr '\n' ' '; }
for kind in static shared; do
    report "a_program_counts_an_array_of_its_own_$kind" "$(build $kind count_array)$(
        got="$(counted count_array.$kind | tr ' ' '\n' | paste -d= - - | sort | xargs)"
        [ "$got" = '1=2 3=3 7=1' ] || echo "got $got")"
    report "a_program_counts_a_column_of_a_file_$kind" "$(build $kind count_column)$(
        printf 'UserID\n5\n6\n5\n' >"$work/in.csv"
        got="$(counted count_column.$kind "$work/in.csv" UserID)"; [ "$got" = '5 2 6 1 ' ] || echo "got $got")"
    report "a_program_streams_its_own_rows_$kind" "$(build $kind merge_counts)$(
        got="$(printf '7,3000000000\n-1,5\n7,3000000000\n' | counted merge_counts.$kind)"
        [ "$got" = '7,6000000000 -1,5 ' ] || echo "got $got")"
done
report it_merges_what_the_command_writes "$(for part in 1 2; do
        "$tree/bin/aggbench" run "$work/in.csv" --input-format csv --group-by UserID --aggregator naive --quiet \
            --repetitions 1 --counters off --groups "$work/part$part" >"$work/log" 2>&1 || cat "$work/log"
    done
    got="$(cat "$work/part1" "$work/part2" | counted merge_counts.shared)"
    [ "$got" = '5,4 6,2 ' ] || echo "got $got")"
report rows_without_a_key_are_merged_too "$(printf '%s\n' '{"UserID":5}' '{"UserID":null}' '{"UserID":null}' >"$work/in.jsonl"
    "$tree/bin/aggbench" run "$work/in.jsonl" --group-by UserID --aggregator naive --quiet --repetitions 1 \
        --counters off --groups "$work/part" >"$work/log" 2>&1 || cat "$work/log"
    got="$(cat "$work/part" "$work/part" | counted merge_counts.shared)"
    [ "$got" = 'NULL,4 5,2 ' ] || echo "got $got")"
report that_program_has_at_most_25_lines "$(grep -vc '^$\|^/\*\|^ \*' engine/examples/count_column.c |
    awk '$1 > 25')"
report a_wrong_column_is_one_sentence "$(got="$(counted count_column.shared "$work/in.csv" UserId)"
    case $got in *"did you mean 'UserID'"*) ;; *) echo "got $got" ;; esac)"
report a_column_of_strings_is_refused "$(printf 'Name\nx\n' >"$work/text.csv"
    got="$(counted count_column.shared "$work/text.csv" Name)"
    case $got in *'does not take string keys '*) ;; *) echo "got $got" ;; esac)"
report no_column_is_one_sentence "$(got="$(counted count_column.shared)"
    [ "$got" = 'count_column: which column of which file: count_column FILE COLUMN ' ] || echo "got $got")"
report a_damaged_stream_is_one_sentence "$(for line in 7,x 7 ,1 NULL, 7,1x 9223372036854775808,1; do
        got="$(echo "$line" | counted merge_counts.shared)"
        case $got in 'merge_counts: plan: stream: damaged'*) ;; *) echo "$line: got $got" ;; esac
    done)"

# ---- The command ----
report a_new_strategy_is_built_and_verified_from_the_installed_tree "$(cd "$work" && PATH=$tree/bin:$PATH &&
    aggbench new mine >steps && grep '^    ' steps >commands && grep -q "include/aggbench" commands &&
    sed -i 's/ run .*/& --repetitions 1 --counters off --quiet/; s/rows=10M/rows=20k/' commands &&
    sh -eu commands >log 2>&1 && grep -q 'mine is right' log && grep -q '^mine ' log || cat steps log)"
report the_manual_is_sound "$(grep -q '^\.SS "run SOURCE"' "$tree/share/man/man1/aggbench.1" || echo no section about run
    ! command -v mandoc >/dev/null || mandoc -Tlint -Wwarning "$tree/share/man/man1/aggbench.1" | grep -v 'missing date'
    ! command -v groff >/dev/null || groff -man -Tutf8 -ww "$tree/share/man/man1/aggbench.1" 2>&1 >/dev/null)"

completes() {    # completes WORDS...: what bash offers for the last one
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aggbench; echo "${COMPREPLY[*]}"' bash \
        "$tree/share/bash-completion/completions/aggbench" "$@" 2>&1
}
offers() { got="$(shift; completes "$@")"; [ "$got" = "$1" ] || echo "offered '$got' instead of '$1'"; }
report bash_completes_commands_options_and_values "$(offers describe aggbench desc; offers '--memory --memory-budget' \
    aggbench run --mem; offers 'warm fresh' aggbench run x --memory ''; offers fresh aggbench run x --memory = f
    offers prefetch aggbench run --aggregator pref; offers swiss aggbench verify sw; offers bandwidth aggbench lab band;
    offers '--help' aggbench new --h; offers 'lab' aggbench help la; offers '' aggbench run x --output a)"
if command -v zsh >/dev/null; then
    report zsh_reads_its_completion "$(zsh -n "$tree/share/zsh/site-functions/_aggbench" 2>&1)"
else
    skip zsh_reads_its_completion "zsh is not there"
fi

# ---- Makes below makes ----
# With -n nothing is made, but makes are run.
report a_make_below_another_shares_its_jobs "$(env -u MAKELEVEL -u MAKEFLAGS make -n -j2 peers 2>&1 | grep warning)"

# ---- Taking it away ----
echo mine >"$tree/include/aggbench/not_ours.h"
report it_uninstalls "$(make_quietly uninstall)"
report what_it_put_there_is_gone_and_nothing_else "$(find "$root" ! -type d | grep -v 'include/aggbench/not_ours.h'
    [ -f "$tree/include/aggbench/not_ours.h" ] || echo a file of somebody else is gone
    [ ! -d "$tree/share/doc/aggbench" ] || echo its folder is still there)"
report where_nothing_was_installed_there_is_nothing_to_say "$(make_quietly uninstall PREFIX=/never; cat "$work/make")"
exit $failed
