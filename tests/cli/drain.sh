#!/bin/bash
# drain.sh -- what was kept on local storage comes to the dataset.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(1)
for i in range(3):
    np.save('a%d.npy' % i, r.random((40, 30, 20)).astype('f4'))
"
mkdir near far
# keep NUMBER: write a step that persists; import closes, so it is drained.
keep()
{
    BOUMA_OPTIONS='persist=yes;local=near' \
        expect 0 "$BOUMA" import "a$1.npy" --into far/run.bouma --var a \
        --step "$1" --files 3 --patch 16
}
for i in 0 1 2; do
    keep $i
done
for place in near far; do
    expect 0 "$BOUMA" verify $place/run.bouma deep
    for i in 0 1 2; do
        expect 0 "$BOUMA" read $place/run.bouma grid/a --step $i -o out.npy
        equal out.npy "np.load('a$i.npy')"
    done
done

# The wrong way round.
refuse 2 'the local copy comes first' "$BOUMA" drain far/run.bouma near/run.bouma --remove
expect 0 "$BOUMA" read far/run.bouma grid/a --step 1 -o out.npy

# All is there: nothing to do.
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma
[[ $out == *"0 steps drained"*"3 steps there before"* ]] || complain "$out"

# The whole dataset from its local copy, and steps that are missing.
rm -r far/run.bouma
BOUMA_OPTIONS='persist=yes;local=near' refuse 2 'drain it' "$BOUMA" import \
    a0.npy --into far/run.bouma
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma
[[ $out == *"3 steps drained to far/run.bouma (9 files, "* ]] || complain "$out"
expect 0 "$BOUMA" verify far/run.bouma deep
rm -r far/run.bouma/steps/00000001
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma --json
jq -e '.published == 1 and .present == 2 and .files == 3 and .waiting == 0 and
    .steps == 3 and .removed == 0 and .failed == 0' <<<"$out" >/dev/null ||
    complain "$out"
expect 0 "$BOUMA" read far/run.bouma grid/a --step 1 -o out.npy
equal out.npy "np.load('a1.npy')"

# Who goes on is told of steps that were not drained.
cp -r far/run.bouma far/again.bouma
cp -r near/run.bouma near/again.bouma
rm -r far/again.bouma/steps/00000001
BOUMA_OPTIONS='persist=yes;local=near' expect 0 "$BOUMA" import a0.npy \
    --into far/again.bouma --var a
[[ $err == *"note: 1 step is in near/again.bouma only"* ]] || complain "$err"
rm -r far/again.bouma near/again.bouma

# A directory by another name is the same directory: nothing may be lost.
ln -s run.bouma far/alias.bouma
for alias in ./far/run.bouma far/../far/run.bouma "$PWD/far/run.bouma/" \
    far/alias.bouma; do
    refuse 2 'cannot be drained to itself' "$BOUMA" drain far/run.bouma \
        "$alias" --remove
done
rm far/alias.bouma
expect 0 "$BOUMA" verify far/run.bouma deep
expect 0 "$BOUMA" read far/run.bouma grid/a --step 1 -o out.npy

# What cannot be kept leaves nothing behind.
BOUMA_OPTIONS='persist=yes;local=nowhere' refuse 2 'nowhere' "$BOUMA" import \
    a0.npy --into far/new.bouma
[[ ! -e far/new.bouma ]] || complain "far/new.bouma was left"

# A step that was written again there: the later writing counts.
cp -r near near2
cp -r far far2
expect 0 "$BOUMA" import a0.npy --into far2/run.bouma --var a --step 1 \
    --replace --files 3 --patch 16
expect 0 "$BOUMA" drain near2/run.bouma far2/run.bouma --remove
[[ $out == *"2 steps removed here"* ]] || complain "$out"
[[ $out == *"kept here: there is a later version"* ]] || complain "$out"
[[ $(ls near2/run.bouma/steps) == 00000001 ]] || complain "not kept"
expect 0 "$BOUMA" read far2/run.bouma grid/a --step 1 -o out.npy
equal out.npy "np.load('a0.npy')"
rm -r near2 far2

# What is lost here is on record there.
cp -r near near2
rm -r near2/run.bouma/steps/00000001
expect 0 "$BOUMA" drain near2/run.bouma far2.bouma
[[ $out == *"1 lost step recorded there"* ]] || complain "$out"
run "$BOUMA" verify far2.bouma
[[ $status -ne 0 && $out == *"step 1"*"was committed and is lost"* ]] ||
    complain "$status $out"
rm -r near2 far2.bouma

