#!/usr/bin/env bash
# browser.sh BUILD -- a browser reads the golden datasets by the WebAssembly
# module.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
for browser in chromium chromium-browser google-chrome; do
    path=$(command -v $browser) && break
done
[ -n "${path:-}" ] || { echo "skipped: there is no Chromium (./dev test all installs it)"; exit 77; }
command -v node >/dev/null || { echo "skipped: there is no node (./dev test all installs it)"; exit 77; }
bash "$here/../../wasm/build.sh" "$build/wasm"
node "$here/browser.js" "$build/wasm" "$path" "$here"/../golden/v1/*.bouma
