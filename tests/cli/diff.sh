#!/bin/bash
# diff.sh -- what two datasets or two steps differ in, where and by how much.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(3)
a = r.random((20, 30, 40))
a[0, 0, 0] = np.nan
np.save('a.npy', a)
b = a.copy()
b[7, 8, 9] += 0.25
b[1, 2, 3] += 0.125
np.save('b.npy', b)
big = np.full((4, 4, 2), 2**62, 'i8')
np.save('big.npy', big)
big[3, 2, 1] += 1
np.save('bigger.npy', big)
x, mass, number = r.random((500, 3)), r.random(500), np.arange(500)
np.savez('p.npz', position=x, mass=mass, number=number)
i = r.permutation(500)
np.savez('shuffled.npz', position=x[i], mass=mass[i], number=number[i])
mass[123] += 2
np.savez('heavier.npz', position=x, mass=mass, number=number)"

# told LINE...: these are told, and nothing else.
told()
{
    local lines
    lines=$(printf '%s\n' "$@")
    [[ $out == "$lines" ]] || complain "it told '$out', not '$lines'"
}

expect 0 "$BOUMA" import a.npy --var u --into one.bouma
expect 0 "$BOUMA" import a.npy --var u --into two.bouma --layout hz --codec raw
expect 0 "$BOUMA" diff one.bouma two.bouma
told 'equal: 1 step, 1 variable, 24000 values'
expect 0 "$BOUMA" import b.npy --var u --into two.bouma
expect 1 "$BOUMA" diff one.bouma two.bouma
told 'step 1: only in B'
expect 1 "$BOUMA" diff two.bouma one.bouma
told 'step 1: only in A'
expect 0 "$BOUMA" diff two.bouma one.bouma --step 0
expect 0 "$BOUMA" diff two.bouma@0 one.bouma
expect 0 "$BOUMA" diff one.bouma two.bouma@0

# Two steps of one dataset, in all ways to name them.
for which in "two.bouma@0 two.bouma@1" "two.bouma --step 0 --step-b -1" "two.bouma@0 --step-b last"; do
    # shellcheck disable=SC2086  # words
    expect 1 "$BOUMA" diff $which
    [[ $out == "steps 0 and 1: grid/u: 2 of 24000 values differ, at most by 0.25: "*", at [7, 8, 9]" ]] ||
        complain "$out"
done
expect 1 "$BOUMA" diff two.bouma@0 two.bouma@1 --tolerance 0.2
[[ $out == *": 1 of 24000 values differ by more than 0.2, at most by 0.25: "* ]] || complain "$out"
expect 0 "$BOUMA" diff two.bouma@0 two.bouma@1 --tolerance 0.26
told 'equal: 1 step, 1 variable, 24000 values; the largest difference is 0.25'
expect 1 "$BOUMA" diff two.bouma@0 two.bouma@1 --json
jq -e '(.equal | not) and .largest == 0.25 and (.differences | length) == 1 and
    (.differences[0] | .object == "grid" and .variable == "u" and .count == 2 and
     .step_a == 0 and .step_b == 1 and .index == [7, 8, 9])' <<<"$out" >/dev/null || complain "$out"

# Integers that are equal as doubles; a component.
expect 0 "$BOUMA" import big.npy --components 2 --var n --into n.bouma
expect 0 "$BOUMA" import bigger.npy --components 2 --var n --into n.bouma
expect 1 "$BOUMA" diff n.bouma@0 n.bouma@1
told "steps 0 and 1: grid/n: 1 of 32 values differ, at most by 1: $((2 ** 62)) in A, $((2 ** 62 + 1)) in B, at [3, 2], component 1"

# What is not a value.
expect 0 "$BOUMA" import a.npy --var u --into other.bouma --time 3 --attr who=me --unit K --spacing 2,1,1
expect 1 "$BOUMA" diff one.bouma other.bouma
told 'step 0: time 0 in A, 3 in B' "step 0: the attribute 'who' differs" \
    'step 0: grid: spacing 1, 1, 1 in A, 2, 1, 1 in B' "step 0: grid/u: unit '' in A, 'K' in B"
expect 1 "$BOUMA" diff one.bouma@0 n.bouma@0
[[ $out == *'grid: shape 20 x 30 x 40 in A, 4 x 4 in B'* ]] || complain "$out"
expect 0 "$BOUMA" import a.npy --grid more --into one.bouma --step 5
expect 1 "$BOUMA" diff one.bouma@0 one.bouma@5
told 'steps 0 and 5: grid: only in A' 'steps 0 and 5: more: only in B'

# Particles: their order does not count.
expect 0 "$BOUMA" import p.npz --particles dust --into p.bouma
expect 0 "$BOUMA" import shuffled.npz --particles dust --into p.bouma
expect 0 "$BOUMA" import heavier.npz --particles dust --into p.bouma
expect 0 "$BOUMA" import p.npz --particles dust --into p.bouma --position-tolerance 0.01
expect 0 "$BOUMA" diff p.bouma@0 p.bouma@1
expect 1 "$BOUMA" diff p.bouma@1 p.bouma@2
[[ $out == "steps 1 and 2: dust/mass: 1 of 500 values differ, at most by 2: "*"of the particle at "* ]] ||
    complain "$out"
expect 0 "$BOUMA" diff p.bouma@0 p.bouma@3 --tolerance 0.01
expect 1 "$BOUMA" diff p.bouma@0 p.bouma@3 --tolerance 1e-5
[[ $out == *dust/position* && $out != *mass* ]] || complain "$out"

# What cannot be compared: 2, whatever the reason.
refuse 2 'usage' "$BOUMA" diff
refuse 2 'say what to compare one.bouma with' "$BOUMA" diff one.bouma
refuse 2 'no.bouma' "$BOUMA" diff one.bouma no.bouma
refuse 2 'step 7: one.bouma has no such' "$BOUMA" diff one.bouma@7 one.bouma@0
refuse 2 'give one of them' "$BOUMA" diff one.bouma@0 two.bouma --step 0
refuse 2 '4 steps of A cannot be compared with 1 of B' "$BOUMA" diff p.bouma@all p.bouma@0
refuse 2 'tolerance -1' "$BOUMA" diff one.bouma two.bouma --tolerance -1
refuse 2 'tolerance x' "$BOUMA" diff one.bouma two.bouma --tolerance x --json
file=$(ls two.bouma/steps/00000000/* | grep -v manifest | head -n 1)
truncate -s 100 "$file"
refuse 2 'two.bouma' "$BOUMA" diff one.bouma@0 two.bouma
finish
