#!/usr/bin/env bash
# sim.sh -- the library on simulated machines (sim/README.md): what messages, files
# and servers take is what a formula says; 64 ranks write the same files on each
# machine, and with Open MPI and MPICH.
#
# Needs the packages of a build, libsimgrid-dev, and the release build.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-sim
passed=0 failed=0

mkdir -p "$build"
{ cmake --preset sim -DBOUMA_WERROR=ON -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG" && ninja -C "$build" sim; } >"$build/log" 2>&1 || {
    grep -v '^\[' "$build/log"
    exit 1
}
export BOUMA_BUILD=$build
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try NAME COMMAND...
try() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "sim: FAILED: $name"
        failed=$((failed + 1))
    fi
}

# All datasets get the same identity; only what has times or processes in it differs.
identity=$work/identity.so
cc -shared -fPIC -D_GNU_SOURCE -o "$identity" tests/fortran/same_identity.c
same() {
    diff -r -x manifest -x owner "$work/openmpi/steps.bouma" "$work/$1/steps.bouma" &&
        [ "$(find "$work/$1" -name 'd.*' | wc -l)" -ge 10 ]
}
on_machine() {
    mkdir "$work/$1"
    BOUMA_SIM_PRELOAD=$identity BOUMA_SIM_SAVE=$work/$1 sim/run.sh 64 "$1" steps steps.bouma 3 &&
        same "$1" && build/bin/bouma verify "$work/$1/steps.bouma" deep >/dev/null
}
with_mpi() {
    local name=$1
    shift
    mkdir "$work/$name"
    (cd "$work/$name" && "$@" -n 64 env LD_PRELOAD="$identity" "$build/sim/steps_$name" steps.bouma 3)
}

# compile NAME COMPILER BUILD
compile() {
    "$2" -O2 -Iinclude -o "$build/sim/steps_$1" sim/steps.c "$3/libbouma_mpi.a" \
        -lzstd -lzfp -lhwloc -lm -ldl -lpthread
}

try "the model against formulas" sim/run.sh 4 check check
try "the benchmark" sim/run.sh 16 theta bouma-mpi bench io scratch --load hacc-random --bytes 64K --files 3 \
    --repetitions 1 --verify
try "steps of the benchmark" sim/run.sh 16 theta bouma-mpi bench write scratch --load boiler --bytes 64K --files 3 \
    --repetitions 1 --verify
# A figure of docs/scale.md in small: the page is left alone.
figure() {
    python3 -B figures/run.py --into "$work/figure" quick >/dev/null 2>&1 &&
        [ "$(head -c 4 "$work/figure/quick.png" | tail -c 3)" = PNG ] &&
        grep -q '^| 64 | [0-9.]* | [0-9.]* |$' "$work/figure/quick.md"
}
try "a figure" figure
compile openmpi mpicc.openmpi build
try "Open MPI" with_mpi openmpi mpiexec.openmpi --oversubscribe --timeout 900
for machine in small mira theta shaheen2 stampede2 summit; do
    try "$machine" on_machine "$machine"
done
if [ -e build-mpich/libbouma_mpi.a ]; then
    compile mpich mpicc.mpich build-mpich
    try "MPICH" with_mpi mpich mpiexec.mpich
    try "MPICH: the same files" same mpich
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
