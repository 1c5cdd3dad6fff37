#!/bin/sh
# SPDX-License-Identifier: MIT
# Plug-ins in other languages than C, and those of the author's guide, are right: as far as their compilers and libraries
# are there. `make plugins` builds them and runs this.
set -u
. "$(dirname "$0")/command.sh"

right() {    # right SOURCE PLUGIN
    name=$(basename "$2" .so)_is_right
    if [ ! -f "$2" ]; then
        skip "$name" "$1: its compiler or its library is not there"
        return
    fi
    run verify --plugin "$2"
    report "$name" "$([ "$code" = 0 ] && grep -q 'is right: [1-9]' "$work/out" || cat "$work/out" "$work/err")"
}
for source in aggregators/examples/*; do
    stem=$(basename "$source")
    right "$source" "$BUILD/plugins/${stem%.*}.so"
done
for source in bench/peers/*.cc; do
    right "$source" "$BUILD/peers/$(basename "$source" .cc).so"
done
exit $failed
