#!/usr/bin/env bash
# run.sh BUILD -- build the WebAssembly module, and compare it with the library:
# on the golden datasets, on new ones of every codec and layout, and on forged
# ones; and with what `bouma serve` answers.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
tests=$(dirname "$here")
command -v node >/dev/null || { echo "skipped: there is no node (./dev test all installs it)"; exit 77; }
bash "$tests/../wasm/build.sh" "$build/wasm"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compare NAME DATASET...
compare() {
    local name=$1
    shift
    echo "$name:"
    "$build/tests/wasm_expect" "$work/data" "$@" >"$work/expected"
    node "$here/replay.js" "$build/wasm" "$work/expected" "$work/data"
}
compare golden "$tests"/golden/v1/*.bouma
node "$here/failures.js" "$build/wasm" "$tests/golden/v1/cube.bouma"
mkdir "$work/sets"
"${PYTHON:-/usr/bin/python3}" "$here/make_sets.py" "$build/bin/bouma" "$work/sets"
compare new "$work"/sets/*.bouma
if "$build/bin/bouma" help | grep -q 'answer over HTTP (this build cannot)'; then
    echo "this build cannot serve: answers are not compared"
else
    node "$here/answers.js" "$build/wasm" "$build/bin/bouma" "$tests"/golden/v1/*.bouma "$work"/sets/*.bouma
fi
"$build/tests/wasm_forge" "$work/forged" "$tests"/fuzz/corpus/fuzz_whole/*
compare forged "$work"/forged/*/d
