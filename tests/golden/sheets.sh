#!/bin/sh
# sheets.sh CUT_MANIFESTS PYTHON -- golden datasets whose manifests are cut into
# sheets are verified, and read by both readers alike; $BOUMA names the tool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work" "$work.said"' EXIT
for name in flock foam spray cube hz_local extended; do
    cp -r "$here/v1/$name.bouma" "$work"
done
"$1" 2 "$work"/*/steps/*/manifest
for set in "$work"/*; do
    "$BOUMA" verify "$set" deep >"$work.said" || { cat "$work.said"; exit 1; }
done
"$2" "$here/../python/compare_golden.py" "$work"
