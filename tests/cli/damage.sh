#!/bin/bash
# damage.sh -- damaged files are found, never read as good ones; repair tells
# before it acts, and deletes nothing.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(5)
np.save('a.npy', r.random((40, 40, 40)).astype('f4'))"
for _ in 1 2 3; do
    expect 0 "$BOUMA" import a.npy --into good.bouma --patch 16 --files 2
done
expect 0 "$BOUMA" verify good.bouma
[[ $out == *sound* ]] || complain "verify said: $out"

# A fresh copy to damage, and the largest file of its step 1.
fresh()
{
    rm -rf bad.bouma
    cp -r good.bouma bad.bouma
    victim=$(find bad.bouma/steps/00000001 -name 'd.*' -printf '%s %p\n' |
        sort -n | tail -1 | cut -d' ' -f2)
}

# flip FILE OFFSET: change one bit.
flip()
{
    python "
with open('$1', 'r+b') as f:
    f.seek($2)
    b = f.read(1)[0]
    f.seek($2)
    f.write(bytes([b ^ 4]))"
}

# Every bit counts: try some bytes of a file, and the manifest.
size=$(stat -c %s "$(fresh; echo "$victim")")
for offset in 0 9 70 $((size / 2)) $((size - 1)); do
    fresh
    flip "$victim" "$offset"
    expect 1 "$BOUMA" verify bad.bouma
    [[ $out == *damage* && $out == *"${victim#bad.bouma/}"* ]] ||
        complain "verify said: $out"
    # Once in a line, the file is named.
    [[ -z $(grep "${victim#bad.bouma/}.*${victim##*/}" <<<"$out") ]] ||
        complain "verify named a file twice: $out"
    # Other steps are none the worse for it.
    expect 0 "$BOUMA" read bad.bouma grid/a --step 2 -o out.npy
    equal out.npy "np.load('a.npy')"
    # This one is whole or refused.
    rm -f out.npy
    run "$BOUMA" read bad.bouma grid/a --step 1 -o out.npy
    if [[ $status -eq 0 ]]; then
        equal out.npy "np.load('a.npy')"
    elif [[ $status -ne 1 || -z $err || -e out.npy ]]; then
        complain "reading damage: $status, $err"
    fi
done
expect 1 "$BOUMA" verify bad.bouma --json
[[ $(jq '.sound, .damages > 0, .findings[0].severity' <<<"$out" | xargs) == \
    "false true damage" ]] || complain "verify --json said: $out"

# A file cut short, and one that is gone.
fresh
truncate -s -1 "$victim"
expect 1 "$BOUMA" verify bad.bouma quick
fresh
rm "$victim"
expect 1 "$BOUMA" verify bad.bouma quick
[[ $out == *"${victim#bad.bouma/}: could not be opened: no such file"* ]] ||
    complain "verify said: $out"
expect 0 "$BOUMA" info bad.bouma

# A dry run changes nothing; with --apply nothing is lost.
before=$(find bad.bouma -type f -exec cksum {} + | sort)
run "$BOUMA" repair bad.bouma
[[ $status -le 1 ]] || complain "repair gave $status: $err"
[[ $(find bad.bouma -type f -exec cksum {} + | sort) == "$before" ]] ||
    complain "a dry run changed something"
sums()
{
    find bad.bouma -type f -exec sha256sum {} + | cut -d' ' -f1 | sort -u
}
kept=$(comm -23 <(sums) <(sha256sum bad.bouma/index 2>/dev/null | cut -d' ' -f1))
run "$BOUMA" repair bad.bouma --apply
[[ $status -le 1 ]] || complain "repair --apply gave $status: $err"
[[ -z $(comm -23 <(echo "$kept") <(sums)) ]] || complain "repair deleted files"
expect 0 "$BOUMA" read bad.bouma grid/a --step 2 -o out.npy
equal out.npy "np.load('a.npy')"

# One step whose manifest is damaged does not hide the others.
fresh
last=$(ls bad.bouma/steps | tail -1)
truncate -s 100 "bad.bouma/steps/$last/manifest"
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"steps/$last/manifest: has 100 bytes"* ]] ||
    complain "verify said: $out"
run "$BOUMA" info bad.bouma
[[ $status == 1 && $out == *damaged* ]] || complain "info gave $status: $out"
expect 1 "$BOUMA" info bad.bouma --json

# The copy of a step under another number: each says how to put it right, once.
fresh
cp -r bad.bouma/steps/00000001 bad.bouma/steps/00000007
refuse 1 '`bouma repair --apply` fixes that' \
    "$BOUMA" read bad.bouma grid/a -o out.npy
expect 1 "$BOUMA" verify bad.bouma quick
[[ $(grep -c "holds the manifest of step 1, not of step 7" <<<"$out") == 1 ]] ||
    complain "verify said: $out"
expect 0 "$BOUMA" repair bad.bouma --apply
expect 0 "$BOUMA" verify bad.bouma
expect 0 "$BOUMA" read bad.bouma grid/a -o out.npy

