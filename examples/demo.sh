#!/usr/bin/env bash
# demo.sh BUILD -- a small simulation on 4 ranks writes steps, a program without
# MPI reads them back coarse to fine, and the command line looks at them.
set -euo pipefail
build=$(cd "${1:-build}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 300}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

say "A heat equation on 4 ranks writes a step now and then:"
$mpirun -n 4 "$build/bin/example_heat" heat.bouma
say "bouma info heat.bouma"
"$build/bin/bouma" info heat.bouma
say "A program without MPI reads a box of it, coarse to fine:"
"$build/bin/example_read_box" heat.bouma
say "bouma read heat.bouma cube/temperature --level 2 -o coarse.npy"
"$build/bin/bouma" read heat.bouma cube/temperature --level 2 -o coarse.npy
say "bouma verify heat.bouma deep"
"$build/bin/bouma" verify heat.bouma deep
