#!/usr/bin/env bash
# run.sh BUILD [browser] -- the tests of the viewer: types and what needs no browser, in node; or
# the program's viewer in Debian's chromium, which draws by software.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
if ! command -v node >/dev/null || [ ! -d node_modules/esbuild ]; then
    echo "viewer/node_modules is not there (./dev build where npm is): skipped"
    exit 77
fi
if [ "${2:-}" = browser ]; then
    if ! command -v chromium >/dev/null; then
        echo "chromium is not installed: skipped"
        exit 77
    fi
    exec node test/browser.mjs "$build"
fi
node node_modules/typescript/bin/tsc --noEmit
exec node test/run.mjs
