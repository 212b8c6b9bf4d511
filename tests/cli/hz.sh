#!/bin/bash
# hz.sh -- grids in HZ order: what goes in comes out, with any template, order
# and codec, on one process and on several; blocks are in files of their own, and
# a coarse level opens few of them.
source "$(dirname "$0")/common.bash"
[[ -n ${BOUMA_MPI:-} ]] && BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}

on()
{
    local ranks=$1
    shift
    if [[ $ranks -eq 1 ]]; then
        "$BOUMA" "$@"
    else
        # shellcheck disable=SC2086  # MPIRUN is a command with arguments
        timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
    fi
}

python "
r = np.random.default_rng(3)
x = np.arange(20 * 13 * 9).reshape(20, 13, 9)
np.save('cube.npy', (np.sin(x / 50) + 0.01 * r.random(x.shape)).astype('f4'))
np.save('vector.npy', r.random((20, 13, 9, 3)))
a = r.random((70, 50)); a[5, 6] = np.nan; a[69, 49] = -np.inf
np.save('plane.npy', a)
np.save('line.npy', r.integers(0, 99, 300).astype('u1'))
np.save('point.npy', np.array([[2.5]]))"

# ---- calls that make no sense -----------------------------------------------

wrong()
{
    refuse 2 "$1" "$BOUMA" import "${@:2}" --into none.bouma
    [[ $err == "bouma: import: $1" ]] || complain "not all of it: '$err'"
    [[ ! -e none.bouma ]] || complain "something was made: ${*:2}"
}
hz=(--layout hz)
wrong "grid \"grid\": the template has a 'q' at position 4: axes are x, y and z" \
    cube.npy "${hz[@]}" --hz-template zyxq
wrong "grid \"grid\": the template has a 'Z' at position 1: write axes in lower case" \
    cube.npy "${hz[@]}" --hz-template Zyx
wrong 'grid "grid": the template has byte 0x09 at position 3: axes are x and y' \
    plane.npy "${hz[@]}" --hz-template $'yx\tx'
wrong "grid \"grid\": the template has a 'z' at position 1, but the grid has 2 axes: only x and y" \
    plane.npy "${hz[@]}" --hz-template zyxyxyxyxyxyxy
wrong "grid \"grid\": the template has a 'y' at position 2, but the grid has 1 axis: only x" \
    line.npy "${hz[@]}" --hz-template xyxxxxxxx
wrong 'grid "grid": the template "zyxzyx" is too short: the grid has 20 samples along z, so it needs 5 of this letter, not 2' \
    cube.npy "${hz[@]}" --hz-template zyxzyx
wrong 'grid "grid": the template "" is too short: the grid has 70 samples along y, so it needs 7 of this letter, not 0' \
    plane.npy "${hz[@]}" --hz-template ""
wrong 'grid "grid": the template has 63 characters: 62 are the most' \
    cube.npy "${hz[@]}" --hz-template "$(printf 'zyx%.0s' {1..21})"
wrong 'grid "grid" has blocks of 2^14 samples, more than the 2^13 that its template covers' \
    cube.npy "${hz[@]}" --hz-block-bits 14
wrong '--hz-block-bits 0: must be a whole number of at least 1' \
    cube.npy "${hz[@]}" --hz-block-bits 0
wrong '--hz-block-bits 31: 30 is the most' cube.npy "${hz[@]}" --hz-block-bits 31
wrong '--hz-blocks-per-file -1: must be a whole number of at least 1' \
    cube.npy "${hz[@]}" --hz-blocks-per-file=-1
wrong '--hz-blocks-per-file 2147483648: 2147483647 is the most' \
    cube.npy "${hz[@]}" --hz-blocks-per-file 2147483648
wrong '--hz-order z: must be one of rows|hz' cube.npy "${hz[@]}" --hz-order z
wrong '--layout tree: must be one of patch|hz' cube.npy --layout tree
wrong '--patch is for --layout patch; blocks of hz have --hz-block-bits' \
    cube.npy "${hz[@]}" --patch 8
wrong 'grid "grid" has 7 levels, but its template allows 1 to 6' \
    cube.npy "${hz[@]}" --levels 7
wrong '--hz-template needs --layout hz' cube.npy --hz-template zyx
wrong '--hz-block-bits needs --layout hz' cube.npy --layout patch --hz-block-bits 3
wrong '--hz-blocks-per-file needs --layout hz' cube.npy --hz-blocks-per-file 3
wrong '--hz-order needs --layout hz' cube.npy --hz-order rows

# ---- what goes in comes out ---------------------------------------------------

