#!/usr/bin/env bash
# run.sh NAME [ARGUMENTS] -- run a benchmark (write, open, plan, grid, hz, particles, aggregate, scale, python,
# serve, wasm or growth), clean up; run.py runs all of them, and keeps what they find.
#
# The programs are in $BUILD/bench (default: build/bench). The data go to a new
# directory in $BENCH_DIR (default: the current one), removed at the end: what
# is measured is the disk that it is on.
set -eu

usage() {
    echo "usage: [BUILD=build] [BENCH_DIR=.] [RANKS=4] [TURBULENCE=FILE] $0 write|open|plan|grid|hz|particles|aggregate|scale|python|serve|wasm|growth [ARGUMENTS]" >&2
    exit 2
}

[ $# -ge 1 ] || usage
name=$1
shift
programs=${BUILD:-build}/bench
case $name in
write | open | plan | grid | hz | particles | aggregate | scale | python | serve) program=bench_$name ;;
wasm) program=bench_python ;;
growth) program=bench_scale ;;
*) usage ;;
esac
[ -x "$programs/$program" ] || {
    echo "$0: $programs/$program is not built" >&2
    exit 2
}

data=$(mktemp -d "${BENCH_DIR:-.}/bouma-bench.XXXXXX")
trap 'rm -rf "$data"' EXIT
trap 'exit 130' INT TERM HUP

case $name in
write | particles)
    # Containers run as root, and have fewer cores than ranks.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    "${MPIRUN:-mpirun}" --oversubscribe --timeout 1200 -n "${RANKS:-4}" \
        "$programs/bench_$name" --directory "$data" "$@"
    ;;
open)
    "$programs/bench_open" --directory "$data" "$@"
    ;;
grid) # the codecs alone, then with files
    turbulence=${TURBULENCE:-../shared/data/vorticity_41x128x128.f32.raw}
    if [ -r "$turbulence" ] && [ -x "$programs/bench_codec" ]; then
        "$programs/bench_codec" "$turbulence"
    else
        echo "$0: the codecs alone are left out: needs zfp, and in \$TURBULENCE a file of 41 x 128 x 128 f32"
    fi
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    "${MPIRUN:-mpirun}" --oversubscribe --timeout 1200 -n "${RANKS:-4}" \
        "$programs/bench_grid" --directory "$data" "$@"
    ;;
aggregate) # plain files, then grids on few ranks
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    "${MPIRUN:-mpirun}" --oversubscribe --timeout 1200 -n "${RANKS:-8}" \
        "$programs/bench_aggregate" files --directory "$data" "$@"
    for ranks in 1 2 4; do
        "${MPIRUN:-mpirun}" --oversubscribe --timeout 1200 -n $ranks \
            "$programs/bench_aggregate" overlap --directory "$data" "$@"
    done
    ;;
hz) # in memory, plans, files; --small: all of it in a second, to see that it works
    memory=(--edge 256) plan=() files=()
    if [ "${1:-}" = --small ]; then
        memory=(--edge 32 --repetitions 1) plan=(--edge 8 --ranks 512 --repetitions 1)
        files=(--size 64 --repetitions 1)
        shift
    fi
    "$programs/bench_hz" "${memory[@]}"
    "$programs/bench_hz_plan" "${plan[@]}"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    "${MPIRUN:-mpirun}" --oversubscribe --timeout 1200 -n "${RANKS:-8}" \
        "$programs/bench_hz_files" --directory "$data" "${files[@]}" "$@"
    ;;
serve) # the viewer's requests, boxes beside C, many clients; --small: just to see that it works
    here=$(cd "$(dirname "$0")" && pwd)
    if [ "${1:-}" = --small ]; then
        shift
        set -- --size 64 --particles 20000 --repetitions 1 --seconds 1 "$@"
    fi
    if command -v node >/dev/null && [ -d "$here/../viewer/node_modules/esbuild" ]; then
        set -- --recorder "$here/serve_requests.mjs" "$@"
    fi
    "$programs/bench_serve" "${BUILD:-build}/bin/bouma" --directory "$data" "$@"
    ;;
python) # the package beside C, h5py and Zarr
    turbulence=${TURBULENCE:-../shared/data/vorticity_41x128x128.f32.raw}
    [ ! -r "$turbulence" ] || set -- --field "$turbulence" "$@"
    build=$(cd "${BUILD:-build}" && pwd)
    unset PYTHONDONTWRITEBYTECODE
    PYTHONPATH=$build/python PYTHONPYCACHEPREFIX=$data/cache "${PYTHON:-/usr/bin/python3}" \
        "$(dirname "$0")/python.py" "$programs/bench_python" "$data" "$@"
    ;;
wasm) # the reader for browsers, in node, beside C
    bash "$(dirname "$0")/../wasm/build.sh" "${BUILD:-build}/wasm"
    node "$(dirname "$0")/wasm.mjs" "${BUILD:-build}/wasm" "${BUILD:-build}/bin/bouma" "$programs/bench_python" "$data" "$@"
    ;;
scale) # steps on few and many ranks, with MPICH where that is built, plans, and memory where machines are simulated;
    # --small: just to see that it works
    both=("OpenMPI=${MPIRUN:-mpirun}=$programs/bench_scale")
    mpich=${BUILD_MPICH:-build-mpich}/bench/bench_scale
    [ ! -x "$mpich" ] || both+=("MPICH=mpiexec.mpich=$mpich")
    here=$(cd "$(dirname "$0")" && pwd)
    export BOUMA_BUILD=${BUILD_SIM:-$here/../build-sim}
    [ ! -f "$BOUMA_BUILD/sim/bouma-mpi" ] || set -- --sim "$here/../sim/run.sh" "$@"
    "${PYTHON:-/usr/bin/python3}" -B "$here/scale.py" "$@" "$data" "${BUILD:-build}/bin/bouma" "${both[@]}"
    ;;
plan) # writes nothing; --small: a part of it
    "${PYTHON:-/usr/bin/python3}" -B "$(dirname "$0")/plan.py" "$programs" "$@"
    ;;
growth) # how cost grows; --small: just to see that it works
    here=$(cd "$(dirname "$0")" && pwd)
    build=$(cd "${BUILD:-build}" && pwd)
    PYTHONPATH=$build/python "${PYTHON:-/usr/bin/python3}" -B "$here/growth.py" "$data" \
        "${MPIRUN:-mpirun}" "$build/bench/bench_scale" "$@"
    ;;
esac
