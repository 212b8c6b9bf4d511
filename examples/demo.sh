#!/usr/bin/env bash
# demo.sh BUILD -- small simulations on 4 ranks write steps, one of a grid within a
# tolerance, one of particles; programs without MPI read them back coarse to fine,
# and the command line looks at them. The datasets and pictures are left in BUILD/demo.
set -euo pipefail
build=$(cd "${1:-build}" && pwd)
source=$(cd "$(dirname "$0")" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 1800}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$build/bin:$PATH
kept=$build/demo
mkdir -p "$kept"

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
        --colours magma -o "$kept/level$level.png"
done
say "A program without MPI reads a box of it, coarse to fine:"
example_read_box heat.bouma
say "The cells that the isosurface at 60 K crosses; fine data are read only where it can be:"
example_isosurface heat.bouma cube exact 60
say "bouma read heat.bouma cube/temperature --level 2 -o coarse.npy"
bouma read heat.bouma cube/temperature --level 2 -o coarse.npy
say "bouma verify heat.bouma deep"
bouma verify heat.bouma deep

say "Coal is blown into a boiler: the particles multiply, and concentrate on some of the 4 ranks:"
$mpirun -n 4 "$build/bin/example_boiler" boiler.bouma
say "bouma info boiler.bouma"
bouma info boiler.bouma
say "The last step by quality, the fraction of the particles: a tenth, then up to 0.4, then the rest:"
bouma query boiler.bouma coal --quality 0.1 -o tenth.npz
bouma query boiler.bouma coal --from 0.1 --quality 0.4 -o more.npz
bouma query boiler.bouma coal --from 0.4 -o rest.npz
say "The hot particles at the wall; and an even sample of a thousand:"
bouma query boiler.bouma coal --box 0:0.1,:,1: --where 'temperature > 1500'
bouma query boiler.bouma coal --sample 1000 -o thousand.csv
say "bouma render boiler.bouma coal[/temperature] --axis y --quality Q -o ..."
for quality in 0.1 0.4 1; do
    bouma render boiler.bouma coal --axis y --quality $quality --range 0,2 --size 384 \
        -o "$kept/density$quality.png"
    bouma render boiler.bouma coal/temperature --axis y --quality $quality --size 384 \
        --colours magma -o "$kept/temperature$quality.png"
done
say "3 ranks restart from step 8, and get the same particles:"
$mpirun -n 3 "$build/bin/example_boiler" --restart 8 boiler.bouma
say "bouma verify boiler.bouma deep"
bouma verify boiler.bouma deep

if command -v lmp >/dev/null; then
    say "LAMMPS shoots a ball of atoms at a slab; its dump becomes a dataset:"
    "$source/lammps/run.sh" "$work"
    cp impact*.png "$kept"
else
    say "LAMMPS is not installed: its example is skipped."
fi

rm -rf "$kept"/{heat,boiler}.bouma
mv heat.bouma boiler.bouma "$kept"
say "The pictures, and the datasets:"
ls -d "$kept"/*.png "$kept"/*.bouma
say "Look at them, on the command line or in Python:"
echo "    $build/bin/bouma help"
echo "    ./dev python -i -c 'import bouma; ds = bouma.open(\"$kept/heat.bouma\")'"
