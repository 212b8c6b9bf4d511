#!/bin/bash
# clobber_and_truncate.sh -- starting anew, dropping steps, writing them again.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(1)
for i in range(3):
    np.save('a%d.npy' % i, r.random((20, 30, 20)).astype('f4'))
"
for i in 0 1 2; do
    expect 0 "$BOUMA" import a$i.npy --into run.bouma --var a --step $((10 * i))
done

# A step that is written again takes no more room than before.
before=$(find run.bouma/steps -type f | wc -l)
expect 0 "$BOUMA" import a1.npy --into run.bouma --var a --step 20 --replace
[[ $(find run.bouma/steps -type f | wc -l) == "$before" ]] ||
    complain "$(find run.bouma)"
expect 0 "$BOUMA" read run.bouma grid/a --step 20 -o out.npy
equal out.npy "np.load('a1.npy')"

# truncate
refuse 2 'the last to keep: --after N' "$BOUMA" truncate run.bouma
refuse 2 'after' "$BOUMA" truncate run.bouma --after -2
expect 0 "$BOUMA" truncate run.bouma --after 15
[[ $out == "run.bouma: 1 step dropped, 2 steps left" ]] || complain "$out"
expect 0 "$BOUMA" truncate run.bouma --after 0 --json
jq -e '.dropped == 1 and .steps == 1' <<<"$out" >/dev/null || complain "$out"
expect 0 "$BOUMA" verify run.bouma deep
[[ ! -e run.bouma/steps/00000010 ]] || complain "step 10 is there"

# --clobber
expect 0 "$BOUMA" import a2.npy --into run.bouma --var b --clobber
[[ $(ls run.bouma/steps) == 00000000 ]] || complain "$(ls run.bouma/steps)"
expect 0 "$BOUMA" read run.bouma grid/b -o out.npy
equal out.npy "np.load('a2.npy')"
expect 0 "$BOUMA" verify run.bouma deep
mkdir mine
echo precious >mine/file
refuse 2 'is not a readable bouma dataset' "$BOUMA" import a2.npy --into mine --clobber
[[ -e mine/file ]] || complain "a file was removed"
# Other files beside those of a dataset stay.
expect 0 "$BOUMA" import a1.npy --into beside --var b
echo precious >beside/notes
expect 0 "$BOUMA" import a2.npy --into beside --var b --clobber
[[ $(cat beside/notes) == precious ]] || complain "a file was removed"
# --clobber is not advised where it does not help.
ln -s nothing_there dangling
refuse 2 'a dangling link' "$BOUMA" import a2.npy --into dangling --var b --clobber
echo >plain
refuse 2 'remove it yourself' "$BOUMA" import a2.npy --into plain --var b --clobber
# What cannot be read clobbers nothing.
refuse 2 'nothing.npy' "$BOUMA" import nothing.npy --into run.bouma --clobber
expect 0 "$BOUMA" read run.bouma grid/b -o out.npy

# Nor does a variable that was left over in the shell.
refuse 2 'only a program can set it' \
    env BOUMA_OPTIONS=clobber=1 "$BOUMA" import a2.npy --into run.bouma --var c
expect 0 "$BOUMA" read run.bouma grid/b -o out.npy

# NFS keeps a removed file that is still open under another name.
touch run.bouma/steps/00000000/.nfs0000000000000001
"$BOUMA" truncate run.bouma --after -1 2>notes >out.txt || complain "truncate"
grep -q 'still open' notes || complain "$(cat notes)"
[[ $(cat out.txt) == "run.bouma: 1 step dropped, 0 steps left" ]] ||
    complain "$(cat out.txt)"
expect 0 "$BOUMA" import a1.npy --into run.bouma --var b --clobber
expect 0 "$BOUMA" verify run.bouma deep
finish