ranks=(1)
[[ -x ${BOUMA_MPI:-} ]] && ranks=(1 3)
for n in "${ranks[@]}"; do
    for order in rows hz; do
        ds=$order$n.bouma
        expect 0 on "$n" import cube.npy --into $ds "${hz[@]}" --hz-order $order \
            --hz-block-bits 6 --hz-blocks-per-file 40
        expect 0 on "$n" import vector.npy --components 3 --into $ds "${hz[@]}" \
            --hz-order $order --hz-template xxxxyzyzyzyzz --hz-block-bits 7 \
            --codec raw --levels 3 --origin 1,2,3 --spacing 0.5
        expect 0 on "$n" import plane.npy --into $ds "${hz[@]}" --hz-order $order \
            --hz-template yyxxyxxyxyxyxyy --hz-block-bits 5 --codec exact
        expect 0 on "$n" import line.npy --into $ds "${hz[@]}" --hz-order $order
        expect 0 on "$n" import point.npy --into $ds "${hz[@]}" --hz-order $order
        expect 0 "$BOUMA" verify $ds deep
        [[ $out == *sound* ]] || complain "verify said: $out"
        step=0
        for name in cube vector plane line point; do
            expect 0 "$BOUMA" read $ds grid/$name --step $step -o $name.out.npy
            [[ $name == point ]] ||
                expect 0 "$BOUMA" read $ds grid/$name --step $step --level 2 \
                    -o $name.out2.npy
            step=$((step + 1))
        done
        python "
for name, axes in ('cube', 3), ('vector', 3), ('plane', 2), ('line', 1), ('point', 2):
    a = np.load(name + '.npy')
    assert np.load(name + '.out.npy').tobytes() == a.tobytes(), name
    if name != 'point':
        coarse = a[(slice(None, None, 4),) * axes]
        assert np.load(name + '.out2.npy').tobytes() == coarse.tobytes(), name"
        expect 0 on "$n" read $ds grid/cube --step 0 --box 3:17,-5:,2:3 --level 1 \
            -o out.npy
        equal out.npy "np.load('cube.npy')[4:17:2, 8::2, 2:3:2]"
    done
done
# A reader that has only the document agrees at every level, and finds each block
# in its file.
"$PYTHON" -B "$tests/../python/compare_golden.py" rows*.bouma hz*.bouma >.log ||
    complain "$(<.log)"
# Whoever writes, the files are the same ones.
for order in rows hz; do
    for n in "${ranks[@]}"; do
        "$BOUMA" info $order$n.bouma --json | jq -c \
            '[.steps[] | [.files, .chunks, (.objects[0] | .hz_template, .patches)]]'
    done | uniq | wc -l | grep -qx 1 || complain "$order: other files"
done

# With a tolerance; coarse levels are samples, with any codec.
for codec in interp wavelet; do
    for order in rows hz; do
        expect 0 "$BOUMA" import cube.npy --into lossy.bouma "${hz[@]}" \
            --hz-order $order --hz-block-bits 8 --codec $codec --tolerance 0.01
        for level in 0 2; do
            expect 0 "$BOUMA" read lossy.bouma grid/cube --level $level -o out.npy
            python "
a = np.load('cube.npy')[::2**$level, ::2**$level, ::2**$level]
assert np.abs(np.load('out.npy').astype('f8') - a).max() <= 0.01"
        done
        expect 0 "$BOUMA" info lossy.bouma
        [[ $out != *averages* ]] || complain "info said: $out"
    done
done
expect 0 "$BOUMA" verify lossy.bouma deep

# ---- what info tells ---------------------------------------------------------

expect 0 "$BOUMA" info rows1.bouma --step 0
[[ $out == *"grid grid: 20 x 13 x 9 samples, HZ order zzyxzyxzyxzyx, blocks of 64 ("*"), levels 0 to 5"* &&
    $out != *"BYTES OF LEVEL"* ]] || complain "info said: $out"
expect 0 "$BOUMA" info hz1.bouma --step 4
[[ $out == *"1 x 1 samples, HZ order, blocks of 1 (1), levels 0 to 0"* ]] ||
    complain "info said: $out"
