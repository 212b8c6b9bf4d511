#!/usr/bin/env bash
# demo.sh BUILD -- a small simulation on 4 ranks writes steps within a tolerance,
# programs without MPI read them back coarse to fine, and the command line looks
# at them. The pictures are left in BUILD/demo.
set -euo pipefail
build=$(cd "${1:-build}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 300}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$build/bin:$PATH
pictures=$build/demo
mkdir -p "$pictures"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

say "A heat equation on 4 ranks writes a step now and then, with a tolerance of 0.05 K:"
$mpirun -n 4 "$build/bin/example_heat" heat.bouma
say "bouma info heat.bouma"
bouma info heat.bouma
say "One plane at each level: what it costs, and how far it is from the exact samples:"
example_levels heat.bouma cube temperature exact 64
say "bouma render heat.bouma cube/temperature --slice z=64 --level K -o levelK.png"
for level in 3 2 1 0; do
    bouma render heat.bouma cube/temperature --slice z=64 --level $level --size 384 \
        --colours magma -o "$pictures/level$level.png"
done
say "A program without MPI reads a box of it, coarse to fine:"
example_read_box heat.bouma
say "The cells that the isosurface at 60 K crosses, with fine data read only where it can be:"
example_isosurface heat.bouma cube exact 60
say "bouma read heat.bouma cube/temperature --level 2 -o coarse.npy"
bouma read heat.bouma cube/temperature --level 2 -o coarse.npy
say "bouma verify heat.bouma deep"
bouma verify heat.bouma deep
say "The pictures:"
ls "$pictures"/level[0-3].png
