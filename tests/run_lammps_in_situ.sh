#!/usr/bin/env bash
# run_lammps_in_situ.sh BUILD MPIEXEC -- the atoms that LAMMPS hands over, as a
# library on 1 and 3 ranks, are those of its own dump of the same steps, bit by
# bit.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1
program=$build/bin/example_lammps_in_situ
[ -x "$program" ] || { echo "LAMMPS as a library (Debian: liblammps-dev) is not here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$build/bin:$PATH

for ranks in 1 3; do
    mkdir "$work/$ranks"
    cd "$work/$ranks"
    "$2" -n $ranks "$program" "$source/examples/lammps/in.impact" impact.bouma \
        --every 100 --steps 250 -var digits %.17g
    bouma verify impact.bouma deep
    for step in 0 100 200 250; do
        bouma query impact.bouma atoms --step $step -o step$step.npz
    done
    "$python" - <<'end'
import numpy as np
frames = open("impact.lammpstrj").read().split("ITEM: TIMESTEP\n")[1:]
assert len(frames) == 3, len(frames) # LAMMPS dumps every 100 steps
for frame in frames:
    lines = frame.splitlines()
    step, count = int(lines[0]), int(lines[lines.index("ITEM: NUMBER OF ATOMS") + 1])
    first = next(i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    dumped = np.array([line.split() for line in lines[first:first + count]])
    got = np.load(f"step{step}.npz")
    order = got["id"].argsort()
    assert count == len(order) > 4000
    assert np.array_equal(got["id"][order], dumped[:, 0].astype(np.int64)), step
    assert np.array_equal(got["type"][order], dumped[:, 1].astype(np.int64)), step
    assert np.array_equal(got["position"][order], dumped[:, 2:5].astype(np.float64)), step
    assert np.array_equal(got["velocity"][order], dumped[:, 5:8].astype(np.float64)), step
assert len(np.load("step250.npz")["id"]) == count
end
done
# Bad input is told, and the job ends.
cd "$work"
if "$2" -n 2 "$program" missing.in other.bouma >out 2>&1; then exit 1; fi
if "$2" -n 1 "$program" >out 2>&1; then exit 1; fi
grep -q usage out
