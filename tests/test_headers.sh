#!/bin/sh
# SPDX-License-Identifier: MIT
# The installed headers as others' compilers see them: C and C++, strict, each by itself; and the contract's structures,
# which must be plain ones.
set -u
. "$(dirname "$0")/reporting.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

strict() {    # strict COMPILER STANDARD LANGUAGE
    for header in status aggregator aggbench loader; do
        echo "#include \"$header.h\"" | "$1" -x "$3" "-std=$2" -Wall -Wextra -pedantic -Werror -Iengine -fsyntax-only - 2>&1
    done
}
for compiler in cc clang; do
    command -v $compiler >/dev/null || continue
    report "every_header_is_strict_c11_for_$compiler" "$(strict $compiler c11 c)"
done
for compiler in c++ clang++; do
    if command -v $compiler >/dev/null; then
        report "every_header_is_strict_c++11_for_$compiler" "$(strict $compiler c++11 c++)"
    else
        skip "every_header_is_strict_c++11_for_$compiler" "$compiler is not there"
    fi
done

# Offsets and sizes as both languages see them, of all that plug-ins exchange with the host.
cat >"$work/layout.h" <<'END'
#include "aggregator.h"
#include <stdio.h>
#define SHOW(type, member) printf("%s.%s %zu\n", #type, #member, offsetof(type, member))
int main(void)
{
    SHOW(agb_bytes, length);
    SHOW(agb_batch, weights);
    SHOW(agb_param, about);
    SHOW(agb_config, params);
    SHOW(agb_config, caches);
    SHOW(agb_config, memory_budget);
    SHOW(agb_host, fetch);
    SHOW(agb_aggregator, traits);
    SHOW(agb_aggregator, destroy);
    printf("%zu %zu %zu\n", sizeof(agb_config), sizeof(agb_host), sizeof(agb_aggregator));
}
END
{
    cat "$work/layout.h"
    echo '#include <type_traits>'
    for type in agb_bytes agb_key agb_batch agb_param agb_hash agb_caches agb_config agb_host agb_aggregator; do
        echo "static_assert(std::is_standard_layout<$type>::value && std::is_trivial<$type>::value, \"$type\");"
    done
} >"$work/layout.cc"
cp "$work/layout.h" "$work/layout.c"
if command -v c++ >/dev/null; then
    report structures_are_plain_and_lie_alike_in_c_and_c++ "$(cc -Iengine "$work/layout.c" -o "$work/c" 2>&1
        c++ -std=c++11 -Iengine "$work/layout.cc" -o "$work/cc" 2>&1
        "$work/c" >"$work/c.out" && "$work/cc" | diff "$work/c.out" -)"
else
    skip structures_are_plain_and_lie_alike_in_c_and_c++ "c++ is not there"
fi
exit $failed
