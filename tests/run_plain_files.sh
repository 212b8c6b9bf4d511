#!/usr/bin/env bash
# run_plain_files.sh BUILD PROGRAM [ARGUMENTS] -- an example that writes files by
# MPI-IO and by bouma finds them the same, byte by byte, on any number of ranks,
# in one file and in several, by messages and by windows, with many small rounds.
set -euo pipefail
build=$(cd "$1" && pwd)
program=$build/bin/$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 1800}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # RANKS [ARGUMENTS]
    $mpirun -n "$1" "$program" "${@:2}" "$work" >"$work/said"
    cat "$work/said"
    grep -q 'the same' "$work/said"
    if grep -q 'NOT' "$work/said"; then exit 1; fi
    rm "$work/said"
    [ -z "$(ls "$work")" ] || { ls "$work"; exit 1; }
}

for ranks in 1 2 3 5 8; do
    run $ranks "$@"
    run $ranks "$@" --files 2
    for transport in messages windows; do
        export BOUMA_OPTIONS="transport=$transport;buffer_bytes=16KiB;writers=2"
        run $ranks "$@"
        unset BOUMA_OPTIONS
    done
done
