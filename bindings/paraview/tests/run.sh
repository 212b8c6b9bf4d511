#!/usr/bin/env bash
# run.sh BUILD -- the ParaView plugin in pvbatch, on 1 and on 3 ranks: arrays, pieces, errors
# and a picture, against the Python package. 77: there is no pvbatch.
# PICTURE=FILE.png keeps the picture of 3 ranks.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
command -v pvbatch >/dev/null || { echo "skipped: there is no pvbatch"; exit 77; }
python=${PYTHON:-/usr/bin/python3}
mpirun=mpirun
export PYTHONPATH=$build/python:$here/../python311 PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# pvbatch ends with 0 whatever happens: a script that came to its end says so.
batch() {
    local ranks=$1 script=$2
    shift 2
    "$mpirun" -n "$ranks" pvbatch --symmetric --force-offscreen-rendering "$here/$script" "$@" >log 2>&1 ||
        { cat log; exit 1; }
    [ "$(grep -c '^done$' log)" = "$ranks" ] || { cat log; echo "$script: not all of $ranks ranks ended well"; exit 1; }
}

# Where pvbatch has another MPI than mpirun, all ranks are rank 0.
cat >size.py <<'END'
from paraview.modules.vtkRemotingCore import vtkProcessModule
print("size", vtkProcessModule.GetProcessModule().GetGlobalController().GetNumberOfProcesses())
END
for one in mpirun mpiexec.openmpi mpiexec.mpich; do
    mpirun=$one
    command -v "$one" >/dev/null && "$one" -n 3 pvbatch --symmetric size.py 2>/dev/null | grep -q '^size 3$' && break
    mpirun=
done
[ -n "$mpirun" ] || { echo "skipped: no mpirun starts pvbatch on 3 ranks"; exit 77; }

"$python" "$here/datasets.py" run.bouma
batch 1 check_arrays.py run.bouma
batch 1 check_errors.py run.bouma
grep -q "bouma: grid 'box' has no level 9; there are 0 to" log
grep -q "bouma: the sub-extent reaches from 0 to 99 along x, where the grid has the samples 0 to 36" log
grep -q "bouma: where='T >' is not understood" log
grep -q "bouma: .*nowhere.bouma" log
grep -q "bouma: .* has no grid 'bax'; it has 'box', 'plate'" log
! grep -q Traceback log || { cat log; exit 1; }
batch 1 check_refresh.py grows.bouma "$here"
for ranks in 1 3; do
    mkdir "pieces$ranks"
    batch "$ranks" pieces.py run.bouma "pieces$ranks"
done
"$python" "$here/compare_pieces.py" run.bouma pieces1 pieces3
[ -z "${PICTURE:-}" ] || cp pieces3/picture.png "$PICTURE"
