#!/usr/bin/env bash
# wheel.sh -- make the wheel, install it into an empty environment, and test it there. The
# library and what it needs must come from the wheel. 77: there is no venv, or no NumPy.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
unset PYTHONPATH BOUMA_LIBRARY_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -c 'import numpy, pytest' 2>/dev/null || { echo "skipped: $python has no numpy or pytest"; exit 77; }
# NumPy and pytest are those of the system, so that nothing is downloaded.
"$python" -m venv --system-site-packages venv || { echo "skipped: $python makes no environments"; exit 77; }
venv/bin/pip install -q --no-index --no-deps "$here/.."
venv/bin/python - <<'END'
import sys
import bouma
assert bouma.__file__.startswith(sys.prefix), bouma.__file__
bouma.build_info()
maps = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
for name in ("libbouma", "libzstd", "libzfp"):
    found = [one for one in maps if name in one]
    assert found and all(one.startswith(sys.prefix) for one in found), (name, found)
END
venv/bin/python -m pytest -q -p no:cacheprovider --basetemp "$work/tmp" "$here" --ignore "$here/test_mpi.py"
