#!/usr/bin/env bash
# run.sh SECONDS -- every fuzz target under libFuzzer, for so long each. New
# inputs are kept in build-fuzz/corpus; a find is named and ends the run.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang-14 -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DBOUMA_MPI=OFF -DBOUMA_FUZZ=ON -DBOUMA_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
cmake --build build-fuzz | { grep -vE '^\[[0-9]+/[0-9]+\]' || true; }
for target in build-fuzz/tests/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    mkdir -p "build-fuzz/corpus/$name"
    echo "== $name"
    "$target" -max_total_time="$seconds" -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=5 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="build-fuzz/$name-" \
        "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name" 2>&1 | grep -E 'ERROR|SUMMARY|number_of_executed|artifact' || true
    for kind in crash leak oom timeout; do
        ls build-fuzz/"$name-$kind"* 2>/dev/null && exit 1
    done
done
echo "no finds"
