#!/bin/sh
# SPDX-License-Identifier: MIT
# aggbench verify: what it finds in plug-ins that each get one thing wrong, and the smallest input that it saves.
set -u
. "$(dirname "$0")/command.sh"

found() {    # found PLUGIN CHECK PATTERN: the kind of check fails; the joined output has the pattern
    run verify --plugin "$BUILD/plugins/$1.so" --check "$2" --save "$work/$1.agb" --timeout 20
    report "verify_finds: $1" "$([ "$code" = 1 ] && tr -s '\n ' ' ' <"$work/out" | grep -qE -- "FAILED $2 .*$3" ||
        cat "$work/out" "$work/err")"
}

found writes_to_batch guarded 'SIGSEGV\) at address 0x[0-9a-f]+ in phase build'
found reads_past_batch guarded 'SIGSEGV\) at address 0x[0-9a-f]+ in phase build'
found writes_before_block guarded 'contract broken: it wrote outside a block'
found loses_zero 'single keys' 'wrong at key 0: its group is missing, right is 1.*smallest: 1 row \(0\)'
found counts_in_32_bits weights 'counted 1705032704, right is 6000000000.*smallest: 2 rows \(1 x 3000000000, 1 x 3000000000\)'
found hides_failure failures 'allocation 3 refused: wrong at key .*its group is missing'
found forgets_workers workers 'on [23] workers: wrong at key'
found emits_twice batch\ sizes 'emitted twice'
found emits_as_nobody batch\ sizes 'contract broken: it named a worker that there is not'
found leaves_memory batch\ sizes 'unreleased'
found crashes batch\ sizes 'SIGSEGV\) at address 0x0 \(a null pointer\) in phase build.*smallest: 0 rows'
found kills_itself batch\ sizes 'SIGKILL'
found writes_to_descriptors 'single keys' 'it wrote to a file descriptor that is not its own'
found count_one_too_many key\ shapes 'all equal.*smallest: 1 row \(1\): wrong at key 1: counted 2, right is 1'

# ---- The saved input ----
run verify --plugin "$BUILD/plugins/loses_zero.so" --input "$work/loses_zero.agb"
report 'a_saved_input_fails_again' "$([ $code = 1 ] && grep -q '^FAILED *input .*wrong at key 0' "$work/out" ||
    cat "$work/out" "$work/err")"
run verify radix --input "$work/loses_zero.agb"
report 'and_a_right_aggregator_passes_it' "$([ $code = 0 ] && grep -q '^radix is right' "$work/out" ||
    cat "$work/out" "$work/err")"
run run "$work/loses_zero.agb" --group-by key --aggregator naive --quiet --repetitions 1
report 'a_saved_input_is_a_source' "$([ $code = 0 ] && grep -q '^rows  *1 in 1 groups of key' "$work/out" ||
    cat "$work/err")"
run verify --plugin "$BUILD/plugins/counts_in_32_bits.so" --input "$work/counts_in_32_bits.agb"
report 'its_weights_are_kept' "$([ $code = 1 ] && grep -q '1705032704' "$work/out" || cat "$work/out" "$work/err")"
run verify naive --input synth:zipf,rows=500 --group-by UserID
report 'any_source_can_be_the_input' "$([ $code = 0 ] || cat "$work/out" "$work/err")"
(cd "$work" && "$OLDPWD/$aggbench" verify --plugin "$OLDPWD/$BUILD/plugins/crashes.so" --check types >out 2>err)
report 'without_a_name_it_is_saved_beside' "$([ -s "$work/crashes-failing.agb" ] &&
    grep -q -- '--input crashes-failing.agb' "$work/out" || cat "$work/out" "$work/err")"
run verify --plugin "$BUILD/plugins/crashes.so" --check types --save /nonexistent/x.agb
report 'what_cannot_be_saved_is_said' "$([ $code = 1 ] && tr -s '\n ' ' ' <"$work/out" |
    grep -q 'not saved: .*/nonexistent' || cat "$work/out")"

refused 2 '--save: x.csv|.agb' verify radix --save x.csv
refused 2 '--group-by: a|--input' verify radix --group-by a
refused 2 '--check: guardet|did you mean guarded' verify radix --check guardet
# What is wrong with an input is not the aggregator's fault.
refused 1 'none.agb: no such file' verify radix --input "$work/none.agb"
refused 2 "no column 'key'|--group-by" verify radix --input synth:zipf,rows=500
refused 2 "no column 'UserId'" verify radix --input synth:zipf,rows=500 --group-by UserId
printf 'Word\na\n' >"$work/words.csv"
refused 2 'words.csv: radix_compressed: it does not take string keys' verify radix_compressed \
    --input "$work/words.csv" --group-by Word
exit $failed