# Files of one step in the directory of another, where they look like those of
# an earlier writing: they go back.
fresh
mv bad.bouma/steps/00000001/d.* bad.bouma/steps/00000002/
expect 0 "$BOUMA" repair bad.bouma --apply
expect 0 "$BOUMA" verify bad.bouma
expect 0 "$BOUMA" read bad.bouma grid/a --step 1 -o out.npy
equal out.npy "np.load('a.npy')"

# A step of another dataset is no loss of this one.
fresh
rm -rf other.bouma
expect 0 "$BOUMA" import a.npy --into other.bouma --patch 16 --files 2
cp -r other.bouma/steps/00000000 bad.bouma/steps/00000005
expect 1 "$BOUMA" verify bad.bouma quick
[[ $out == *"belongs to another dataset; \`bouma repair --apply\` moves"* ]] ||
    complain "verify said: $out"
expect 0 "$BOUMA" repair bad.bouma --apply
expect 0 "$BOUMA" verify bad.bouma
[[ -e bad.bouma/lost/steps.00000005.manifest.0 ]] || complain "it is gone"
[[ ! -e bad.bouma/lost/00000005.loss ]] || complain "a false loss on record"

# A pipe does not end the repair of all steps.
fresh
mkfifo bad.bouma/steps/00000000/mended.tmp.e5
rm bad.bouma/steps/00000001/manifest
expect 1 "$BOUMA" repair bad.bouma --apply
expect 0 "$BOUMA" read bad.bouma grid/a --step 1 -o out.npy
# And attributes are no file.
expect 0 "$BOUMA" info bad.bouma
[[ $out == *"lost: step 1, attributes, with its manifest"* ]] ||
    complain "info said: $out"

# A step that is gone is damage, on record until it is forgotten.
fresh
rm -r bad.bouma/steps/00000001
expect 1 "$BOUMA" verify bad.bouma quick
[[ $out == *"step 1 (time 1) was committed and is lost (not on record)"* ]] ||
    complain "verify said: $out"
expect 1 "$BOUMA" repair bad.bouma --apply
rm bad.bouma/index
expect 1 "$BOUMA" verify bad.bouma quick
[[ $out == *"step 1 (time 1) was committed and is lost (recorded 20"* ]] ||
    complain "verify said: $out"
expect 0 "$BOUMA" info bad.bouma
[[ $out == *"lost: step 1, time 1"* ]] || complain "info said: $out"
expect 0 "$BOUMA" info bad.bouma --json
[[ $(jq '.lost[0].step, .lost[0].files' <<<"$out" | xargs) == "1 null" ]] ||
    complain "info --json said: $out"
expect 2 "$BOUMA" repair bad.bouma --forget two
expect 2 "$BOUMA" repair bad.bouma --forget 2
expect 0 "$BOUMA" repair bad.bouma --forget 1
expect 1 "$BOUMA" verify bad.bouma quick
expect 0 "$BOUMA" repair bad.bouma --forget 1 --apply
expect 0 "$BOUMA" verify bad.bouma quick
expect 0 "$BOUMA" info bad.bouma --json
[[ $(jq '.lost | length' <<<"$out") == 0 ]] || complain "info said: $out"

# Who reads the last step is told if it is not the last that was committed; a
# lost step is never one that was never there.
tells_of_the_loss()
{
    refuse 1 "step 2 was committed and is lost" "$BOUMA" read bad.bouma grid/a \
        --step 2 -o out.npy
    refuse 1 "step 2 was committed and is lost" "$BOUMA" info bad.bouma --step 2
    refuse 2 "there is no step 3" "$BOUMA" read bad.bouma grid/a --step 3 \
        -o out.npy
    expect 0 "$BOUMA" read bad.bouma grid/a -o out.npy
    [[ $err == *"step 2 is lost; reading step 1"* ]] ||
        complain "read said: $err"
    expect 0 "$BOUMA" render bad.bouma grid/a -o out.png
    [[ $err == *"step 2 is lost; reading step 1"* ]] ||
        complain "render said: $err"
    expect 0 "$BOUMA" read bad.bouma grid/a --step 1 -o out.npy
    [[ -z $err ]] || complain "read --step 1 said: $err"
}
fresh
rm -r bad.bouma/steps/00000002
tells_of_the_loss
expect 1 "$BOUMA" repair bad.bouma --apply
tells_of_the_loss
rm -r bad.bouma/steps/0*
refuse 1 "step 0 was committed and is lost" "$BOUMA" read bad.bouma grid/a \
    --step 0 -o out.npy
refuse 1 "all its steps are lost" "$BOUMA" read bad.bouma grid/a -o out.npy
expect 0 "$BOUMA" repair bad.bouma --forget all --apply
refuse 2 "there is no step in bad.bouma yet" "$BOUMA" read bad.bouma grid/a \
    -o out.npy

# The next import does not replace a lost step.
fresh
last=$("$BOUMA" info bad.bouma --json | jq '.steps[-1].step')
rm -r "bad.bouma/steps/$(printf %08d "$last")"
expect 0 "$BOUMA" import a.npy --into bad.bouma --json
[[ $(jq .step <<<"$out") == $((last + 1)) ]] || complain "import said: $out"
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"step $last (time "*"is lost"* ]] || complain "verify said: $out"

