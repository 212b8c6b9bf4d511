#!/usr/bin/env bash
# run.sh [DIRECTORY] -- LAMMPS shoots a ball of atoms at a slab; the frames of its
# dump become the steps of impact.bouma, to be looked at. Needs lmp and bouma in
# the PATH; exits with 77 if there is no lmp.
set -euo pipefail
input=$(cd "$(dirname "$0")" && pwd)/in.impact
command -v lmp >/dev/null || { echo "lmp is not here (Debian: the package lammps)"; exit 77; }
mkdir -p "${1:-.}"
cd "${1:-.}"

lmp -in "$input" -log none -screen none

# The numbers in the dump have 6 digits: a tolerance loses little of them.
bouma import impact.lammpstrj --particles atoms --into impact.bouma \
    --position-tolerance 0.001 --tolerance 0.005 --type-of id=u32 --type-of type=u8
bouma info impact.bouma

# What has been thrown up, as text; and one atom in ten.
bouma query impact.bouma atoms --where 'vz > 1 && type == 1' -o spray.csv
bouma query impact.bouma atoms --quality 0.1 -o few.npz

for step in 0 200 500; do
    bouma render impact.bouma atoms/vz --step $step --axis y --box=-0.5:26,:,-6:18 \
        --range=-9,9 --colours coolwarm --size 384 -o impact$step.png
done
