#!/usr/bin/env bash
# run.sh [NAME] -- every test, in every build: what `./dev test` runs. With NAME,
# only the tests of the release build whose name has it.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)

say() { printf '\n== %s\n' "$*"; }

# build PRESET [OPTION...]: warnings are errors here.
build() {
    local preset=$1
    shift
    say "build: $preset"
    cmake --preset "$preset" -DBOUMA_WERROR=ON "$@" >/dev/null
    cmake --build --preset "$preset" -j "$jobs" | { grep -vE '^\[[0-9]+/[0-9]+\]|no work to do' || true; }
}

run() { # DIRECTORY [CTEST OPTIONS]
    local dir=$1
    shift
    say "tests: $dir $*"
    ctest --test-dir "$dir" -j "$jobs" --output-on-failure --no-tests=error "$@"
}

if [ -n "${1:-}" ]; then
    build release -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi
    run build -R "$1"
    exit
fi

say "format"
./dev fmt --check

build release -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi
run build

build mpich
# Its ranks spin while they wait: many of them are left to Open MPI.
run build-mpich -L mpi -E 'sweep_mpi|\.8$|mpi_(place|plan|pipe|async|io|io_errors|predict|probe|errors|group|particles|lossy|restart|weighted|split|drain|read)\.5'

# Leaks are looked for in the serial tests; MPI itself leaks.
build asan -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
run build-asan -L 'unit|golden|damaged|fuzz' -E 'includes|test_plan_scale|test_evenness|python'
ASAN_OPTIONS=detect_leaks=0 run build-asan -L mpi -R '\.3$'

# Another compiler, and no MPI at all.
say "build: clang, without MPI"
cmake -S . -B build-clang -G Ninja -DCMAKE_C_COMPILER=clang-14 -DBOUMA_MPI=OFF -DBOUMA_WERROR=ON >/dev/null
cmake --build build-clang -j "$jobs" | { grep -vE '^\[[0-9]+/[0-9]+\]|no work to do' || true; }
run build-clang -L 'unit|cli' -E 'mpi|test_plan_scale|particles_import|render|boxes_and_levels|npy_files'
say "all tests passed"
