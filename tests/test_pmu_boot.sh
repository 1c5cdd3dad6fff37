#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make test-pmu` says where it cannot run. That it can is what it shows itself.
. "$(dirname "$0")/command.sh"
mkdir "$work/tools"
for tool in cat dirname id grep mkdir rm sed date gzip find; do
    ln -s "$(command -v $tool)" "$work/tools/$tool"
done

boot() {    # boot: the script with those tools only
    PATH=$work/tools AGB_PMU_WORK=$work/pmu "$(command -v sh)" tests/pmu/boot.sh >"$work/out" 2>"$work/err"
    code=$?
}

says() {    # says NAME WORDS: it failed, and its last line has the words
    problem=
    [ "$code" = 1 ] || problem="exit code $code"
    tail -1 "$work/err" | grep -qF -- "$2" || problem="$problem; '$2' is not in: $(cat "$work/err")"
    report "$1" "$problem"
}

fake() {    # fake TOOL SCRIPT
    printf '#!/bin/sh\n%s\n' "$2" >"$work/tools/$1"
    chmod +x "$work/tools/$1"
}

boot
says without_tools_and_apt_it_names_what_it_needs 'pmu: needs qemu-system-arm gcc-aarch64-linux-gnu'
fake apt-get 'exit 100'
fake sudo 'exec "$@"'
boot
says tools_that_cannot_be_installed_end_it 'pmu: cannot install qemu-system-arm'
fake qemu-system-aarch64 'exit 1'
fake aarch64-linux-gnu-gcc 'echo 12'
fake cpio 'exit 1'
boot
says without_a_network_it_fails_and_says_so 'pmu: cannot read the lists of arm64 packages: is there a network'
fake apt-get 'exit 0'
fake apt-cache 'exit 0'
boot
says lists_without_the_kernel_end_it 'pmu: apt knows no package linux-image-cloud-arm64'
fake apt-cache 'echo "  Depends: linux-image-6-arm64"'
fake apt-get 'case "$*" in *download*) exit 100 ;; esac'
boot
says packages_that_cannot_be_fetched_end_it 'pmu: cannot fetch the arm64 packages'

exit $failed
