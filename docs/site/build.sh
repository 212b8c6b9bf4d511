#!/usr/bin/env bash
# build.sh OUT -- make the site in the directory OUT: OUT/html/index.html. Needs doxygen
# and mandoc. Fails if Doxygen warns of something, if a public name is not on a page or
# has no docstring in Python, or if a link leads nowhere.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export PYTHON=${PYTHON:-python3}

rm -rf "$out/html" "$out/man"
mkdir -p "$out/man"
mandoc -T html -O fragment docs/man/bouma.1 >"$out/man/bouma.1.html"
printf '/** @page man_bouma bouma(1)\n@htmlinclude bouma.1.html\n*/\n' >"$out/man/man.dox"
"$PYTHON" docs/site/python_reference.py >"$out/man/python.html"
printf '/** @page python_reference Python reference\n@htmlinclude python.html\n*/\n' >"$out/man/python.dox"
{
    cat docs/site/Doxyfile
    echo "PROJECT_NUMBER = $(sed -n 's/^#define BOUMA_VERSION_M[A-Z]* //p;s/^#define BOUMA_VERSION_PATCH //p' include/*.h | paste -sd.)"
    echo "OUTPUT_DIRECTORY = \"$out\""
    echo "INPUT += \"$out/man\""
    # The order of topics; then the headers that are not named here.
    echo "INPUT += include/bouma.h include/bouma_base.h include/bouma_dataset.h include/bouma_write.h \\"
    echo "    include/bouma_read.h include/bouma_file.h include/bouma_check.h include/bouma_plan.h include"
    echo "FILE_PATTERNS += *.dox"
    echo "EXAMPLE_PATH = \"$out/man\""
    echo "WARN_LOGFILE = \"$out/warnings.txt\""
} >"$out/Doxyfile"
doxygen "$out/Doxyfile" || {
    cat "$out/warnings.txt"
    exit 1
}
"$PYTHON" docs/site/check.py "$out/html"
