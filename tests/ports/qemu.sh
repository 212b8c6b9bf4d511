#!/usr/bin/env bash
# qemu.sh [ARCHITECTURE...] -- the tests with the label portable (golden files,
# codecs, trees, byte orders) on other processors: arm64, and s390x, which is
# big-endian.
# They are built by Debian's cross compilers and run by qemu-user.
#
# Needs the packages gcc-aarch64-linux-gnu gcc-s390x-linux-gnu qemu-user-static
# cmake ninja-build pkg-config; the libraries are downloaded (see sysroot.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- arm64 s390x

passed=0 failed=0

for arch in "$@"; do
    case $arch in
    arm64) processor=aarch64 ;;
    s390x) processor=s390x ;;
    *) echo "qemu.sh: arm64 and s390x are known, not $arch" >&2; exit 2 ;;
    esac
    triple=$processor-linux-gnu
    emulator=$(command -v qemu-$processor-static || command -v qemu-$processor || true)
    if ! command -v $triple-gcc >/dev/null || [ -z "$emulator" ]; then
        echo "skipped: gcc-$triple or qemu-user-static is not installed"
        exit 77
    fi
    build=$PWD/build-qemu/$arch
    sysroot=$PWD/build-qemu/$arch-sysroot
    tests/ports/sysroot.sh "$arch" "$sysroot"
    libraries=$sysroot/usr/lib/$triple:$sysroot/lib/$triple

    mkdir -p "$build"
    cat >"$build/toolchain.cmake.new" <<TOOLCHAIN
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $processor)
set(CMAKE_C_COMPILER $triple-gcc)
set(CMAKE_FIND_ROOT_PATH $sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_C_FLAGS_INIT "-isystem $sysroot/usr/include/$triple")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,$libraries -L$sysroot/lib/$triple")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,-rpath-link,$libraries -L$sysroot/lib/$triple")
set(CMAKE_CROSSCOMPILING_EMULATOR $emulator -L /usr/$triple -E LD_LIBRARY_PATH=$libraries)
set(ENV{PKG_CONFIG_LIBDIR} $sysroot/usr/lib/$triple/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $sysroot)
TOOLCHAIN
    cmp -s "$build/toolchain.cmake.new" "$build/toolchain.cmake" || mv "$build/toolchain.cmake.new" "$build/toolchain.cmake"
    cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DBOUMA_MPI=OFF -DBOUMA_WERROR=ON >"$build/log" 2>&1 || {
        cat "$build/log"
        exit 1
    }
    ninja -C "$build" tests_portable >"$build/log" 2>&1 || {
        grep -v '^\[' "$build/log"
        exit 1
    }
    ctest --test-dir "$build" -j "$(nproc)" -L '^portable$' --no-tests=error \
        --output-on-failure >"$build/log" 2>&1 || cat "$build/log"
    sum=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$build/log")
    echo "$arch: $((${sum#* } - ${sum% *})) of ${sum#* } tests passed"
    passed=$((passed + ${sum#* } - ${sum% *})) failed=$((failed + ${sum% *}))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
