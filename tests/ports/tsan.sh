#!/usr/bin/env bash
# tsan.sh -- what has threads, under ThreadSanitizer: reading, queries, shaping,
# the thread that stores, draining; and on two ranks async and drain.
#
# Needs the packages of a build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-tsan
serial=(test_parallel_for test_keeper test_api test_api_codecs test_drain test_lossy test_particles test_predict test_read_threads test_tree_build)
parallel=(test_mpi_async test_mpi_drain)

mkdir -p "$build"
mpi=ON
command -v mpicc.openmpi >/dev/null || mpi=OFF parallel=()
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DBOUMA_SANITIZE=thread \
    -DBOUMA_MPI=$mpi -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi \
    -DBOUMA_BENCH=OFF >"$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
ninja -C "$build" "${serial[@]}" "${parallel[@]}" >"$build/log" 2>&1 || {
    grep -v '^\[' "$build/log"
    exit 1
}

# MPI itself is not instrumented.
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=0:exitcode=66
export BOUMA_OPTIONS="threads=4"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
passed=0 failed=0
run() {
    local name=$1
    shift
    if "$@" >"$build/$name.log" 2>&1 && ! grep -q 'WARNING: ThreadSanitizer' "$build/$name.log"; then
        passed=$((passed + 1))
    else
        grep -vE '^$' "$build/$name.log" | head -60
        echo "tsan: FAILED: $name"
        failed=$((failed + 1))
    fi
}
for name in "${serial[@]}"; do
    run "$name" "$build/tests/$name"
done
for name in "${parallel[@]}"; do
    run "$name" mpiexec.openmpi --timeout 600 -n 2 "$build/tests/$name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
