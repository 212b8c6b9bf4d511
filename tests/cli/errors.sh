#!/bin/bash
# errors.sh -- a wrong call or file is told in one line that says what to do,
# with the right exit status, and harms nothing.
source "$(dirname "$0")/common.bash"

python "
a = np.arange(24 * 24 * 24, dtype='f4').reshape(24, 24, 24)
np.save('a.npy', a)
np.save('b.npy', a[:, :, :20])
np.save('v.npy', a.reshape(24, 24, 8, 3))
np.save('four.npy', a.reshape(2, 12, 24, 24))
a.tofile('a.raw')
open('a.txt', 'w').close()"
expect 0 "$BOUMA" import a.npy --into run.bouma
find run.bouma/steps -type f -exec cksum {} + | sort >before

# The call.
refuse 2 "'bouma help' lists all" "$BOUMA"
refuse 2 "did you mean 'import'" "$BOUMA" improt a.npy
refuse 2 "there is no command 'zzz'" "$BOUMA" zzz
refuse 2 "did you mean --level" "$BOUMA" read run.bouma grid/a --levle 1 -o x.npy
refuse 1 "'a' has 3 axes; a column of particles" "$BOUMA" import a.npy \
    --into x.bouma --particles p
refuse 2 "there is no option -x" "$BOUMA" info -x run.bouma
refuse 2 "--into needs a value" "$BOUMA" import a.npy --into
refuse 2 "--into needs a value" "$BOUMA" import a.npy --into --step 3
refuse 2 "--step is given twice" "$BOUMA" info run.bouma --step 1 --step 2
refuse 2 "--json takes no value" "$BOUMA" info run.bouma --json=yes
refuse 2 "too few arguments; usage: bouma info DS" "$BOUMA" info
refuse 2 "unexpected argument 'other.bouma'" "$BOUMA" info run.bouma other.bouma
refuse 2 "not a depth; there are quick, meta, full and deep" "$BOUMA" verify run.bouma fully

# import
refuse 2 "say where to" "$BOUMA" import a.npy
refuse 2 "none.npy" "$BOUMA" import none.npy --into x.bouma
refuse 2 "grids come from .npy, .raw and .idx" "$BOUMA" import a.txt --into x.bouma
refuse 2 "--shape NZ,NY,NX and --type" "$BOUMA" import a.raw --into x.bouma
refuse 2 "add --type" "$BOUMA" import a.raw --shape 24,24,24 --into x.bouma
refuse 1 "expected 52992 bytes for 24 x 24 x 23 samples of 1 f32, found 55296" \
    "$BOUMA" import a.raw --shape 24,24,23 --type f32 --into x.bouma
refuse 1 "larger than any file" "$BOUMA" import a.raw --type f64 \
    --shape 9223372036854775807,9223372036854775807 --into x.bouma
refuse 2 "--shape 24,x" "$BOUMA" import a.raw --shape 24,x --type f32 \
    --into x.bouma
refuse 2 "--shape 0,1" "$BOUMA" import a.raw --shape 0,1 --type f32 \
    --into x.bouma
refuse 2 "there are i8, i16" "$BOUMA" import a.raw --shape 24,24,24 \
    --type float --into x.bouma
refuse 2 "leave --shape out" "$BOUMA" import a.npy --shape 1,2,3 --into x.bouma
refuse 2 "leave --type out" "$BOUMA" import a.npy --type f64 --into x.bouma
refuse 2 "--components 24" "$BOUMA" import four.npy --into x.bouma
refuse 2 "its last axis has 3" "$BOUMA" import v.npy --components 2 \
    --into x.bouma
refuse 2 "there are zstd, raw" "$BOUMA" import a.npy --codec zfp --into x.bouma
refuse 2 'import: --assign is "best"; it can be optimal, running' \
    "$BOUMA" import a.npy --assign best --into x.bouma
refuse 2 'import: --file-size is "big"; it can be bytes' "$BOUMA" import a.npy \
    --file-size big --into x.bouma
refuse 2 'import: --files is "many"; it can be a whole number from 0 to' \
    "$BOUMA" import a.npy --files many --into x.bouma
BOUMA_OPTIONS="files=many" refuse 2 "BOUMA_OPTIONS: option 'files' is" \
    "$BOUMA" import a.npy --into x.bouma
