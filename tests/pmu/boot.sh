#!/bin/sh
# Tries the counters on a PMU where there is none: boots a small aarch64 Linux in qemu, whose software emulation has a
# PMU that the kernel drives like a real one, with tests/pmu/init.c as its only process. Two boots: one that counts
# instructions exactly, one whose instruction counter stays silent. No accelerator and no rights in the machine needed.
#
# Kernel and arm64 libraries are packages of this system's own apt sources, fetched into build/pmu with lists and state
# of their own: nothing foreign is installed. qemu and the cross compiler are installed where they are missing. Whatever
# cannot be had ends it with a sentence and exit code 1, and so do boots that take a third minute: it never passes
# without both.
set -eu
cd "$(dirname "$0")/../.."
work=${AGB_PMU_WORK:-$PWD/build/pmu}
triple=aarch64-linux-gnu
sysroot=$work/sysroot/usr
tools='qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross cpio pkg-config'
mkdir -p "$work"

fail() {
    echo "pmu: $*" >&2
    exit 1
}

install_tools() {
    command -v qemu-system-aarch64 >/dev/null && command -v $triple-gcc >/dev/null && command -v cpio >/dev/null &&
        return
    command -v apt-get >/dev/null || fail "needs $tools (Debian's names): install them and run again"
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    [ -z "$as_root" ] || command -v sudo >/dev/null || fail "needs $tools: install them as root and run again"
    echo "pmu: installing $tools" >&2
    # shellcheck disable=SC2086  # a list of words
    $as_root apt-get install -y --no-install-recommends $tools >&2 ||
        { $as_root apt-get update >&2 && $as_root apt-get install -y --no-install-recommends $tools >&2; } ||
        fail "cannot install $tools: is there a network, and does apt have sources with them"
}

# apt for arm64, beside the system's own and without its rights
apt_arm64() {
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    : >"$work/apt/status"
    cat >"$work/apt/conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::State::Lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt/cache";
EOF
    apt=$1
    shift
    APT_CONFIG=$work/apt/conf "$apt" -q "$@"
}

# The development packages that .ci/deps names, without those of the compiler and the tests; and what snappy needs
libraries() {
    sed -n "/^needed=/,/^optional=/s/.* \(lib[a-z0-9]*-dev\|zlib1g-dev\|libpfm4-dev\)'\{0,1\}$/\1/p" .ci/deps |
        grep -v 'libc6-dev\|libcmocka-dev'
    echo "libstdc++-$($triple-gcc -dumpversion)-dev"
}

fetch() {
    [ "$(libraries)" = "$(cat "$work/fetched" 2>/dev/null)" ] && return    # the same list as last time
    echo "pmu: fetching an arm64 kernel and libraries" >&2
    apt_arm64 apt-get update >&2 || fail "cannot read the lists of arm64 packages: is there a network"
    kernel=$(apt_arm64 apt-cache depends linux-image-cloud-arm64 2>/dev/null |
        sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p')
    [ -n "$kernel" ] ||
        fail "apt knows no package linux-image-cloud-arm64: is there a network, and are its sources Debian's"
    rm -rf "$work/packages" "$work/sysroot" "$work/kernel"
    mkdir "$work/packages"
    wanted=$(libraries)
    # shellcheck disable=SC2086
    (cd "$work/packages" && apt_arm64 apt-get download "$kernel" $wanted >&2) ||
        fail "cannot fetch the arm64 packages: is there a network"
    for package in "$work"/packages/*.deb; do
        case $package in
        */linux-image*) dpkg -x "$package" "$work/kernel" ;;
        *) dpkg -x "$package" "$work/sysroot" ;;
        esac
    done
    for archive in "$sysroot/lib/$triple"/*_s.a; do    # yajl's name for its static library
        [ ! -f "$archive" ] || ln -sf "$archive" "${archive%_s.a}.a"
    done
    libraries >"$work/fetched"
}

build() {
    modules=$(sed -n "s/^modules='\(.*\)'$/\1/p" .ci/deps)
    # shellcheck disable=SC2086  # a list of words
    libraries=$(PKG_CONFIG_LIBDIR=$sysroot/lib/$triple/pkgconfig pkg-config --static --libs-only-l $modules) ||
        fail "a library of .ci/deps is not among the fetched packages"
    static="-L$sysroot/lib/$triple -L$sysroot/lib/gcc/$triple/$($triple-gcc -dumpversion)"
    make --no-print-directory CC=$triple-gcc MARCH= OPT=-O1 B="build/pmu/objects" DEPS_PFM=yes DEPS_VALGRIND= \
        DEPS_CFLAGS="-isystem $sysroot/include -isystem $sysroot/include/$triple" \
        LDFLAGS="-static -pthread $static" \
        DEPS_LIBS="-Wl,--start-group $libraries -lpfm -lstdc++ -Wl,--end-group" \
        build/pmu/objects/tests/pmu/init build/pmu/objects/aggbench >"$work/build.log" 2>&1 ||
        { cat "$work/build.log" >&2; fail "the arm64 build failed"; }
}

pack() {
    rm -rf "$work/root"
    mkdir -p "$work/root"
    cp build/pmu/objects/tests/pmu/init build/pmu/objects/aggbench "$work/root"
    (cd "$work/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"
}

# boot NAME KERNEL-ARGUMENTS QEMU-OPTIONS...: its console in NAME.log; true when its closing line says 0 failed
boot() {
    name=$1 arguments=$2
    shift 2
    left=$((end - $(date +%s)))
    [ "$left" -gt 0 ] ||
        fail "boot $name: the three minutes that both boots may take are over: is this machine overloaded"
    echo "pmu: booting: $name" >&2
    timeout "$left" qemu-system-aarch64 -M virt -cpu neoverse-n1 -m 1024 -nographic -no-reboot -nic none "$@" \
        -kernel "$(ls "$work"/kernel/boot/vmlinuz-*)" -initrd "$work/initrd.gz" \
        -append "console=ttyAMA0 quiet panic=-1 rdinit=/init $arguments" </dev/null >"$work/$name.log" 2>&1 || true
    tr -d '\r' <"$work/$name.log" | grep -v 'reboot: Power down'
    grep -q '^pmu: [0-9]* passed, [0-9]* failed' "$work/$name.log" ||
        echo "pmu: boot $name: it has no closing line: too slow for $left s, or a crash: see $work/$name.log" >&2
    grep -q '^pmu: [1-9][0-9]* passed, 0 failed' "$work/$name.log"
}

install_tools
fetch
build
pack
status=0
end=$(($(date +%s) + 180))
boot counting "" -icount shift=1 || status=1
boot silent pmu=silent || status=1
exit $status