# A damaged chunk that is on record is not a lost step; and what was done is
# printed after a failure, too.
cp -r near near2
rm -r near2/run.bouma/steps/00000002
python "
import glob
with open(glob.glob('near2/run.bouma/steps/00000001/d.0001*')[0], 'r+b') as f:
    f.seek(0, 2)
    f.seek(f.tell() // 2)
    f.write(bytes(4 * [255]))
"
run "$BOUMA" repair near2/run.bouma --apply
[[ -e near2/run.bouma/lost/00000001.loss ]] || complain "not on record: $out"
cp -r near2 near3
expect 1 "$BOUMA" drain near2/run.bouma far2.bouma
[[ $err == *"step 1 was not drained"* ]] || complain "$err"
[[ $out == *"1 step drained to far2.bouma"* ]] || complain "$out"
[[ $out == *"1 lost step recorded there"* ]] || complain "$out"
[[ $out == *"1 step failed, and kept here"* ]] || complain "$out"
[[ $(ls far2.bouma/lost) == 00000002.loss ]] || complain "$(ls far2.bouma/lost)"
run "$BOUMA" drain near3/run.bouma far3.bouma --json
[[ $status -eq 1 && -n $out ]] || complain "$status $err"
jq -e '.published == 1 and .losses == 1 and .failed == 1' <<<"$out" \
    >/dev/null || complain "$out"
rm -r near2 near3 far2.bouma far3.bouma

# Steps that were dropped from the dataset do not come back; new ones are drained.
mkdir ssd project
for i in 0 1 2 2; do
    BOUMA_OPTIONS='persist=yes;local=ssd' expect 0 "$BOUMA" import a$i.npy \
        --into project/r.bouma --var a
done
expect 0 "$BOUMA" truncate project/r.bouma --after 0
expect 0 "$BOUMA" import a2.npy --into project/r.bouma --var a
expect 0 "$BOUMA" drain ssd/r.bouma project/r.bouma
[[ $out == *"0 steps drained"*"1 step there before"* ]] || complain "$out"
[[ $out == *"3 steps not copied: dropped from project/r.bouma"* ]] ||
    complain "$out"
[[ $(ls project/r.bouma/steps) == 00000000$'\n'00000001 ]] ||
    complain "$(ls project/r.bouma/steps)"
BOUMA_OPTIONS='local=ssd' expect 0 "$BOUMA" info project/r.bouma --json
jq -e '.steps | length == 2' <<<"$out" >/dev/null || complain "$out"
cp -r ssd ssd2
expect 0 "$BOUMA" drain ssd2/r.bouma project/r.bouma --remove --json
jq -e '.dropped == 3 and .older == 0 and .removed == 4 and .published == 0' \
    <<<"$out" >/dev/null || complain "$out"
[[ -z $(ls ssd2/r.bouma/steps) ]] || complain "not removed"
BOUMA_OPTIONS='persist=yes;local=ssd' expect 0 "$BOUMA" import a1.npy \
    --into project/r.bouma --var a
[[ $(ls ssd/r.bouma/steps) == 00000000$'\n'00000002 ]] ||
    complain "$(ls ssd/r.bouma/steps)"
rm -r project/r.bouma/steps/00000002
expect 0 "$BOUMA" drain ssd/r.bouma project/r.bouma
[[ $out == *"1 step drained"* && $out != *"dropped"* ]] || complain "$out"
printf x >project/r.bouma/truncations
expect 1 "$BOUMA" verify project/r.bouma
[[ $out$err == *"which steps were dropped is not known"* ]] || complain "$out$err"
refuse 1 'nothing was copied' "$BOUMA" drain ssd/r.bouma project/r.bouma
expect 0 "$BOUMA" repair project/r.bouma --apply
[[ -e project/r.bouma/lost/truncations.0 ]] || complain "$out"
expect 0 "$BOUMA" verify project/r.bouma
rm -r ssd ssd2 project

# Other files are left alone.
mkdir home
touch home/thesis.tex
refuse 2 'not a bouma dataset' "$BOUMA" drain near/run.bouma home
[[ $(ls home) == thesis.tex ]] || complain "home was changed"

# Two nodes, one after the other.
cp -r near other
rm near/run.bouma/steps/*/d.0000* other/run.bouma/steps/*/d.000[12]*
rm -r far/run.bouma
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma
[[ $out == *"3 steps waiting for files of other nodes"* ]] || complain "$out"
refuse 2 'no step' "$BOUMA" read far/run.bouma grid/a --step 0 -o out.npy
# Who repairs it meanwhile leaves what has arrived.
before=$(cd far/run.bouma/steps && find . -type f | sort)
expect 0 "$BOUMA" repair far/run.bouma --apply
[[ $out == *"waits for files that were not drained yet"* ]] || complain "$out"
[[ $(cd far/run.bouma/steps && find . -type f | sort) == "$before" ]] ||
    complain "files were moved: $out"
expect 0 "$BOUMA" drain other/run.bouma far/run.bouma --remove
[[ $out == *"3 steps drained"*"3 steps removed here"* ]] || complain "$out"
expect 0 "$BOUMA" verify far/run.bouma deep
[[ $(find far/run.bouma/steps -name 'copy.*') == "" ]] || complain "left copies"
[[ -z $(ls other/run.bouma/steps) ]] || complain "not removed"

# A part that was read at local speed: the file that is far is not there.
mv far/run.bouma/steps/00000002 .
BOUMA_OPTIONS='local=near' expect 0 "$BOUMA" info far/run.bouma --json
jq -e '.steps | length == 3' <<<"$out" >/dev/null || complain "$out"
mv 00000002 far/run.bouma/steps/

# Errors.
expect 0 "$BOUMA" import a0.npy --into far/other.bouma
refuse 2 'another dataset than near/run.bouma' "$BOUMA" drain near/run.bouma \
    far/other.bouma
refuse 2 'no such' "$BOUMA" drain near/nothing.bouma far/run.bouma
refuse 2 'drained to itself' "$BOUMA" drain near/run.bouma near/run.bouma
refuse 2 'LOCAL' "$BOUMA" drain near/run.bouma
BOUMA_OPTIONS='persist=yes' refuse 2 '--persist needs --local' "$BOUMA" import a0.npy \
    --into far/third.bouma
BOUMA_OPTIONS='persist=yes;local=near;durability=group=3' refuse 2 'group' \
    "$BOUMA" import a0.npy --into far/third.bouma
finish
