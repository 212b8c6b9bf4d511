#!/usr/bin/env bash
# run.sh BUILD [browser | folder] -- the tests of the viewer: types and what needs no browser, in
# node; or the program's viewer in Debian's chromium, which draws by software, as its server and as
# the folders that it writes give it.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
if ! command -v node >/dev/null || [ ! -d node_modules/esbuild ]; then
    echo "viewer/node_modules is not there (./dev build where npm is): skipped"
    exit 77
fi
if [ -n "${2:-}" ]; then
    if ! command -v chromium >/dev/null; then
        echo "chromium is not installed: skipped"
        exit 77
    fi
    if [ "$2" = folder ] && ! grep -qF '"static.html"' "$build/viewer/viewer_files.c"; then
        echo "the program has no reader for browsers (./dev wasm): skipped"
        exit 77
    fi
    exec node "test/$2.mjs" "$build"
fi
node node_modules/typescript/bin/tsc --noEmit
BOUMA_BUILD=$build BOUMA_GOLDEN=$PWD/../tests/golden/v1 exec node test/run.mjs
