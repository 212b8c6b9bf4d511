#!/usr/bin/env bash
# run.sh [all | LABEL | NAME] -- run the tests: what `./dev test` does.
#
#   run.sh        the release build, and every kind of test once
#   run.sh all    then all rank counts and the long sweeps, MPICH, sanitizers,
#                 clang without MPI, other compiler flags, processors and C
#                 libraries, no optional libraries
#   run.sh LABEL  of the release build, the tests with that label (README.md)
#   run.sh NAME   of the release build, the tests whose name has NAME in it
#
# A part that fails does not stop the others. The last lines name the tests that
# failed and count them all: "N passed, N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
passed=0 failed=0 skipped=0
started=$SECONDS

say() { printf '\n== %s\n' "$*"; }

# count PASSED FAILED SKIPPED [NAME OF WHAT FAILED...]
count() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    shift 3
    [ $# = 0 ] || printf '%s\n' "$@" >>"$results/failed"
}

# step NAME COMMAND...: one that passes or fails as a whole; 77 means skipped.
step() {
    local name=$1 status=0
    shift
    say "$name"
    "$@" || status=$?
    case $status in
    0) count 1 0 0 ;;
    77) count 0 0 1 ;;
    *) count 0 1 0 "$name" ;;
    esac
    return $((status != 0 && status != 77))
}

# configure_and_build DIRECTORY TARGET CMAKE-ARGUMENT...
configure_and_build() {
    local dir=$1 target=$2
    shift 2
    cmake "$@" -DBOUMA_WERROR=ON >/dev/null
    cmake --build "$dir" -j "$jobs" --target "$target" >"$results/build" 2>&1 ||
        { grep -vE '^\[[0-9]+/[0-9]+\]' "$results/build"; return 1; }
}

# suite NAME DIRECTORY CTEST-ARGUMENT...: tests of one build.
suite() {
    local name=$1 dir=$2 xml=$results/junit.xml numbers
    shift 2
    say "$name: tests"
    rm -f "$xml"
    ctest --test-dir "$dir" -j "$jobs" --output-on-failure --no-tests=error \
        --output-junit "$xml" "$@" || true
    # tests, failures, disabled, skipped: attributes of the first element.
    if [ ! -s "$xml" ]; then
        count 0 1 0 "$name: no test ran"
        return
    fi
    attribute() { sed -n "0,/[[:space:]]$1=\"/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$xml"; }
    numbers=($(attribute tests) $(attribute failures) $(attribute skipped))
    count $((numbers[0] - numbers[1] - numbers[2])) "${numbers[1]}" "${numbers[2]}"
    sed -n 's/.*<testcase name="\([^"]*\)".*status="fail".*/\1/p' "$xml" |
        sed "s/^/$name: /" >>"$results/failed"
}

openmpi=(-DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec.openmpi)

release_build() {
    step "release: build" configure_and_build build all --preset release \
        -DBOUMA_BENCH=OFF "${openmpi[@]}"
}

quick() {
    step "format" ./dev fmt --check || true
    if release_build; then
        suite release build -LE '^long$'
    fi
}

long() {
    suite "release, long" build -L '^long$'

    # What is without MPI is as in the release build: all that has it, compiled quickly.
    if step "mpich: build" configure_and_build build-mpich tests_mpich --preset mpich \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG"; then
        suite mpich build-mpich -L '^mpich$'
    fi

    # Leaks are looked for in the serial tests; MPI itself leaks.
    if step "sanitizers: build" configure_and_build build-asan all --preset asan "${openmpi[@]}"; then
        export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
        suite "sanitizers" build-asan -L '^sanitize$' -LE '^mpi$'
        ASAN_OPTIONS=detect_leaks=0 suite "sanitizers, parallel" build-asan -L '^sanitize$' -L '^mpi$'
    fi

    # Another compiler, and no MPI at all.
    if step "clang, without MPI: build" configure_and_build build-clang all -S . -B build-clang \
        -G Ninja -DCMAKE_C_COMPILER=clang-14 -DBOUMA_MPI=OFF; then
        suite "clang, without MPI" build-clang -L '^clang$'
    fi

    # Other compiler flags, processors and C libraries: each builds for itself.
    local port
    for port in fast_math musl qemu sim tsan without_libraries; do
        step $port bash tests/ports/$port.sh || true
    done
}

finish() {
    say "$((SECONDS - started)) s"
    if [ -s "$results/failed" ]; then
        echo "failed:"
        sed 's/^/    /' "$results/failed"
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

case ${1:-} in
'') quick ;;
all)
    quick
    if [ -e build/CTestTestfile.cmake ]; then
        long
    fi
    ;;
*)
    if release_build; then
        if ctest --test-dir build --print-labels | grep -qxF "  $1"; then
            suite release build -L "^$1\$"
        else
            suite release build -R "$1"
        fi
    fi
    ;;
esac
finish