refuse 2 "one shape" "$BOUMA" import a.npy b.npy --into x.bouma
refuse 2 "1 --var for 2 files" "$BOUMA" import a.npy b.npy --var a --into x.bouma
refuse 2 "NAME=VALUE" "$BOUMA" import a.npy --attr hello --into x.bouma
refuse 2 "--patch has 2 values" "$BOUMA" import a.npy --patch 8,8 --into x.bouma
refuse 2 "--patch 8,48,8: 48 is not a power of two" "$BOUMA" import a.npy \
    --patch 8,48,8 --into x.bouma
refuse 2 "--step -1" "$BOUMA" import a.npy --step -1 --into x.bouma
refuse 2 "--time now" "$BOUMA" import a.npy --time now --into x.bouma
refuse 2 "--spacing 1,0,1: samples cannot be 0 apart" "$BOUMA" import a.npy \
    --spacing 1,0,1 --into x.bouma
refuse 2 "--spacing nan" "$BOUMA" import a.npy --spacing nan --into x.bouma
refuse 2 "a grid's name has a '/'" "$BOUMA" import a.npy --grid a/b --into x.bouma
refuse 2 "has the codec interp, which needs a tolerance above 0" "$BOUMA" import a.npy --codec interp --into x.bouma
refuse 2 "name" "$BOUMA" import a.npy --attr "$(printf 'a\xff=1')" --into x.bouma
printf 'x,y\n1,2\n3,-1e400\n' >beyond.csv
refuse 1 "line 3, column 'y': '-1e400' is beyond any f64" "$BOUMA" import \
    beyond.csv --particles p --into x.bouma

# What would be ignored is refused, or told.
for assign in kdtree aug split; do
    refuse 2 "--assign $assign is for particles; for grids there are optimal" \
        "$BOUMA" import a.npy --assign $assign --into x.bouma
    refuse 2 "--assign $assign is for particles" "$BOUMA" plan --ranks 4 \
        --shape 64,64,64 --assign $assign --compare
done
refuse 2 "--memory-limit: arrays in the byte order of this machine are used" \
    "$BOUMA" import a.npy --memory-limit 1G --into x.bouma
refuse 2 "--codec-level 3: it is the effort of zstd, and raw has none" \
    "$BOUMA" import a.npy --codec raw --codec-level 3 --into x.bouma
refuse 2 "--codec-level 3: it is the effort of zstd, and interp has none" \
    "$BOUMA" import a.npy --tolerance 1 --codec-level 3 --into x.bouma
refuse 2 "--attr run is given twice" "$BOUMA" import a.npy --attr run=1 \
    --attr runs=1 --attr run=2 --into x.bouma
refuse 2 "--ratio 0: must be above 0" "$BOUMA" plan --ranks 4 \
    --shape 64,64,64 --ratio 0
refuse 2 "--vary 0: must be above 0" "$BOUMA" plan --ranks 4 \
    --shape 64,64,64 --vary 0
expect 0 "$BOUMA" import a.npy --files 3 --into few.bouma
[[ $err == *"note: --files 3: the step has 1: a patch is never cut"* ]] ||
    complain "it said '$err'"
refuse 2 "--hz-block-bits 31: 30 is the most" "$BOUMA" import a.npy \
    --layout hz --hz-block-bits 31 --into x.bouma
expect 0 "$BOUMA" import a.npy --layout hz --files 3 --order chunk --into hz.bouma
[[ $err == *"note: --files has no effect on layout hz"*"note: --order has no effect on layout hz"* ]] ||
    complain "it said '$err'"

# In HZ order, coarse levels are samples with every codec.
expect 0 "$BOUMA" import a.npy --layout hz --codec wavelet --tolerance 0.5 \
    --into hz.bouma
expect 0 "$BOUMA" info hz.bouma
[[ $out != *averages* && $out != *"BYTES OF LEVEL"* ]] ||
    complain "it said '$out'"

# Damage is in a block, which need not be one of level 0.
expect 0 "$BOUMA" import a.npy --layout hz --hz-block-bits 9 --codec raw \
    --clobber --into hz.bouma
block=$(echo hz.bouma/steps/00000000/d.0000.*)
printf '\377\377' | dd of="$block" bs=1 seek=$(($(stat -c %s "$block") / 2)) \
    conv=notrunc 2>dd.txt
expect 1 "$BOUMA" verify hz.bouma
[[ $out == *'variable "grid/a", block '* ]] || complain "it said '$out'"