for order in rows hz; do
    expect 0 "$BOUMA" info ${order}1.bouma --step 1 --json
    [[ $(jq -c '.steps[-1].objects[0] | [.layout, .hz_template, .hz_block_bits,
        .hz_blocks_per_file, .hz_order, .levels, .spacing[0], .variables[0].level_bytes]' \
        <<<"$out") == "[\"hz\",\"xxxxyzyzyzyzz\",7,512,\"$order\",3,0.5,null]" ]] ||
        complain "info said: $out"
done

# ---- pictures ----------------------------------------------------------------

expect 0 "$BOUMA" import cube.npy --into patch.bouma --patch 8 --levels 3
for level in 0 2; do
    for ds in patch rows1 hz1; do
        expect 0 "$BOUMA" render $ds.bouma grid/cube --step 0 --slice y=8 \
            --level $level -o $ds.png
    done
    same rows1.png patch.png
    same hz1.png patch.png
done

# ---- files -------------------------------------------------------------------

# 2^13 samples in blocks of 2^6: files of 8 blocks are at most 16, and level 3
# is in the first one: it is all that is needed.
expect 0 "$BOUMA" import cube.npy --into few.bouma "${hz[@]}" --hz-block-bits 6 \
    --hz-blocks-per-file 8
files=$("$BOUMA" info few.bouma --json | jq '.steps[0].files')
[[ $files -gt 3 && $files -le 16 ]] || complain "$files files"
expect 0 "$BOUMA" import cube.npy --into one.bouma "${hz[@]}" --hz-block-bits 6
# opened DS OPTIONS...: the files that a picture takes; DATASET and such are among
# them.
opened()
{
    "$BOUMA" render "$1" grid/cube "${@:2}" -o out.png --json | jq .files_opened
}
least=$(opened one.bouma --slice z=8 --level 3)
[[ $least -gt 0 && $(opened few.bouma --slice z=8 --level 3) -eq $least ]] ||
    complain "level 3 opens more than one file"
[[ $(opened few.bouma --slice z=9) -gt $least ]] || complain "level 0 opens one"
cp -r few.bouma first.bouma
find first.bouma/steps -name 'd.*' ! -name 'd.0000.*' -delete
expect 0 "$BOUMA" read first.bouma grid/cube --level 3 -o out.npy
equal out.npy "np.load('cube.npy')[::8, ::8, ::8]"
refuse 1 "the file is missing; what is in other files can still be read" "$BOUMA" read first.bouma grid/cube -o out.npy
expect 1 "$BOUMA" verify first.bouma quick

# A manifest is made anew from the files; a damaged block is named, and others
# are read.
cp -r few.bouma bad.bouma
rm bad.bouma/steps/00000000/manifest
run "$BOUMA" repair bad.bouma --apply
[[ $status -le 1 ]] || complain "repair gave $status: $err"
expect 0 "$BOUMA" read bad.bouma grid/cube -o out.npy
equal out.npy "np.load('cube.npy')"
rm -r bad.bouma
cp -r few.bouma bad.bouma
python "
import glob
path = sorted(glob.glob('bad.bouma/steps/00000000/d.*'))[-1]
with open(path, 'r+b') as f:
    f.seek(16)
    f.seek((64 + int.from_bytes(f.read(8), 'little') + 63) // 64 * 64)
    b = f.read(1)[0]
    f.seek(-1, 1)
    f.write(bytes([b ^ 4]))"
expect 1 "$BOUMA" verify bad.bouma
[[ $out =~ 'block '[0-9]+' in [' ]] || complain "verify said: $out"
expect 0 "$BOUMA" read bad.bouma grid/cube --level 3 -o out.npy
equal out.npy "np.load('cube.npy')[::8, ::8, ::8]"
refuse 1 "block " "$BOUMA" read bad.bouma grid/cube -o out.npy
expect 1 "$BOUMA" repair bad.bouma --apply
expect 1 "$BOUMA" verify bad.bouma

# From local storage to the dataset.
mkdir near far
BOUMA_OPTIONS='persist=yes;local=near' expect 0 "$BOUMA" import cube.npy \
    --into far/run.bouma "${hz[@]}" --hz-block-bits 6 --hz-blocks-per-file 8
rm -r far/run.bouma
expect 0 "$BOUMA" drain near/run.bouma far/run.bouma
[[ $out == *"1 step drained to far/run.bouma ($files files, "* ]] ||
    complain "drain said: $out"
expect 0 "$BOUMA" verify far/run.bouma deep
expect 0 "$BOUMA" read far/run.bouma grid/cube -o out.npy
equal out.npy "np.load('cube.npy')"

# ---- notes and words -----------------------------------------------------------

# Padding is told, if it makes a dataset larger than the raw data.
expect 0 "$BOUMA" import cube.npy --into padded.bouma "${hz[@]}" --hz-order hz \
    --hz-block-bits 6 --codec raw
[[ $err == *"note: --hz-order hz fills up blocks at the border: 4160 samples are stored for the 2340 of the grid, "*"; --hz-order rows stores no padding"* ]] ||
    complain "no note: $err"
expect 0 "$BOUMA" import cube.npy --into idx.bouma "${hz[@]}" --idx --hz-block-bits 6
[[ $err == *"note: --idx fills up blocks at the border: 4160 samples are stored for the 2340 of the grid, "* &&
    $err != *rows* ]] || complain "IDX has no rows: $err"
expect 0 "$BOUMA" import cube.npy --into rows.bouma "${hz[@]}" --hz-block-bits 6 \
    --codec raw
[[ $err != *padding* ]] || complain "a note: $err"
# Files are not assigned: neither by options of the environment, nor is it said.
BOUMA_OPTIONS="files=3;assign=count" expect 0 "$BOUMA" import cube.npy \
    --into files.bouma "${hz[@]}"
[[ $err == *"note: files has no effect on layout hz"*"note: assign has no effect"* ]] ||
    complain "no notes: $err"
expect 0 "$BOUMA" info files.bouma
[[ $out != *assign=* && $out == *"; blocks of a rank: 1 at most"* ]] ||
    complain "info: $out"
expect 0 "$BOUMA" info files.bouma --json
[[ $out == *'"assign": null'* || $out == *'"assign":null'* ]] || complain "info: $out"
expect 0 "$BOUMA" import cube.npy --into patches.bouma
expect 0 "$BOUMA" info patches.bouma
[[ $out == *assign=optimal* && $out == *"patches of a rank: "* ]] || complain "info: $out"
finish
