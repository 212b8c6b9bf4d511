#!/usr/bin/env bash
# run_lammps.sh BUILD -- what LAMMPS has dumped is what a query gives, frame by
# frame.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$build/bin:$PATH

"$source/examples/lammps/run.sh" "$work" # 77 if there is no lmp
cd "$work"
for step in 0 100 200 300 400 500; do
    bouma query impact.bouma atoms --step $step -o step$step.npz
done
bouma verify impact.bouma deep
bouma info impact.bouma --json >info.json
"$python" - <<'end'
import json
import numpy as np
names = "id type x y z vx vy vz".split()
lines = open("impact.lammpstrj").read().splitlines()
starts = [i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")]
assert len(starts) == 6
for i in starts:
    at = lines.index("ITEM: TIMESTEP", 0 if i == starts[0] else starts[starts.index(i) - 1])
    step, n = int(lines[at + 1]), int(lines[at + 3])
    dumped = np.loadtxt(lines[i + 1:i + 1 + n])
    dumped = dict(zip(names, dumped[dumped[:, 0].argsort()].T))
    got = np.load(f"step{step}.npz")
    order = got["id"].argsort()
    assert got["id"].dtype == np.uint32 and got["type"].dtype == np.uint8
    for name in ("id", "type"):
        assert np.array_equal(got[name][order], dumped[name]), (step, name)
    for axis, name in enumerate("xyz"):
        assert np.abs(got["position"][order, axis] - dumped[name]).max() <= 0.001, (step, name)
    for name in ("vx", "vy", "vz"):
        assert np.abs(got[name][order] - dumped[name]).max() <= 0.005, (step, name)
steps = json.load(open("info.json"))["steps"]
assert [s["step"] for s in steps] == [0, 100, 200, 300, 400, 500]
assert abs(steps[-1]["time"] - 1.5) < 1e-9, steps[-1]["time"]
spray = np.genfromtxt("spray.csv", delimiter=",", names=True)
assert (spray["vz"] > 1).all() and (spray["type"] == 1).all() and len(spray) > 20
few = len(np.load("few.npz")["id"])
assert abs(few - n / 10) < 5, few
end