# Numbers are kept, or the user is told.
printf 'x,y,id\n1,2,9007199254740993\n3,4,nan\n' >digits.csv
refuse 1 "line 2, column 'id': '9007199254740993' has more digits than f64" \
    "$BOUMA" import digits.csv --particles p --into x.bouma
expect 0 "$BOUMA" import digits.csv --particles p --type-of id=f64 \
    --into digits.bouma
# What is proposed can be done.
for other in nan 0.5 18446744073709551615; do
    printf 'x,y,id\n1,2,-9007199254740993\n3,4,%s\n' $other >digits.csv
    refuse 1 "has more digits than f64 keeps, and no integer type holds all \
numbers of the column; to round it, choose f64 with --type-of" "$BOUMA" import \
        digits.csv --particles p --into x.bouma
done
printf 'x,y,id\n1,2,9007199254740993\n3,4,5.0\n' >digits.csv
refuse 1 "(i64 and u64 keep all digits" "$BOUMA" import digits.csv \
    --particles p --into x.bouma
expect 0 "$BOUMA" import digits.csv --particles p --type-of id=i64 \
    --into digits.bouma
printf 'x,y\n\n1,2\n9007199254740993,4\n' >digits.csv
refuse 1 "digits.csv: line 4, column 'x': 9007199254740993 has more digits" \
    "$BOUMA" import digits.csv --particles p --into x.bouma
printf 'x,y,m,k\n1,2,1e-400,1\n3,4,-1e-999,1e-60\n5,6,0,0\n' >tiny.csv
expect 0 "$BOUMA" import tiny.csv --particles p --type-of k=f32 --into tiny.bouma
[[ $err == *"'m': 2 numbers are too small for f64, and become 0"* ]] ||
    complain "it said '$err'"
[[ $err == *"'k': 1 number is too small for f32, and becomes 0"* ]] ||
    complain "it said '$err'"
python "
np.savez('far.npz', x=np.array([1, 1e39, -1e39]), y=np.zeros(3))
np.savez('vector.npz', pos=np.array([[0, 1], [2, 2**53 + 1]]))"
refuse 1 "far.npz: row 1, counted from 0, column 'x': 1e+39 (and 1 more like \
it) is beyond any f32 (3.4e38); choose --position-type f64" "$BOUMA" import \
    far.npz --particles p --position-type f32 --into x.bouma
refuse 1 "vector.npz: row 1, counted from 0, column 'pos': 9007199254740993 has \
more digits than f64 keeps" "$BOUMA" import vector.npz --particles p \
    --into x.bouma
expect 0 "$BOUMA" import vector.npz --particles p --position-type f64 \
    --into vector.bouma
[[ ! -e x.bouma ]] || complain "it made a dataset"
# A file system that takes no more: nothing of it stays, either.
(
    trap '' XFSZ
    ulimit -f 8
    exec "$BOUMA" import a.npy --codec raw --into x.bouma
) 2>full.err
[[ $? -eq 1 ]] || complain "a full file system: $(<full.err)"
[[ ! -e x.bouma ]] || complain "a refused import made a dataset"
mkdir ssd # nor on the storage of the node
(
    trap '' XFSZ
    ulimit -f 8
    export BOUMA_OPTIONS="persist=yes;local=ssd"
    exec "$BOUMA" import a.npy --codec raw --into x.bouma
) 2>full.err
[[ $? -eq 1 && $(<full.err) == *"ssd/x.bouma/"* ]] ||
    complain "a full local storage: $(<full.err)"
[[ ! -e x.bouma && ! -e ssd/x.bouma ]] ||
    complain "a refused import left $(ls -d x.bouma ssd/x.bouma)"
# Nor is anything taken away that was there, or that others have put there.
mkdir -p mine.bouma && touch mine.bouma/file
refuse 2 "mine.bouma: is not" "$BOUMA" import a.npy --into mine.bouma
[[ -e mine.bouma/file ]] || complain "a file of somebody else was removed"
expect 0 "$BOUMA" import a.npy --into old.bouma
refuse 2 "a grid's name" "$BOUMA" import a.npy --grid a/b --clobber --into old.bouma
expect 0 "$BOUMA" read old.bouma grid/a -o old.npy
rm -r old.bouma old.npy
refuse 2 "step 0 exists already; add --replace to write it again" \
    "$BOUMA" import a.npy --step 0 --into run.bouma
