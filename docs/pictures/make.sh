#!/usr/bin/env bash
# make.sh BUILD DATA -- draw the pictures of README.md and the guide anew. Needs MPI,
# Python with NumPy, and for those of the viewer node and chromium.
#
# DATA is a directory with
#   vorticity_41x128x128.f32.raw  the vorticity of a turbulent flow, from the test data
#                                 of NCAR/SPERR (vorticity.128_128_41, Apache-2.0)
#   head_96x96x96.f32.raw         an MRI of a head, cut from Debian's mricron-data
#   lion_takanawa.npz             a scanned statue, Potree's sample point cloud (BSD-2)
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
build=$(cd "$1" && pwd)
bouma=$build/bin/bouma
boiler=$build/bin/example_boiler
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
mpirun=${MPIRUN:-mpirun --oversubscribe}
data=$(realpath "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bouma" import "$data/head_96x96x96.f32.raw" --shape 96,96,96 --type f32 --grid head \
    --var mri --into "$work/head.bouma"
"$bouma" import "$data/lion_takanawa.npz" --particles lion --into "$work/lion.bouma"
parts=()
for level in 3 2 1 0; do
    "$bouma" render "$work/head.bouma" head --axis x --level $level --size 192 \
        --colours magma -o "$work/head$level.png"
    parts+=("$work/head$level.png")
done
for quality in 0.003 0.03 0.3 1; do
    "$bouma" render "$work/lion.bouma" lion/intensity --axis x --quality $quality --size 192 \
        --range 0,60000 --colours grey -o "$work/lion$quality.png"
    parts+=("$work/lion$quality.png")
done
/usr/bin/python3 ./mosaic.py coarse_to_fine.png 4 "${parts[@]}"

cp "$data/vorticity_41x128x128.f32.raw" "$work/vorticity.raw"
"$bouma" import "$work/vorticity.raw" --shape 41,128,128 --type f32 --unit 1/s \
    --grid flow --var vorticity --into "$work/flow.bouma"
for level in 0 3; do
    "$bouma" render "$work/flow.bouma" flow --slice z=8 --level $level --size 256 \
        --colours coolwarm --range=-1e-4,1e-4 -o level$level.png
done
"$bouma" import "$work/vorticity.raw" --shape 41,128,128 --type f32 --unit 1/s \
    --grid flow --var vorticity --into "$work/lossy.bouma" --relative 1e-3
"$bouma" info "$work/lossy.bouma"
for level in 3 2 1 0; do
    "$bouma" render "$work/lossy.bouma" flow --slice z=8 --level $level --size 192 \
        --colours coolwarm --range=-1e-4,1e-4 -o lossy$level.png
done
"$bouma" plan --ranks 96 --shape 500,500,500 --blocks 4,4,6 --files 8 --ratio 3 \
    --vary 20 -o plan.png

$mpirun -n 4 "$boiler" "$work/boiler.bouma"
for quality in 0.1 0.4 1; do
    "$bouma" render "$work/boiler.bouma" coal --axis y --quality $quality --size 250 \
        --range 0,2 -o coal$quality.png
    "$bouma" render "$work/boiler.bouma" coal/temperature --axis y --quality $quality \
        --size 250 --colours magma -o hot$quality.png
done
"$bouma" plan --ranks 512 --shape 256,256,256 --layout hz --hz-template ranks \
    --hz-blocks-per-file 16 -o ranks.png
node ../../viewer/test/pictures.mjs "$build"
