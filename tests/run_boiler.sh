#!/usr/bin/env bash
# run_boiler.sh BUILD -- the example's particles are all there in every step, and
# a restart on other numbers of ranks gives the particles of a run without one,
# bit by bit.
set -euo pipefail
build=$(cd "$1" && pwd)
python=${PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
mpirun=${MPIRUN:-mpirun --oversubscribe --timeout 1800}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$build/bin:$PATH

$mpirun -n 4 example_boiler --steps 8 --particles 1003 whole.bouma
bouma verify whole.bouma deep
for step in 0 1 8; do
    bouma query whole.bouma coal --step $step --json >said.json
    "$python" - $step <<'end'
import json, sys
said, step = json.load(open("said.json")), int(sys.argv[1])
assert said["count"] == 1003 * step, said
end
done
bouma query whole.bouma coal -o whole.npz
bouma read whole.bouma gas/temperature -o whole.npy

# Up to step 3; from there on with 3 ranks; from step 5 on with 1 and with 6.
$mpirun -n 4 example_boiler --steps 3 --particles 1003 parts.bouma
$mpirun -n 3 example_boiler --restart 3 --steps 8 parts.bouma
for ranks in 1 6; do
    $mpirun -n $ranks example_boiler --restart 5 --steps 8 parts.bouma
    bouma verify parts.bouma deep
    bouma query parts.bouma coal -o parts.npz
    bouma read parts.bouma gas/temperature -o parts.npy
    "$python" - <<'end'
import numpy as np
a, b = np.load("whole.npz"), np.load("parts.npz")
assert sorted(a.files) == ["id", "mass", "position", "temperature", "velocity"], a.files
assert np.array_equal(np.sort(a["id"]), np.arange(8 * 1003))
for name in a.files:
    assert np.array_equal(a[name][a["id"].argsort()], b[name][b["id"].argsort()]), name
assert np.array_equal(np.load("whole.npy"), np.load("parts.npy"))
# Some cells have many particles and most have none.
n = np.histogramdd(a["position"], (16, 16, 32), [(0, 1), (0, 1), (0, 2)])[0]
assert np.median(n) == 0 and n.max() > 20 * n.mean(), n.max()
end
done

# What cannot be restarted says so.
if $mpirun -n 2 example_boiler --restart 9 parts.bouma 2>said; then exit 1; fi
grep -q "step 9" said
