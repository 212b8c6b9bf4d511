#!/usr/bin/env bash
# sim.sh -- the library on simulated machines (sim/README.md): what messages, files,
# servers and cores take is what a formula says; two runs take the same time, and less
# where computing takes none; 64 ranks write the same files on each machine, and with
# Open MPI and MPICH, and read them back.
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

# What two runs print, times included, is the same; without rates, times are shorter.
same_times() {
    local one two free
    one=$(sim/run.sh 32 small steps steps.bouma 2) &&
        two=$(sim/run.sh 32 small steps steps.bouma 2) &&
        free=$(BOUMA_SIM_RATES='' sim/run.sh 32 small steps steps.bouma 2) &&
        [ "$one" = "$two" ] &&
        awk -v one="$one" -v free="$free" \
            'BEGIN { split(one, a); split(free, b); exit !(a[3] > b[3] && b[3] > 0 && a[8] > b[8] && b[8] > 0) }'
}
# A file without rates is refused, with a message.
no_rates() {
    local said
    ! said=$(BOUMA_SIM_RATES=$1 sim/run.sh 1 small steps steps.bouma 1 2>&1) && [[ $said == *"BOUMA_SIM_RATES: "*"$2"* ]]
}
# Buffers of the benchmark that are folded take as long, and have nothing in them.
seconds() {
    sim/run.sh 16 theta bouma-mpi bench io scratch --load s3d --bytes 1M --files 2 --repetitions 1 --json "$@" |
        jq -c '[.results[] | .seconds]'
}
folded() {
    local real folded
    real=$(seconds) && folded=$(BOUMA_SIM_FOLD=1 seconds) && [ "$real" = "$folded" ] && [ "$real" != '[]' ] &&
        ! BOUMA_SIM_FOLD=1 sim/run.sh 4 theta bouma-mpi bench io scratch --load uniform --bytes 1M --repetitions 1 \
            --verify >/dev/null 2>&1
}
try "the model against formulas" sim/run.sh 4 check check
try "networks against formulas" sim/run.sh 8 check_network check network
try "buffers that are folded" folded
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
try "the same times" same_times
echo "machine 1" >"$work/empty.machine"
try "rates that are missing" no_rates "$work/empty.machine" "has no rate of the work 'copy'"
try "a file of rates that is missing" no_rates "$work/none" "cannot be read"
compile openmpi mpicc.openmpi build
try "Open MPI" with_mpi openmpi mpiexec.openmpi --oversubscribe --timeout 900
# A simulation takes one processor: as many at once as there are.
export -f on_machine same
export work identity
printf '%s\n' small mira theta shaheen2 stampede2 summit |
    xargs -P "$(nproc)" -I{} bash -c 'on_machine {} >"$work/{}.log" 2>&1 && touch "$work/{}.passed"' || true
for machine in small mira theta shaheen2 stampede2 summit; do
    cat "$work/$machine.log"
    try "$machine" test -e "$work/$machine.passed"
done
if [ -e build-mpich/libbouma_mpi.a ]; then
    compile mpich mpicc.mpich build-mpich
    try "MPICH" with_mpi mpich mpiexec.mpich
    try "MPICH: the same files" same mpich
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
