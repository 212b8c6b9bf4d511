#!/usr/bin/env bash
# fast_math.sh -- built with -Ofast -march=native, the format stays what it is:
# the tests with the label arithmetic (golden files, codecs, trees); and a program that is linked
# with -Ofast writes and reads denormal numbers.
#
# Needs the packages of a build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-fast_math

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-Ofast -march=native -funroll-loops" \
    -DCMAKE_C_FLAGS_RELEASE="-Ofast -DNDEBUG" -DBOUMA_MPI=OFF -DBOUMA_WERROR=ON >"$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
ninja -C "$build" bouma tests_arithmetic >"$build/log" 2>&1 || {
    grep -v '^\[' "$build/log"
    exit 1
}
ctest --test-dir "$build" -j "$(nproc)" -L '^arithmetic$' --no-tests=error \
    --output-on-failure >"$build/log" 2>&1 || cat "$build/log"
sum=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$build/log")
failed=${sum% *} passed=$((${sum#* } - ${sum% *}))

# program NAME FLAGS...: a test that is compiled and linked as a user's program.
program() {
    local name=$1
    shift
    if "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Iinclude -Itests/ports "$@" -Wl,-rpath,"$build" -o "$build/$name" \
        -L"$build" -lbouma -lm && "$build/$name" "$build/$name.bouma"; then
        passed=$((passed + 1))
    else
        echo "fast_math: FAILED: $name"
        failed=$((failed + 1))
    fi
    rm -rf "$build/$name.bouma"
}
program denormals_plain -O2 tests/ports/denormals.c
program denormals_fast -Ofast tests/ports/denormals.c
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
