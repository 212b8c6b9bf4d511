#!/usr/bin/env bash
# soak.sh BUILD [HOW MANY TIMES] -- what `./dev soak` runs: crash states, failures on
# ranks, killed writers and power cuts, many more of each than in a test run.
set -euo pipefail
build=$(cd "${1:-build}" && pwd)
times=${2:-10}
here=$(cd "$(dirname "$0")" && pwd)
"$build/tests/explore" $((40 * times))
"$build/tests/explore" --mutants
"$build/tests/sweep"
for ranks in 2 3 5; do
    mpirun --oversubscribe -n $ranks "$build/tests/sweep_mpi" 1
done
for durability in durable fast group=3; do
    bash "$here/kill.sh" "$build/tests" $((20 * times)) durability=$durability
done
bash "$here/powercut.sh" "$build/tests" 1 || [ $? = 77 ]
