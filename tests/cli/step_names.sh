#!/bin/bash
# step_names.sh -- --step takes a number, "last", and numbers from the end.
source "$(dirname "$0")/common.bash"
do_not_sync

python "np.savez('p.npz', position=np.zeros((5, 3)))"
for step in 3 10 20; do
    python "np.save('a.npy', np.full((4, 4), $step, 'i4'))"
    expect 0 "$BOUMA" import a.npy --grid box --into run.bouma --step $step
    expect 0 "$BOUMA" add p.npz --particles dust --into run.bouma --step $step
done

# is STEP NAME: commands take the step of that number for this name of it.
is()
{
    expect 0 "$BOUMA" read run.bouma box/a --step "$2" -o out.npy
    equal out.npy "np.full((4, 4), $1, 'i4')"
    expect 0 "$BOUMA" info run.bouma --step "$2" --json
    jq -e ".steps | map(.step) == [$1]" <<<"$out" >/dev/null || complain "info: $out"
    expect 0 "$BOUMA" query run.bouma dust --step "$2" --json
    jq -e ".step == $1" <<<"$out" >/dev/null || complain "query: $out"
    expect 0 "$BOUMA" histogram run.bouma box/a --step "$2"
    expect 0 "$BOUMA" render run.bouma box/a --step "$2" -o out.png
}

is 3 3
is 3 -3
is 10 -2
is 20 -1
is 20 last

for command in 'read run.bouma box/a -o out.npy' 'query run.bouma dust' 'info run.bouma'; do
    refuse 2 "--step -4: there are only 3 steps" "$BOUMA" $command --step -4
    refuse 2 "there is no step 4" "$BOUMA" $command --step 4
    refuse 2 "--step first" "$BOUMA" $command --step first
done
finish
