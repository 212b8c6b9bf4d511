#!/bin/bash
# watch.sh -- each step is told of when it is committed.
source "$(dirname "$0")/common.bash"
do_not_sync

python "np.save('a.npy', np.arange(64.0).reshape(8, 8))"
write()
{
    "$BOUMA" import a.npy --into run.bouma --step "$1" --time "0.$1" >/dev/null || complain "step $1"
}
write 1
write 2

# Those that are there, from a number on; then no more come.
expect 0 "$BOUMA" watch run.bouma --from 0 -n 2
[[ $out == "step 1, time 0.1, 512 B in "*": grid"$'\n'"step 2, time 0.2, "* ]] || complain "$out"
expect 1 "$BOUMA" watch run.bouma --from 2 --timeout 0 --json
[[ $(jq -c '[.step, .time, .objects]' <<<"$out") == '[2,0.2,["grid"]]' ]] || complain "$out"
[[ $err == *'no new step for 0 seconds'* ]] || complain "$err"
refuse 1 'run.bouma: no new step for 0 seconds' "$BOUMA" watch run.bouma --timeout 0

# New ones, in whatever order they come; the first line shows that it watches.
"$BOUMA" watch run.bouma --from 2 -n 4 --interval 0.05 --timeout 600 --json >lines &
watcher=$!
until [[ -s lines ]]; do
    kill -0 $watcher 2>/dev/null || break
    sleep 0.05
done
write 5
for ((i = 0; i < 6000 && $(wc -l <lines) < 2; i++)); do
    sleep 0.05
done
write 3
write 4
wait $watcher || complain "watch gave $?"
[[ $(jq -s -c 'map(.step) | [.[:2], (.[2:] | sort)]' lines) == '[[2,5],[3,4]]' ]] ||
    complain "$(cat lines)"

# A command for each; with --json its output does not get between the lines.
expect 0 "$BOUMA" watch run.bouma --from 4 -n 2 --exec 'echo "$BOUMA_DATASET $BOUMA_STEP $BOUMA_TIME" >>told'
[[ $(cut -d ' ' -f 1,2 told) == $'run.bouma 4\nrun.bouma 5' ]] || complain "$(cat told)"
expect 0 "$BOUMA" watch run.bouma --from 5 -n 1 --json --exec 'echo hello'
[[ $(jq .step <<<"$out") == 5 && $err == hello ]] || complain "$out; $err"
expect 1 "$BOUMA" watch run.bouma --from 0 --exec 'exit 3'
[[ $(wc -l <<<"$out") == 1 && $err == *"step 1: 'exit 3' ended with status 3"* ]] || complain "$out; $err"

# A dataset that is not there yet is waited for, and all its steps are new.
expect 1 "$BOUMA" watch no.bouma --timeout 0
[[ $err == *'no.bouma: is not there yet; waiting for it'*'no.bouma: there was no such dataset for 0 seconds' ]] ||
    complain "$err"
mkdir late.bouma # empty, as a dataset is when it is being created
"$BOUMA" watch late.bouma -n 2 --interval 0.05 --timeout 600 --json >lines 2>late.err &
watcher=$!
until [[ -s late.err ]]; do
    kill -0 $watcher 2>/dev/null || break
    sleep 0.05
done
for step in 7 8; do
    "$BOUMA" import a.npy --into late.bouma --step $step >/dev/null || complain "step $step"
done
wait $watcher || complain "watch of a late dataset gave $?: $(cat late.err)"
[[ $(jq -s -c 'map(.step)' lines) == '[7,8]' ]] || complain "$(cat lines)"

refuse 2 'usage' "$BOUMA" watch
refuse 2 'count 0: must be' "$BOUMA" watch run.bouma -n 0
refuse 2 'from x: must be' "$BOUMA" watch run.bouma --from x
refuse 2 'timeout -1: must be a number of seconds' "$BOUMA" watch run.bouma --timeout -1
refuse 2 'interval 0: must be a number of seconds above 0' "$BOUMA" watch run.bouma --interval 0
finish
