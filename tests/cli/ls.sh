#!/bin/bash
# ls.sh -- the names of what is in a dataset.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
np.save('rho.npy', np.arange(64, dtype='f4').reshape(8, 8))
np.save('v.npy', np.zeros((8, 8, 3)))
np.savez('p.npz', position=np.zeros((5, 3)), mass=np.ones(5, 'f4'))"
for step in 0 10; do
    expect 0 "$BOUMA" import rho.npy --grid box --into run.bouma --step $step
done
expect 0 "$BOUMA" import v.npy --components 3 --grid box --into run.bouma --step 20
expect 0 "$BOUMA" add p.npz --particles dust --into run.bouma --step 20

# lists NAMES ARGUMENTS...: these are the lines.
lists()
{
    local names=$1
    shift
    expect 0 "$BOUMA" ls "$@"
    [[ $out == "$names" ]] || complain "ls $*: $out"
}

lists $'box/v\ndust/position\ndust/mass' run.bouma
lists 'box/rho' run.bouma --step 0
lists 'dust/mass' run.bouma 'd*/m???'
lists $'dust/position\ndust/mass' run.bouma '[a-d]ust'
lists $'0 box/rho\n10 box/rho\n20 box/v' run.bouma box --step all
lists $'0 box/rho\n20 box/v' run.bouma box --step ::2
lists 'box/rho' run.bouma --step -2
lists $'0 box/rho\n10 box/rho' run.bouma --step 0:20

expect 0 "$BOUMA" ls -l run.bouma
[[ $out == KIND*NAME*grid*f64*"8 x 8 [3]"*zstd*"1.5 KiB"*box/v*particles*f32*dust/mass ]] ||
    complain "$out"
expect 0 "$BOUMA" ls run.bouma --json --step 10:
jq -e '.entries | map([.step, .object, .variable, .kind, .type, .components, .shape // .count]) == [
    [10, "box", "rho", "grid", "f32", 1, [8, 8]], [20, "box", "v", "grid", "f64", 3, [8, 8]],
    [20, "dust", "position", "particles", "f64", 3, 5],
    [20, "dust", "mass", "particles", "f32", 1, 5]]' <<<"$out" >/dev/null || complain "$out"

# What is wrong is told.
refuse 2 'usage' "$BOUMA" ls
refuse 2 'no.bouma' "$BOUMA" ls no.bouma
refuse 2 "there is no 'bix' in step 20; did you mean 'box'?" "$BOUMA" ls run.bouma bix
refuse 2 "there is no 'box/rho' in step 20" "$BOUMA" ls run.bouma box/rho --json
refuse 2 "there is no 'x*' in these steps" "$BOUMA" ls run.bouma 'x*' --step all
refuse 2 'step what: must be' "$BOUMA" ls run.bouma --step what
refuse 2 'step 30: run.bouma has no such' "$BOUMA" ls run.bouma --step 30
finish
