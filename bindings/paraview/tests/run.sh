#!/usr/bin/env bash
# run.sh BUILD [newest] -- the ParaView plugin in pvbatch, on 1 and on 3 ranks: arrays, pieces,
# errors and a picture, against the Python package; or its readers with the newest VTK from PyPI.
# 77: there is no pvbatch, or no PyPI. PICTURE=FILE.png keeps the picture of 3 ranks.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH=$build/python:$here/../python311 PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if [ "${2:-}" = newest ]; then
    venv=$build/paraview_newest
    [ -e "$venv/done" ] || { "$python" -m venv "$venv" && "$venv/bin/pip" -q install -r "$here/newest.txt" &&
        touch "$venv/done"; } || { echo "skipped: PyPI cannot be reached"; exit 77; }
    "$venv/bin/python" "$here/datasets.py" run.bouma
    "$venv/bin/python" "$here/newest.py" run.bouma
    exit
fi

command -v pvbatch >/dev/null || { echo "skipped: there is no pvbatch"; exit 77; }
# Debian's ParaView renders on a screen only; one in memory will do. Without -noreset it would
# begin anew, and refuse ranks meanwhile, whenever no rank has a window.
screen=(env)
if command -v xvfb-run >/dev/null; then
    screen=(xvfb-run -a -s "-noreset -screen 0 1280x1024x24")
elif [ -z "${DISPLAY:-}" ]; then
    echo "skipped: there is neither a screen nor xvfb-run"
    exit 77
fi
# batch RANKS SCRIPT ARGUMENT... -- a script that came to its end says so, on each rank.
batch() {
    local ranks=$1 script=$2
    shift 2
    "${screen[@]}" "$mpirun" -n "$ranks" pvbatch --symmetric --force-offscreen-rendering "$here/$script" "$@" \
        >log 2>&1 && [ "$(grep -o 'all is well' log | wc -l)" = "$ranks" ] && return
    cat log
    echo "$script: not all of $ranks ranks ended well"
    exit 1
}

# An mpirun of another MPI than that of pvbatch starts three programs of one rank each.
cat >size.py <<'END'
from paraview.modules.vtkRemotingCore import vtkProcessModule
print("of", vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(), "ranks")
END
mpirun=
for one in mpirun mpiexec.openmpi mpiexec.mpich; do
    command -v "$one" >/dev/null || continue
    "$one" -n 3 pvbatch --symmetric size.py >log 2>&1 || continue
    if grep -q 'of 3 ranks' log; then
        mpirun=$one
        break
    fi
done
[ -n "$mpirun" ] || { cat log; echo "skipped: no mpirun starts pvbatch on 3 ranks"; exit 77; }

"$python" "$here/datasets.py" run.bouma
batch 1 check_arrays.py run.bouma
batch 1 check_errors.py run.bouma
grep -q "bouma: grid 'box' has no level 9; there are 0 to" log
grep -q "bouma: the sub-extent reaches from 0 to 99 along x, where the grid has the samples 0 to 36" log
grep -q "bouma: where: at the end: expected the name of a variable, or a number" log
grep -q "bouma: .*nowhere.bouma" log
grep -q "bouma: .* has no grid 'bax'; it has 'box', 'plate', 'rod'" log
! grep -q Traceback log || { cat log; exit 1; }
batch 1 check_refresh.py grows.bouma
for ranks in 1 3; do
    mkdir "pieces$ranks"
    batch "$ranks" pieces.py run.bouma "pieces$ranks"
done
"$python" "$here/compare_pieces.py" run.bouma pieces1 pieces3
[ -z "${PICTURE:-}" ] || cp pieces3/picture.png "$PICTURE"
