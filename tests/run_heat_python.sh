#!/usr/bin/env bash
# run_heat_python.sh BUILD -- examples/heat.py writes what example_heat writes, bit by bit.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import numpy, mpi4py' 2>/dev/null || { echo "skipped: $python has no numpy or mpi4py"; exit 77; }
case $MPIRUN in
*mpich* | *hydra*) echo "skipped: mpi4py of Debian has Open MPI"; exit 77 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
$MPIRUN -n 2 "$build/bin/example_heat" c.bouma
$MPIRUN -n 2 "$python" "$source/examples/heat.py" python.bouma
"$python" - <<'END'
import bouma
c, python = bouma.open("c.bouma"), bouma.open("python.bouma")
assert list(c.steps) == list(python.steps) == [0, 20, 40, 60] and list(c.times) == list(python.times)
assert c.attrs == python.attrs and c[-1].attrs == python[-1].attrs
for one, other in zip(c, python):
    assert list(one.cube) == list(other.cube)
    for name in one.cube:
        assert one.cube[name][...].tobytes() == other.cube[name][...].tobytes(), (one.number, name)
assert "flux" in c[-1].cube and "flux" not in c[0].cube
print("the same samples")
END
