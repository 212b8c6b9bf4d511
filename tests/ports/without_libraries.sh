#!/usr/bin/env bash
# without_libraries.sh -- built without hwloc, jansson, libpng, lz4 and libmicrohttpd: the unit tests,
# and the main commands; nothing is linked with them.
#
# Needs the packages of a build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-without_libraries

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DBOUMA_HWLOC=OFF -DBOUMA_JANSSON=OFF -DBOUMA_PNG=OFF -DBOUMA_LZ4=OFF \
    -DBOUMA_MICROHTTPD=OFF -DBOUMA_MPI=OFF -DBOUMA_WERROR=ON >"$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
ninja -C "$build" >"$build/log" 2>&1 || {
    grep -v '^\[' "$build/log"
    exit 1
}
ctest --test-dir "$build" -j "$(nproc)" -L '^(unit|golden|cli)$' --no-tests=error \
    --output-on-failure >"$build/log" 2>&1 || cat "$build/log"
sum=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$build/log")
failed=${sum% *} passed=$((${sum#* } - ${sum% *}))

check() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "without_libraries: FAILED: $what"
        failed=$((failed + 1))
    fi
}
says_what_is_missing() {
    "$build/bin/bouma" --version | grep -qx 'built without hwloc, jansson, libpng, lz4, libmicrohttpd'
}
needs_none_of_them() {
    ! readelf -d "$build/bin/bouma" "$build/libbouma.so" | grep -E 'NEEDED.*(hwloc|jansson|png|lz4|microhttpd)' &&
        ! grep -r hwloc "$build/bouma.pc"
}
includes_none_of_them() {
    ! ninja -C "$build" -t deps | grep -E '/(hwloc|jansson|png|lz4|microhttpd)\.h$'
}
refuses_lz4() {
    ! "$build/bin/bouma" import tests/idx/j3d_lz4/j3d_lz4.idx --into "$build/lz4.bouma" >"$build/log" 2>&1 &&
        grep -q 'compressed by lz4, which this program is built without' "$build/log"
}
refuses_to_serve() {
    local options
    for options in '' '--port 0' '--token 12345678 --open'; do
        # shellcheck disable=SC2086 # several words
        ! "$build/bin/bouma" serve tests/golden/v1/cube.bouma $options >"$build/log" 2>&1 &&
            grep -q 'built without libmicrohttpd' "$build/log" || return 1
    done
}
check "serve tells why it cannot" refuses_to_serve
check "an IDX dataset that needs lz4 is refused" refuses_lz4
check "bouma --version says what is missing" says_what_is_missing
check "no header of them is included" includes_none_of_them
check "none of them is linked" needs_none_of_them
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
