#!/usr/bin/env bash
# run_examples.sh BUILD -- the examples in Fortran write what those in C write, byte for
# byte; and after a restart on other numbers of ranks, the same values.
set -euo pipefail
build=$(cd "$1" && pwd)
python=${PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 1800}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$build/bin:$PATH

# all RANKS PROGRAM ARGUMENT... -- with the same identity in all datasets.
all() {
    local ranks=$1
    shift
    $mpirun -n "$ranks" env LD_PRELOAD="$build/tests/fortran/libsame_identity.so" "$@"
}
# same LEFT RIGHT -- all files but those that have times in them.
same() {
    diff -r -x manifest -x owner "$1" "$2"
    [ "$(cd "$1" && find . -name 'd.*' | wc -l)" -gt 3 ]
}

all 2 example_heat heat-c.bouma
all 2 example_fortran_heat heat.bouma
same heat-c.bouma heat.bouma
bouma read heat.bouma cube/exact -o whole.npy
bouma read heat.bouma cube/flux -o whole-flux.npy
for ranks in 3; do
    $mpirun -n $ranks example_fortran_heat --restart 20 heat.bouma
    bouma verify heat.bouma deep
    bouma read heat.bouma cube/exact -o again.npy
    bouma read heat.bouma cube/flux -o again-flux.npy
    cmp whole.npy again.npy
    cmp whole-flux.npy again-flux.npy
done

all 4 example_boiler --steps 4 --particles 1003 boiler-c.bouma
all 4 example_fortran_boiler --steps 4 --particles 1003 boiler.bouma
same boiler-c.bouma boiler.bouma
bouma query boiler.bouma coal -o whole.npz
bouma read boiler.bouma gas/temperature -o whole.npy
for ranks in 1; do
    $mpirun -n $ranks example_fortran_boiler --restart 2 --steps 4 boiler.bouma
    bouma verify boiler.bouma deep
    bouma query boiler.bouma coal -o again.npz
    bouma read boiler.bouma gas/temperature -o again.npy
    cmp whole.npy again.npy
    "$python" - <<'end'
import numpy as np
a, b = np.load("whole.npz"), np.load("again.npz")
assert np.array_equal(np.sort(a["id"]), np.arange(4 * 1003))
for name in ("id", "mass", "position", "temperature", "velocity"):
    assert np.array_equal(a[name][a["id"].argsort()], b[name][b["id"].argsort()]), name
end
done

# A restart in Fortran of what C wrote, and the other way round.
$mpirun -n 2 example_fortran_boiler --restart 2 --steps 3 boiler-c.bouma
$mpirun -n 2 example_boiler --restart 2 --steps 3 boiler.bouma
