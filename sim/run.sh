#!/bin/sh
# Run a program of MPI on a simulated machine:
#     sim/run.sh RANKS MACHINE PROGRAM [ARGUMENTS...]
# MACHINE is a file of sim/machines, or its name; PROGRAM one of
# build-sim/sim, which ./dev sim builds.
set -eu

[ $# -ge 3 ] || { echo "usage: sim/run.sh RANKS MACHINE PROGRAM [ARGUMENTS...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=${BOUMA_BUILD:-$here/../build-sim}
ranks=$1 machine=$2 program=$3
shift 3
[ -f "$machine" ] || machine=$here/machines/$machine.txt
[ -f "$machine" ] || { echo "there is no machine $machine" >&2; exit 2; }
[ -f "$program" ] || program=$build/sim/$program
each=$(awk '$1 == "ranks_per_node" { print $2 }' "$machine")
each=${each:-16}
nodes=$(((ranks + each - 1) / each))
hosts=$(mktemp)
trap 'rm -f "$hosts"' EXIT
awk -v n="$ranks" -v each="$each" \
    'BEGIN { for (i = 0; i < n; i++) print "n" int(i / each) }' > "$hosts"
export BOUMA_SIM_MACHINE=$machine BOUMA_SIM_NODES=$nodes
export BOUMA_SIM_RATES="${BOUMA_SIM_RATES-$here/rates.machine}"
# A stack with a guard page takes two mappings of memory, those of a rank's threads
# too, and Linux lets a process have 65530.
guard=1
[ "$ranks" -le 8192 ] || guard=0
# Rates of 10 GB/s that hundreds of flows share are not exact to 0.00001 B/s, which
# is what SimGrid takes for nothing left unless told otherwise: it then crashes.
smpirun -wrapper "env LD_PRELOAD=${BOUMA_SIM_PRELOAD:-}" -np "$ranks" -platform "$build/sim/platform.so" -hostfile "$hosts" \
    --cfg=smpi/privatization:no --cfg=smpi/simulate-computation:no \
    --cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree \
    --cfg=smpi/reduce:binomial --cfg=contexts/stack-size:512 --cfg=contexts/guard-size:$guard \
    --cfg=maxmin/precision:0.01 --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --log=root.thresh:warning \
    "$program" "$@"
