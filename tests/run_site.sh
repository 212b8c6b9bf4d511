#!/usr/bin/env bash
# run_site.sh OUT -- the site can be made, without a warning; see docs/site/build.sh. And
# what is wrong is found: a name that nobody knows, a link that leads nowhere.
set -euo pipefail
for program in doxygen mandoc; do
    command -v $program >/dev/null || { echo "no $program: skipped"; exit 77; }
done
source=$(cd "$(dirname "$0")/.." && pwd)
export PYTHON=${PYTHON:-/usr/bin/python3}
"$source/docs/site/build.sh" "$1"
html=$1/html

must_fail() {
    ! "$PYTHON" "$source/docs/site/check.py" "$html" >"$1" || { echo "not found: $2"; exit 1; }
    grep -qF "$2" "$1" || { cat "$1"; exit 1; }
}
wrong=$(mktemp)
trap 'rm -f "$wrong"' EXIT
cp "$html/index.html" "$1/index.html"
echo '<a href="nowhere.html">x</a>' >>"$html/index.html"
must_fail "$wrong" "there is no nowhere.html"
cp "$1/index.html" "$html/index.html"
sed -i 's/bouma_step_open/bouma_step_shut/g' "$html"/group__*.html
must_fail "$wrong" "bouma_step_open: is not in the reference"
