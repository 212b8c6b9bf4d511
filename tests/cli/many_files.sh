#!/bin/bash
# many_files.sh -- a step of more than 1,024 files: those after the first 1,024
# are in subdirectories, and all that works with files finds them there.
source "$(dirname "$0")/common.bash"
do_not_sync
shopt -s nullglob

python "np.save('a.npy', np.arange(36.0 * 32).reshape(36, 32))"
many=(--files 1100 --patch 1 --codec raw)

# laid_out STEP HERE BELOW: how many files there are in a step's directory, and
# in the only one below it.
laid_out()
{
    local here=("$1"/d.*) below=("$1"/*/d.*) ours=("$1"/0001/d.1???.*)
    [[ ${#here[@]} == "$2" && ${#below[@]} == "$3" && ${#ours[@]} == "$3" ]] ||
        complain "$1: ${#here[@]} files, ${#below[@]} below"
}

# same DATASET STEP: it holds what was imported.
same()
{
    expect 0 "$BOUMA" read "$1" grid/a --step "$2" -o out.npy
    equal out.npy "np.load('a.npy')"
}

# whole DATASET: nothing is wrong with it, and nothing is to be told.
whole()
{
    expect 0 "$BOUMA" verify "$1" deep
    [[ $out != *note* ]] || complain "$out"
}

# Four processes write a step, one process the next. One of 1,024 files has no
# other directory.
if [[ $MPIRUN ]]; then
    # shellcheck disable=SC2086  # several words
    expect 0 $MPIRUN -n 4 "$BOUMA_MPI" import a.npy --into run.bouma --step 1 \
        "${many[@]}"
else
    expect 0 "$BOUMA" import a.npy --into run.bouma --step 1 "${many[@]}"
fi
expect 0 "$BOUMA" import a.npy --into run.bouma --step 2 "${many[@]}"
expect 0 "$BOUMA" import a.npy --into run.bouma --step 3 --files 1024 --patch 1
laid_out run.bouma/steps/00000001 1024 76
laid_out run.bouma/steps/00000002 1024 76
laid_out run.bouma/steps/00000003 1024 0
whole run.bouma
same run.bouma 1
same run.bouma 3
(cd "$tests/../python" && "$PYTHON" -B - "$folder/run.bouma" <<'END') ||
import sys, bouma_reader
step = bouma_reader.Dataset(sys.argv[1]).open(1)
sys.exit(sum(subfile.path.count("/0001/") for subfile in step.subfiles) != 76)
END
    complain "the reader in Python does not read it"

# A file that strayed into another step goes back; a head is mended where it is.
mkdir run.bouma/steps/00000001/0001/x run.bouma/steps/00000003/0001
rmdir run.bouma/steps/00000001/0001/x
mv run.bouma/steps/00000002/0001/d.1030.* run.bouma/steps/00000003/0001
file=(run.bouma/steps/00000001/0001/d.1025.*)
printf damaged | dd of="${file[0]}" bs=1 seek=70 conv=notrunc status=none
expect 1 "$BOUMA" verify run.bouma
[[ $out == *0001/d.1025* && $out == *0001/d.1030* ]] || complain "$out"
expect 0 "$BOUMA" repair run.bouma --apply
laid_out run.bouma/steps/00000002 1024 76
laid_out run.bouma/steps/00000003 1024 0
whole run.bouma
same run.bouma 1
same run.bouma 2

# A manifest is made anew from what the files say.
cp -r run.bouma hurt.bouma
rm hurt.bouma/steps/00000001/manifest
run "$BOUMA" repair hurt.bouma --apply
[[ $out == *"made anew from the subfiles"* ]] || complain "$out"
same hurt.bouma 1

# What a killed writer has left there goes, too.
rm hurt.bouma/steps/00000002/{manifest,d.*} hurt.bouma/index
run "$BOUMA" repair hurt.bouma --apply
files=(hurt.bouma/steps/00000002/*/d.*)
[[ ${#files[@]} == 0 ]] || complain "${#files[@]} files are left"

# A local copy, drained.
mkdir near far
BOUMA_OPTIONS='persist=yes;local=near;durability=fast' \
    expect 0 "$BOUMA" import a.npy --into far/run.bouma --step 1 "${many[@]}"
laid_out near/run.bouma/steps/00000001 1024 76
laid_out far/run.bouma/steps/00000001 1024 76
whole far/run.bouma
same far/run.bouma 1

# A sheet that is damaged in the dataset comes from the local copy; one that is
# damaged in the local copy is told, and nothing is added to such a step.
sheet=steps/00000001/manifest
printf damaged | dd of=far/run.bouma/$sheet bs=1 seek=66000 conv=notrunc status=none
expect 1 "$BOUMA" verify far/run.bouma
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma
whole far/run.bouma
same far/run.bouma 1
printf damaged | dd of=near/run.bouma/$sheet bs=1 seek=66000 conv=notrunc status=none
expect 1 "$BOUMA" drain near/run.bouma far/run.bouma
[[ $err == *"not drained: near/run.bouma/$sheet, sheet 0"* ]] || complain "$err"
whole far/run.bouma
cp -r far/run.bouma far/hurt.bouma
printf Damaged | dd of=far/hurt.bouma/$sheet bs=1 seek=66000 conv=notrunc status=none
expect 1 "$BOUMA" add a.npy --into far/hurt.bouma --step 1 --grid more
[[ $err == *"far/hurt.bouma/$sheet, sheet 0"* ]] || complain "$err"
expect 1 "$BOUMA" drain near/run.bouma far/hurt.bouma
[[ $err == *"not drained: near/run.bouma/$sheet, sheet 0"* ]] || complain "$err"
rm -r far/hurt.bouma

# A sheet is made again also if a file is gone, from what is left of it in the
# damaged one. What the file had is lost, and can be forgotten.
cp -r far/run.bouma far/hurt.bouma
printf damaged | dd of=far/hurt.bouma/$sheet bs=1 seek=66000 conv=notrunc status=none
rm far/hurt.bouma/steps/00000001/d.0500.*
expect 1 "$BOUMA" repair far/hurt.bouma --apply
[[ $out == *"damaged sheets made again"*d.0500.*"1 damage stays"*--forget* ]] ||
    complain "$out"
expect 0 "$BOUMA" repair far/hurt.bouma --forget 1 --apply
expect 0 "$BOUMA" verify far/hurt.bouma
BOUMA_OPTIONS= expect 0 "$BOUMA" import a.npy --into far/hurt.bouma --step 1 \
    --replace "${many[@]}"
whole far/hurt.bouma
rm -r far/hurt.bouma

# Written again with few files: the others go, with their directory.
BOUMA_OPTIONS= expect 0 "$BOUMA" import a.npy --into run.bouma --step 1 \
    --replace --files 2 --patch 16
files=(run.bouma/steps/00000001/*)
[[ ${#files[@]} == 3 ]] || complain "${#files[@]} files: ${files[0]} ..."

# Steps go with all that is in them.
expect 0 "$BOUMA" delete-step run.bouma 2
[[ ! -e run.bouma/steps/00000002 ]] || complain "step 2 is there"
whole run.bouma
expect 0 "$BOUMA" truncate far/run.bouma --after -1
[[ ! -e far/run.bouma/steps/00000001 ]] || complain "step 1 is there"
expect 0 "$BOUMA" import a.npy --into hurt.bouma --clobber --step 7
[[ ! -e hurt.bouma/steps/00000001 ]] || complain "step 1 is there"
finish