# A damaged chunk stays a damage, and repair says so, until it is accepted.
fresh
flip "$victim" $((size / 2))
expect 2 "$BOUMA" repair bad.bouma --forget 1 --apply
[[ $err == *"repair --apply"* ]] || complain "repair said: $err"
expect 0 "$BOUMA" repair bad.bouma --forget all
[[ $out == *"repair --apply"* ]] || complain "repair said: $out"
# The exit status is that of verify, whether the damage is on record or not.
expect 1 "$BOUMA" repair bad.bouma --forget all --apply
[[ $out == *"damage that is not on record"* ]] || complain "repair said: $out"
expect 1 "$BOUMA" repair bad.bouma --forget all --apply --json
[[ $(jq .hopeless <<<"$out") == 1 ]] || complain "repair said: $out"
expect 1 "$BOUMA" repair bad.bouma
expect 1 "$BOUMA" repair bad.bouma --apply
[[ $out == *"1 action done; 1 damage stays, all else can be read"* ]] ||
    complain "repair said: $out"
expect 1 "$BOUMA" verify bad.bouma
expect 0 "$BOUMA" info bad.bouma
[[ $out == *"lost: step 1, parts of 1 of its files"* ]] ||
    complain "info said: $out"
expect 0 "$BOUMA" repair bad.bouma --forget 1 --apply
expect 0 "$BOUMA" verify bad.bouma deep
expect 0 "$BOUMA" repair bad.bouma --apply
[[ $out == *"nothing to repair; except for what is noted above"* ]] ||
    complain "repair said: $out"
expect 0 "$BOUMA" repair good.bouma
[[ $out == *"nothing to repair, and all checksums match"* ]] ||
    complain "repair said: $out"

# One file that was cut is one damage, whoever counts.
fresh
truncate -s $((size / 2)) "$victim"
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"bad.bouma: 1 damage;"* ]] || complain "verify said: $out"
expect 1 "$BOUMA" repair bad.bouma --apply
[[ $out == *"1 damage stays"* ]] || complain "repair said: $out"

# What is no file is as if the file were missing: not unchecked for ever.
fresh
rm bad.bouma/steps/00000001/manifest "$victim"
mkdir -p bad.bouma/steps/00000001/manifest/of/others
mkfifo "$victim"
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"manifest: could not be opened: is a directory"* ]] ||
    complain "verify said: $out"
expect 1 "$BOUMA" repair bad.bouma --apply
[[ $out != *unchecked* ]] || complain "repair said: $out"
[[ -d bad.bouma/lost/steps.00000001.manifest.0.other/of/others ]] ||
    complain "not moved: $(ls bad.bouma/lost)"
expect 1 "$BOUMA" repair bad.bouma --apply
[[ $out == *" 0 actions done"* ]] || complain "repair said: $out"
expect 0 "$BOUMA" repair bad.bouma --forget all --apply
expect 0 "$BOUMA" verify bad.bouma

# The directories of a dataset: named, and made anew.
fresh
rm -r bad.bouma/epochs
expect 1 "$BOUMA" verify bad.bouma quick
[[ $out == *"epochs: is missing"* ]] || complain "verify said: $out"
expect 1 "$BOUMA" import a.npy --into bad.bouma
expect 0 "$BOUMA" repair bad.bouma --apply
expect 0 "$BOUMA" verify bad.bouma quick
expect 0 "$BOUMA" import a.npy --into bad.bouma
fresh
rm -r bad.bouma/steps
for command in info verify repair; do
    expect 1 "$BOUMA" "$command" bad.bouma
done
expect 1 "$BOUMA" read bad.bouma grid/a -o out.npy
expect 1 "$BOUMA" repair bad.bouma --apply
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"step 2 (time 2) was committed and is lost (recorded"* ]] ||
    complain "verify said: $out"
expect 0 "$BOUMA" repair bad.bouma --forget all --apply
expect 0 "$BOUMA" verify bad.bouma
expect 0 "$BOUMA" import a.npy --into bad.bouma --patch 16

# The same status as from other commands.
expect 2 "$BOUMA" verify nope --json
[[ $err == *'"ENOTFOUND"'* ]] || complain "verify said: $err"
expect 1 bash -c '"$0" info good.bouma --json >/dev/full' "$BOUMA"
[[ $err == *'"ENOSPC"'*"No space left"* ]] || complain "info said: $err"

# What is no dataset cannot be checked; one without its first file is damaged.
expect 2 "$BOUMA" verify a.npy
fresh
rm bad.bouma/DATASET
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"DATASET: bad.bouma: has steps"* ]] || complain "verify said: $out"
fresh
flip bad.bouma/DATASET 40
expect 1 "$BOUMA" verify bad.bouma
[[ $out == *"DATASET: the checksum does not match"* ]] ||
    complain "verify said: $out"
finish
