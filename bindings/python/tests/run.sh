#!/usr/bin/env bash
# run.sh BUILD tests|clients|docs|mpi|types|dask|notebook|newest -- test the Python package of
# a build: by pytest, with matplotlib and yt, its docstrings, with ranks of mpi4py, its types by
# mypy, with a cluster of Dask, by the notebook of the examples, and with the newest clients
# from PyPI. 77: a package for that is missing.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# need MODULE...
need() {
    for module in "$@"; do
        "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module"; exit 77; }
    done
}
pytest() { "$python" -m pytest -q -p no:cacheprovider --basetemp "$work/tmp" "$@"; }

case $2 in
tests)
    need numpy pytest
    pytest "$here" --ignore "$here/test_mpi.py" --ignore "$here/test_yt.py" --ignore "$here/test_plot.py"
    ;;
clients)
    need numpy pytest
    pytest "$here/test_yt.py" "$here/test_plot.py"
    ;;
docs)
    need numpy pytest matplotlib xarray
    PYTHONPATH=$PYTHONPATH:$here pytest -p example_dataset --doctest-modules "$build/python/bouma"
    ;;
mpi)
    need numpy pytest mpi4py
    # Where mpi4py has another MPI than the build, the library must refuse it.
    theirs=$("$python" -c 'import mpi4py; mpi4py.rc.initialize = False
from mpi4py import MPI; print(MPI.get_vendor()[0])')
    case "$theirs $MPIRUN" in
    "Open MPI "*mpich* | "Open MPI "*hydra*)
        export BOUMA_OTHER_MPI=$build MPIRUN="mpiexec.openmpi --oversubscribe"
        command -v mpiexec.openmpi >/dev/null || { echo "skipped: mpi4py has $theirs, the build another MPI"; exit 77; }
        pytest "$here/test_mpi.py" -k another_mpi
        ;;
    *) pytest "$here/test_mpi.py" ;;
    esac
    ;;
dask)
    need numpy xarray distributed
    "$python" "$here/dask_cluster.py" "$work/series.bouma"
    ;;
notebook)
    need numpy matplotlib pandas xarray nbclient ipykernel
    "$python" "$here/notebook.py" "$here/../../../examples/look.ipynb"
    ;;
newest)
    venv=$build/python_newest
    cmp -s "$here/newest.txt" "$venv/done" || { "$python" -m venv "$venv" &&
        "$venv/bin/pip" -q install -r "$here/newest.txt" &&
        cp "$here/newest.txt" "$venv/done"; } || { echo "skipped: PyPI cannot be reached"; exit 77; }
    python=$venv/bin/python
    pytest "$here" --ignore "$here/test_mpi.py"
    "$python" "$here/dask_cluster.py" "$work/series.bouma"
    cd "$build/python"
    "$python" -m mypy --cache-dir "$work/mypy" --config-file "$here/../pyproject.toml" -p bouma
    ;;
types)
    need numpy mypy
    cd "$build/python"
    "$python" -m mypy --cache-dir "$work/mypy" --config-file "$here/../pyproject.toml" -p bouma
    ;;
esac