refuse 2 "missing/run.bouma: could not be created: there is no directory missing" \
    "$BOUMA" import a.npy --into missing/run.bouma
mkdir there
refuse 2 "there/is/none/run.bouma: could not be created: there is no directory there/is" \
    "$BOUMA" import a.npy --into there/is/none/run.bouma
rmdir there
mkdir other
touch other/file
refuse 2 "other: is not a bouma dataset" "$BOUMA" import a.npy --into other
[[ $(ls other) == file ]] || complain "a folder of somebody else was changed"

# info, read, verify, repair
for command in info verify repair; do
    run "$BOUMA" $command none.bouma
    [[ $status -eq 2 && $err == *none.bouma* && -z $out ]] ||
        complain "$command of nothing: $status, $err"
done
# What is there is told, beside what may be meant; a file is no dataset.
for command in info verify repair; do
    refuse 2 "a.npy: is a file, or is inside one; a dataset is a directory" \
        "$BOUMA" $command a.npy
done
printf 'x,y,mass\n1,2,3\n' >some.csv
expect 0 "$BOUMA" import some.csv --particles stars --into both.bouma --step 0
refuse 2 "'nope' in step 0; there is only stars (particles)" "$BOUMA" render \
    both.bouma nope -o x.png
refuse 2 "there is only grid (grid)" "$BOUMA" query run.bouma nope -o x.npz
refuse 2 "there is no grid 'nope'" "$BOUMA" render both.bouma nope/x \
    --quality 0.1 -o x.png
# What is lost is not promised.
expect 0 "$BOUMA" import a.npy --into gone.bouma
rm gone.bouma/steps/00000000/d.*
refuse 1 "the file is missing, and with it all data of the step" "$BOUMA" read \
    gone.bouma grid/a -o x.npy
rm -r gone.bouma/steps
refuse 1 "recreates it, without them" "$BOUMA" info gone.bouma
# What another step has is told; the nearest one before, else one after.
expect 0 "$BOUMA" import some.csv --particles stars --into two.bouma --step 0
expect 0 "$BOUMA" import a.npy --into two.bouma --step 4
expect 0 "$BOUMA" import a.npy --var rho --into two.bouma --step 7
refuse 2 "there is no set of particles 'stars' in step 7; there is only grid \
(grid); step 0 has it (--step 0)" "$BOUMA" query two.bouma stars -o x.npz
refuse 2 "there is no grid 'grid' in step 0; there is only stars (particles); \
step 4 has it (--step 4)" "$BOUMA" read two.bouma grid/a --step 0 -o x.npy
refuse 2 "'a' in grid; there is only rho; step 4 has it (--step 4)" "$BOUMA" read \
    two.bouma grid/a -o x.npy
refuse 2 "'c' in grid; there is only rho" "$BOUMA" read two.bouma grid/c -o x.npy
[[ $err != *"has it"* ]] || complain "it said '$err'"
refuse 2 "'mas' in stars; did you mean 'mass'? There are position, mass" "$BOUMA" \
    query both.bouma stars --variables mas -o x.npz
refuse 2 "did you mean 'mass'? There are x, y, mass" "$BOUMA" import some.csv \
    --particles p --var mas --into x.bouma
refuse 2 "did you mean 'mass'? There are position, mass" "$BOUMA" import some.csv \
    --particles p --tolerance-of mas=1 --into x.bouma
python "np.save('c.npy', np.zeros((4, 4), 'c8'))"
refuse 1 "'<c8' cannot be stored; save a.real and a.imag" \
    "$BOUMA" import c.npy --into x.bouma
