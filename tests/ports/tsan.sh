#!/usr/bin/env bash
# tsan.sh -- the tests with the label threads, under ThreadSanitizer: reading,
# queries, shaping, the thread that stores, draining; and on two ranks async and
# drain.
#
# Needs the packages of a build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-tsan

mkdir -p "$build"
mpi=ON
command -v mpicc.openmpi >/dev/null || mpi=OFF
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DBOUMA_SANITIZE=thread \
    -DBOUMA_MPI=$mpi -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi \
    -DBOUMA_BENCH=OFF >"$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
ninja -C "$build" tests_threads >"$build/log" 2>&1 || {
    grep -v '^\[' "$build/log"
    exit 1
}

export BOUMA_OPTIONS="threads=4"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
passed=0 failed=0

# run OPTIONS CTEST-ARGUMENT... -- what it reports, though all tests pass, is a
# failure.
run() {
    local sum
    TSAN_OPTIONS=$1 ctest --test-dir "$build" -j "$(nproc)" -L '^threads$' "${@:2}" --no-tests=error --verbose \
        >"$build/log" 2>&1 || true
    sum=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)/\1 \2/p' "$build/log")
    [ -n "$sum" ] || sum='1 1'
    if [ "${sum% *}" = 0 ] && grep -q 'WARNING: ThreadSanitizer' "$build/log"; then
        sum="1 ${sum#* }"
    fi
    if [ "${sum% *}" != 0 ]; then
        grep -E -A40 'WARNING: ThreadSanitizer' "$build/log" | head -200 || true
        sed -n '/tests failed out of/,$p' "$build/log"
    fi
    failed=$((failed + ${sum% *})) passed=$((passed + ${sum#* } - ${sum% *}))
}

report=halt_on_error=0:exitcode=66
run $report -LE '^mpi$'
# MPI itself is not instrumented.
[ $mpi = OFF ] || run ignore_noninstrumented_modules=1:$report -L '^mpi$'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
