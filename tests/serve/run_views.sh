#!/usr/bin/env bash
# run_views.sh BUILD views|points|chunks|series|newest|npm|neuroglancer|itowns -- the views of `bouma serve` with clients that know nothing of bouma: those
# of the system's Python; the newest ones from PyPI; those from npm;
# neuroglancer and iTowns in a browser. 77: a client is missing.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
export BOUMA=${BOUMA:-$build/bin/bouma} PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1

# install_from_npm FOLDER -- what its lock file lists, and its programs, into $modules.
install_from_npm() {
    command -v npm >/dev/null || { echo "skipped: there is no npm"; exit 77; }
    "$python" -c 'import numpy' 2>/dev/null || { echo "skipped: $python has no numpy"; exit 77; }
    modules=$build/views_$1
    mkdir -p "$modules"
    cp -r "$here/$1/." "$modules"
    cmp -s "$here/$1/package-lock.json" "$modules/done" && return
    npm ping >/dev/null 2>&1 || { echo "skipped: npm cannot be reached"; exit 77; }
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    cp "$here/$1/package-lock.json" "$modules/done"
}

case $2 in
views | points | chunks | series)
    "$python" "$here/test_$2.py"
    ;;
newest)
    venv=$build/views_newest
    if ! cmp -s "$here/newest.txt" "$venv/done"; then
        "$python" -m venv "$venv"
        "$venv/bin/pip" -q download --no-deps -d "$venv/reached" fsspec 2>/dev/null ||
            { echo "skipped: PyPI cannot be reached"; exit 77; }
        "$venv/bin/pip" -q install -r "$here/newest.txt"
        cp "$here/newest.txt" "$venv/done"
    fi
    "$venv/bin/python" "$here/test_views.py"
    "$venv/bin/python" "$here/test_tensorstore.py"
    ;;
npm)
    install_from_npm clients
    MODULES=$modules "$python" "$here/test_npm.py"
    ;;
itowns)
    CHROMIUM=$(command -v chromium || command -v chromium-browser) || { echo "skipped: there is no chromium"; exit 77; }
    install_from_npm viewers
    (cd "$modules" && node build_itowns.mjs site_itowns)
    MODULES=$modules CHROMIUM=$CHROMIUM "$python" "$here/test_itowns.py"
    ;;
neuroglancer)
    CHROMIUM=$(command -v chromium || command -v chromium-browser) || { echo "skipped: there is no chromium"; exit 77; }
    install_from_npm viewers
    (cd "$modules" && node build.mjs site)
    MODULES=$modules CHROMIUM=$CHROMIUM "$python" "$here/test_neuroglancer.py"
    ;;
esac