python "np.save('u1.npy', np.zeros((4, 4), 'u1'))"
refuse 2 "u8" "$BOUMA" import u1.npy --codec wavelet --tolerance 1 --into x.bouma
[[ ! -e x.bouma ]] || complain "a refused import made a dataset"
read=("$BOUMA" read run.bouma)
refuse 2 "none.bouma" "$BOUMA" read none.bouma grid/a -o x.npy
ln -s none.bouma dangling.bouma
ln -s round.bouma round.bouma
for link in dangling round; do
    refuse 2 "$link.bouma: could not be opened: is a symbolic link that leads \
nowhere" "$BOUMA" read $link.bouma grid/a -o x.npy
done
refuse 2 "leads nowhere" "$BOUMA" query dangling.bouma p
refuse 2 "say where to" "${read[@]}" grid/a
refuse 2 "end the name with .npy or .raw" "${read[@]}" grid/a -o x.png
refuse 2 "both use standard output" "${read[@]}" grid/a -o - --json
refuse 2 "OBJECT/VAR" "${read[@]}" a -o x.npy
refuse 2 "did you mean 'grid'" "${read[@]}" gird/a -o x.npy
refuse 2 "there is only a" "${read[@]}" grid/temperature -o x.npy
refuse 2 "there is no step 7" "${read[@]}" grid/a --step 7 -o x.npy
refuse 2 "there is no step 7" "$BOUMA" info run.bouma --step 7
refuse 2 "has levels 0 to" "${read[@]}" grid/a --level 20 -o x.npy
refuse 2 "--level -1" "${read[@]}" grid/a --level -1 -o x.npy
refuse 2 "axis 0 of the box, 0:25, is not inside the grid" "${read[@]}" grid/a \
    --box 0:25,:,: -o x.npy
refuse 2 "not inside the grid" "${read[@]}" grid/a --box=-25:,:,: -o x.npy
refuse 2 "axis 1 of the box, -100:5, is -" "${read[@]}" grid/a \
    --box=:,-100:5,: -o x.npy
refuse 2 "--step 99999999999999999999: is too large" "${read[@]}" grid/a \
    --step 99999999999999999999 -o x.npy
refuse 2 "empty" "${read[@]}" grid/a --box 5:5,:,: -o x.npy
refuse 2 "not a box of 3 axes" "${read[@]}" grid/a --box 0:5,0:5 -o x.npy
refuse 2 "not a box of 3 axes" "${read[@]}" grid/a --box 0:5,0:5,0:5,0:5 \
    -o x.npy
refuse 2 "not a box of 3 axes" "${read[@]}" grid/a --box 1,2,3 -o x.npy
refuse 2 "cannot write" "${read[@]}" grid/a -o none/x.npy
mkfifo pipe.raw
refuse 2 "not a regular file" "${read[@]}" grid/a -o pipe.raw
[[ -z $(find . -name 'x.*') ]] || complain "a refused read left files"

# A writer that runs (this script, says its file) is not disturbed.
cp -r run.bouma busy.bouma
writer=$(find busy.bouma/epochs -name 'owner*' | sort | tail -1)
read -ra stat </proc/$$/stat
sed -i -E "s/pid [0-9]+ start [0-9]+/pid $$ start ${stat[21]}/" "$writer"
find busy.bouma/epochs -name 'closed*' -delete
refuse 1 "wait for it, or take over with --force" "$BOUMA" import a.npy \
    --into busy.bouma
refuse 1 "wait for it, or take over with --force" "$BOUMA" repair busy.bouma \
    --apply
expect 0 "$BOUMA" repair busy.bouma --apply --force

# Standard output that is full is told.
"$BOUMA" info run.bouma >/dev/full 2>err
[[ $? -eq 1 && -s err ]] || complain "a full standard output is not told"

find run.bouma/steps -type f -exec cksum {} + | sort >after
same before after
# One value that makes the range is told of.
python "
a = np.sin(np.arange(32 * 32 * 32, dtype='f4') / 7).reshape(32, 32, 32)
np.save('wave.npy', a)
a[3, 4, 5] = 1e30
np.save('outlier.npy', a)"
expect 0 "$BOUMA" import outlier.npy --relative 1e-3 --into tell.bouma
[[ $err == *'note: variable "grid/outlier", step 0: errors up to 1e+27 are allowed'* ]] ||
    complain "'$err'"
expect 0 "$BOUMA" import wave.npy --relative 1e-3 --into tell.bouma
[[ -z $err ]] || complain "'$err'"
expect 0 "$BOUMA" import outlier.npy --tolerance 1e-3 --into tell.bouma
[[ -z $err ]] || complain "'$err'"

# Patches larger than the grid are cut down, which is told, and no others.
expect 0 "$BOUMA" import b.npy --patch 64,8,32 --into cut.bouma
[[ $err == "bouma: import: note: --patch 64,8,32 is larger than the grid of \
24 x 24 x 20 samples; patches have 32 x 8 x 32" ]] || complain "'$err'"
expect 0 "$BOUMA" import b.npy --patch 32 --into cut.bouma
[[ -z $err ]] || complain "'$err'"
expect 0 "$BOUMA" import b.npy --into cut.bouma
[[ -z $err ]] || complain "'$err'"

finish
