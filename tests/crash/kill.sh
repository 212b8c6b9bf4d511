#!/bin/bash
# kill.sh -- kill -9 a parallel writer at random moments: no acknowledged step
# may be lost, and the next writer goes on.
#
#     kill.sh BUILD [ROUNDS [OPTION=VALUE...]]
#
# BUILD holds the programs kill_writer and kill_check; the options are handed to
# the library, such as durability=fast. With persist=yes, what a killed writer
# has left in the local copy is drained, by a `bouma drain` (in $BOUMA) that is killed
# as well, and one that is not. Exit status 1 on any loss.
set -u
build=$1
rounds=${2:-20}
shift $(($# < 2 ? $# : 2))
ranks=3
mpirun=${MPIRUN:-mpirun --oversubscribe}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
dataset=$work/d.bouma
log=$work/log
failures=0
check=("$build/kill_check")
# A group's steps are acknowledged before they are visible; repair shows them.
case "$*" in *group*) check+=(--repair) ;; esac
near=
case "$*" in *persist=yes*)
    near=$work/near
    mkdir "$near"
    set -- "$@" "local=$near"
    ;;
esac

# drain ROUND: copy what is near to the dataset.
drain()
{
    [ -e "$near/d.bouma/DATASET" ] || return 0
    "$BOUMA" drain "$near/d.bouma" "$dataset" >"$work/out" 2>&1 &
    local pid=$!
    sleep "0.0$(printf %02d $((RANDOM % 40)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    "$BOUMA" drain "$near/d.bouma" "$dataset" >"$work/out" 2>&1 && return 0
    failures=$((failures + 1))
    echo "round $1: $(cat "$work/out")"
}

for ((round = 1; round <= rounds; round++)); do
    rm -f "$work"/pid.*
    $mpirun -n $ranks "$build/kill_writer" "$dataset" "$log" "$work/pid" \
        "$round" "$@" >"$work/out" 2>&1 &
    job=$!
    for ((i = 0; i < 200; i++)); do
        [ -s "$work/pid.$((ranks - 1))" ] && break
        sleep 0.05
    done
    # 0 to 0.5 s from there: opening, recovery, writing, commit
    sleep "0.$(printf %03d $((RANDOM % 500)))"
    if ((RANDOM % 3)); then
        victims=$(cat "$work/pid.$((RANDOM % ranks))")
    else
        victims=$(cat "$work"/pid.*)
    fi
    # shellcheck disable=SC2086  # a list of numbers
    if ! kill -9 $victims 2>/dev/null; then
        echo "round $round: the writer ended by itself"
        cat "$work/out"
        failures=$((failures + 1))
    fi
    wait $job 2>/dev/null
    # mpirun ends the other ranks; see that they are gone before we look.
    while read -r pid; do
        for ((i = 0; i < 100; i++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.05
        done
    done < <(cat "$work"/pid.*)
    touch "$log"
    [ -z "$near" ] || drain $round
    if ! result=$("${check[@]}" "$dataset" "$log" 2>&1); then
        failures=$((failures + 1))
        echo "round $round: $result"
    fi
    # A dataset whose creation was cut short is in the way of the next one.
    if [ ! -s "$log" ] && ! grep -q steps= <<<"$result"; then
        rm -rf "$dataset"
    fi
done
echo "kills=$rounds failures=$failures ${result:-}"
[ $failures -eq 0 ]
