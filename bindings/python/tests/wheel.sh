#!/usr/bin/env bash
# wheel.sh -- make the wheel, install it into an empty environment, and test it there. The
# library and what it needs must come from the wheel. Then the same with the sdist: it has all
# that is needed, and says what is missing. 77: there is no venv, or no NumPy.
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

install() { venv/bin/pip install -q --no-index --no-deps --force-reinstall "$@"; }

comes_from_the_environment() {
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
}

pytest() { venv/bin/python -m pytest -q -p no:cacheprovider --basetemp "$work/tmp" "$@"; }

# refused WORDS COMMAND... -- it fails, and says so in these words.
refused() {
    local words=$1
    shift
    if "$@" >refused.txt 2>&1; then
        echo "this should fail: $*"
        exit 1
    fi
    grep -q "$words" refused.txt || { cat refused.txt; echo "it does not say: $words"; exit 1; }
}

install "$here/.."
comes_from_the_environment
pytest "$here" --ignore "$here/test_mpi.py"

sdist() { (cd "$1" && "$python" -B -c 'import sys, build_wheel; build_wheel.build_sdist(sys.argv[1])' "$2"); }
mkdir first second
sdist "$here/.." "$work/first"
archive=$(cd first && echo bouma-*.tar.gz)
tar xf "first/$archive"
sdist "${archive%.tar.gz}/bindings/python" "$work/second"
cmp "first/$archive" "second/$archive" # an sdist has all that it is made of
venv/bin/pip uninstall -q -y bouma
refused "C compiler, pkg-config and the headers of zstd" env CC=/nowhere/cc \
    venv/bin/pip install --no-index --no-deps "first/$archive"
refused "there is no cmake" env PATH=/nowhere venv/bin/pip install --no-index --no-deps "first/$archive"
install "first/$archive"
comes_from_the_environment
pytest "$here/test_write.py" "$here/test_slicing.py"
