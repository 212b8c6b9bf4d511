#!/bin/bash
# delete_step.sh -- steps that go for good, wherever they are among the others.
source "$(dirname "$0")/common.bash"
do_not_sync

python "np.save('a.npy', np.arange(64.0).reshape(8, 8))"
for i in 0 1 2 3 4 5 6; do
    expect 0 "$BOUMA" import a.npy --into run.bouma --step $((10 * i))
done

# steps: the numbers of those that are there.
steps()
{
    local names=(run.bouma/steps/*)
    echo "${names[*]##*/000000}"
}

# there NUMBERS: these steps are there, and nothing else is to be told of.
there()
{
    [[ $(steps) == "$1" ]] || complain "steps $(steps), not $1"
    expect 0 "$BOUMA" verify run.bouma deep
    [[ $out != *note* ]] || complain "$out"
}

# What is wrong deletes nothing.
refuse 2 'usage' "$BOUMA" delete-step run.bouma
refuse 2 'has no step 7; nothing was deleted' "$BOUMA" delete-step run.bouma 7
refuse 2 'step what: must be a number' "$BOUMA" delete-step run.bouma what
refuse 2 'step 61:70: run.bouma has no such' "$BOUMA" delete-step run.bouma 61:70
refuse 2 'no.bouma' "$BOUMA" delete-step no.bouma 1
there "00 10 20 30 40 50 60"

# A number, one counted from the end, a range.
expect 0 "$BOUMA" delete-step run.bouma 20
[[ $out == "run.bouma: 1 step deleted, 6 steps left" ]] || complain "$out"
expect 0 "$BOUMA" delete-step run.bouma -1 --json
jq -e '.deleted == 1 and .steps == 5' <<<"$out" >/dev/null || complain "$out"
there "00 10 30 40 50"
expect 0 "$BOUMA" delete-step run.bouma 30:45
[[ $out == "run.bouma: 2 steps deleted, 3 steps left" ]] || complain "$out"
there "00 10 50"

# The same number again, as after an interruption: there is no more to do.
expect 0 "$BOUMA" delete-step run.bouma 20
[[ $out == "run.bouma: 0 steps deleted, 3 steps left" ]] || complain "$out"

# One that was killed has left files of a step: a note says how they go.
cp -r run.bouma/steps/00000050 rest
rm rest/manifest
expect 0 "$BOUMA" delete-step run.bouma last
mv rest run.bouma/steps/00000050
expect 0 "$BOUMA" import a.npy --into run.bouma --step 70
[[ $err == *"step 50 was dropped on purpose"*"bouma delete-step"* ]] ||
    complain "$err"
expect 0 "$BOUMA" delete-step run.bouma 50
there "00 10 70"

# What has the name of a subdirectory and is none hinders nothing, and stays.
ln -s /nowhere run.bouma/steps/00000070/0001
echo mine > run.bouma/steps/00000070/0002
expect 0 "$BOUMA" repair run.bouma
expect 0 "$BOUMA" delete-step run.bouma 70
[[ $(ls run.bouma/steps/00000070) == $'0001\n0002' ]] ||
    complain "$(ls run.bouma/steps/00000070)"
rm -r run.bouma/steps/00000070
expect 0 "$BOUMA" import a.npy --into run.bouma --step 70

# A number can be written again.
expect 0 "$BOUMA" import a.npy --into run.bouma --step 20
there "00 10 20 70"
expect 0 "$BOUMA" delete-step run.bouma all
[[ $out == "run.bouma: 4 steps deleted, 0 steps left" ]] || complain "$out"
finish
