#!/bin/bash
# idx_in_place.sh -- a dataset whose files are those of an IDX dataset, too: read
# by the library and by another reader, sample for sample, after all that can
# happen to steps.
source "$(dirname "$0")/common.bash"
[[ -n ${BOUMA_MPI:-} ]] && BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
hz=(--layout hz --idx)

# reads CODE: as python, with the independent reader.
reads()
{
    python "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, '$tests/../python')
from idx_reader import Idx
def holds(path, field, step, name):
    a, b = Idx(path).read(field, step), np.load(name)
    assert a.shape == b.shape and a.dtype == b.dtype, (path, field, a.shape, b.shape, a.dtype, b.dtype)
    assert a.tobytes() == b.tobytes(), (path, field, step, (a != b).sum(), a.size)
$1"
}

# ---- shapes and types --------------------------------------------------------

python "
r = np.random.default_rng(3)
shapes = [(37, 21), (1, 9), (64, 64), (13, 21, 37), (1, 5, 7), (2, 3, 130)]
for i, s in enumerate(shapes):
    np.save('s%d.npy' % i, r.random(s).astype('f4'))
for t in ['u1', 'i2', 'u4', 'i8', 'f8']:
    np.save('t_%s.npy' % t, (r.random((9, 12, 13)) * 100).astype(t))
np.save('v3.npy', r.random((11, 20, 9, 3)).astype('f4'))
np.save('w2.npy', (r.random((21, 30, 2)) * 200).astype('u1'))
np.save('many.npy', np.arange(40 * 70).reshape(40, 70).astype('u2'))"
checks=
# try FILE.npy OPTIONS...: read by all, at level 0 and, of the library, at 1.
try()
{
    local file=$1 name=${1%.npy}
    shift
    expect 0 "$BOUMA" import "$file" --grid g --var v --into "$name.bouma" "${hz[@]}" "$@"
    expect 0 "$BOUMA" read "$name.bouma" g/v -o again.npy
    cmp -s again.npy "$file" || complain "$file is read as something else"
    checks+="holds('$name.bouma/idx/g.idx', 'v', 0, '$file')"$'\n'
    rm -rf again.bouma
    expect 0 "$BOUMA" import "$name.bouma/idx/g.idx" --into again.bouma
    expect 0 "$BOUMA" read again.bouma grid/v -o again.npy
    cmp -s again.npy "$file" || complain "$file is imported from IDX as something else"
}
for file in s?.npy t_*.npy; do
    try "$file" --hz-block-bits 4 --hz-blocks-per-file 7
done
try v3.npy --components 3 --hz-block-bits 6 --hz-blocks-per-file 4
try w2.npy --components 2
# Numbers of blocks have 18 bits: names have a directory.
try many.npy --hz-template yxyxyxyxyxyxyxyxyxyx --hz-block-bits 2 --hz-blocks-per-file 4096
[[ -e many.bouma/idx/g/time000000000/00/0000.bin ]] || complain "$(ls many.bouma/idx/g/time000000000)"
reads "$checks"
openvisus=(s0.bouma/idx/g.idx s3.bouma/idx/g.idx v3.bouma/idx/g.idx many.bouma/idx/g.idx)

# ---- steps -------------------------------------------------------------------

python "
r = np.random.default_rng(4)
for s in 0, 1, 2, 3, 7, 9, 77:
    np.save('a%d.npy' % s, r.random((20, 30, 25)).astype('f4'))
    np.save('b%d.npy' % s, r.integers(-99, 99, (20, 30, 25)).astype('i2'))"
small=(--hz-block-bits 8 --hz-blocks-per-file 16 --grid box --var a --var b --into m.bouma)
for s in 0 1 2 3 7 9; do
    expect 0 "$BOUMA" import a$s.npy b$s.npy --step $s "${hz[@]}" "${small[@]}" --origin 1,-2,0.5 --spacing 0.5,2,0.25
done
grep -qxF 'time%09d/ (0,3,1) (7,9,2)' m.bouma/idx/box.idx || complain "$(cat m.bouma/idx/box.idx)"
grep -qxF '0.5 6.75 -2 58 1 11' m.bouma/idx/box.idx || complain "$(cat m.bouma/idx/box.idx)"
expect 0 "$BOUMA" info m.bouma
[[ $out == *"read by OpenVisus and PIDX as m.bouma/idx/box.idx"* ]] || complain "$out"
expect 0 "$BOUMA" info s0.bouma # PIDX has no grids of two axes
[[ $out == *"read by OpenVisus as s0.bouma/idx/g.idx"* ]] || complain "$out"
expect 0 "$BOUMA" info m.bouma --json
python "j = json.loads('''$out''')
assert j['steps'][0]['objects'][0]['idx'] == 'idx/box.idx', j['steps'][0]['objects'][0]"
expect 0 "$BOUMA" import a77.npy b77.npy --step 3 --replace "${hz[@]}" "${small[@]}" --origin 1,-2,0.5 --spacing 0.5,2,0.25
expect 0 "$BOUMA" truncate m.bouma --after 7
[[ $(ls m.bouma/idx/box | grep -c time) -eq 5 ]] || complain "$(ls m.bouma/idx/box)"
both="
assert Idx('m.bouma/idx/box.idx').steps == [0, 1, 2, 3, 7]
for s, t in (0, 0), (1, 1), (2, 2), (3, 77), (7, 7):
    holds('m.bouma/idx/box.idx', 'a', s, 'a%d.npy' % t)
    holds('m.bouma/idx/box.idx', 'b', s, 'b%d.npy' % t)"
reads "$both"
cp -a m.bouma cut.bouma
expect 0 "$BOUMA" delete-step cut.bouma 2
expect 0 "$BOUMA" verify cut.bouma
[[ $out != *note* && $(ls cut.bouma/idx/box | grep -c time) -eq 4 ]] || complain "$out"
reads "
assert Idx('cut.bouma/idx/box.idx').steps == [0, 1, 3, 7]
holds('cut.bouma/idx/box.idx', 'a', 3, 'a77.npy')"
# A step that is written again without the grid, or without idx, is none of IDX any more. Of two definitions of a grid,
# the one that is left has the header.
for s in 0 1 2; do
    expect 0 "$BOUMA" import a$s.npy --grid g --var a --into rewritten.bouma --step $s "${hz[@]}"
done
expect 0 "$BOUMA" import b3.npy --grid g --var b --into rewritten.bouma --step 3 "${hz[@]}"
for step in '1 --layout patch --grid g' '3 --layout hz --idx --grid h' '0 --layout hz --grid other'; do
    # shellcheck disable=SC2086  # options
    expect 0 "$BOUMA" import a9.npy --var a --into rewritten.bouma --replace --step $step
    expect 0 "$BOUMA" verify rewritten.bouma
    [[ $out != *note* ]] || complain "step $step: $out"
done
reads "
assert Idx('rewritten.bouma/idx/g.idx').steps == [2]
holds('rewritten.bouma/idx/g.idx', 'a', 2, 'a2.npy')
assert Idx('rewritten.bouma/idx/h.idx').steps == [3]"
[[ $(ls rewritten.bouma/idx/g) == 000000002.*time000000002 ]] || complain "$(ls rewritten.bouma/idx/g)"
mkdir rewritten.bouma/idx/own.idx # is none of ours, and in nobody's way
expect 0 "$BOUMA" import a9.npy --var a --into rewritten.bouma --replace --step 2
[[ $err != *note* ]] || complain "$err"
rmdir rewritten.bouma/idx/own.idx
[[ $(ls rewritten.bouma/idx) == h*h.idx ]] || complain "$(ls rewritten.bouma/idx)"
rm -r rewritten.bouma

# Padding is noted, with an advice that --idx does not refuse.
expect 0 "$BOUMA" import s3.npy --into padded.bouma "${hz[@]}"
[[ $err == *"note: --idx fills up blocks at the border: "*"; a smaller --hz-block-bits stores less padding"* ]] ||
    complain "$err"
# The dataset can be moved: links are relative.
mkdir there
mv m.bouma there
mv there/m.bouma moved.bouma
reads "${both//m.bouma/moved.bouma}"
mv moved.bouma m.bouma

# ---- what is missing is noted, and made anew ---------------------------------

expect 0 "$BOUMA" verify m.bouma
[[ $out$err != *note* ]] || complain "$out"
rm m.bouma/idx/box.idx m.bouma/idx/box/time000000001 m.bouma/idx/box/time000000002/00.bin
ln -s nothing m.bouma/idx/box/time000000005
expect 0 "$BOUMA" verify m.bouma
[[ $(grep -c '^note' <<<"$out") -eq 4 ]] || complain "$out"
expect 0 "$BOUMA" repair m.bouma --apply
expect 0 "$BOUMA" verify m.bouma
[[ $out$err != *note* ]] || complain "$out"
reads "$both"
rm -r m.bouma/idx
expect 0 "$BOUMA" repair m.bouma --apply
reads "$both"

# A copy by a program that follows links has files in their place: they make way.
cp -rL m.bouma files.bouma
expect 0 "$BOUMA" verify files.bouma
[[ $(grep -c '^note' <<<"$out") -eq 5 ]] || complain "$out"
cp -r files.bouma/idx/box/time000000007 files.bouma/idx/box/time000000008 # is in no step
expect 0 "$BOUMA" repair files.bouma --apply
[[ $out == *"is in the place of links; moved to lost/"* ]] || complain "$out"
expect 0 "$BOUMA" verify files.bouma
[[ $out$err != *note* && -L files.bouma/idx/box/time000000007/00.bin ]] || complain "$out"
reads "${both//m.bouma/files.bouma}"
# So do links and files in the place of directories; where links lead to, nothing changes.
for place in idx idx/box; do
    for kind in link file; do
        mv files.bouma/$place aside
        find aside | sort >listed
        if [[ $kind = link ]]; then ln -s "$PWD/aside" files.bouma/$place; else echo >files.bouma/$place; fi
        expect 0 "$BOUMA" repair files.bouma --apply
        expect 0 "$BOUMA" verify files.bouma
        [[ $out$err != *note* && -d files.bouma/$place && ! -L files.bouma/$place ]] || complain "$kind $place: $out"
        find aside | sort | cmp -s - listed || complain "a repair followed the link in the place of $place"
        rm -r aside
    done
done
reads "${both//m.bouma/files.bouma}"
rm -r files.bouma

# A front that is not that of the head is damage, and is made anew.
file=$(ls m.bouma/steps/00000007/d.0000.*)
cp "$file" whole
python "
data = bytearray(open('$file', 'rb').read())
data[40 + 8:40 + 12] = b'\\0\\1\\2\\3'
open('$file', 'wb').write(data)"
run "$BOUMA" verify m.bouma
[[ $status -ne 0 && $out == *damage* ]] || complain "a front that is forged passes: $out"
expect 0 "$BOUMA" read m.bouma box/a --step 7 -o again.npy
cmp -s again.npy a7.npy || complain "the library needs the front"
expect 0 "$BOUMA" repair m.bouma --apply
cmp "$file" whole || complain "the front is not mended"

# ---- drained -----------------------------------------------------------------

mkdir near
for s in 0 1; do
    BOUMA_OPTIONS="persist=yes;local=near" expect 0 "$BOUMA" import a$s.npy --grid g --var a --into far.bouma --step $s \
        "${hz[@]}" --hz-block-bits 8
done
[[ ! -e near/far.bouma/idx ]] || complain "a local copy has links"
reads "
holds('far.bouma/idx/g.idx', 'a', 0, 'a0.npy')
holds('far.bouma/idx/g.idx', 'a', 1, 'a1.npy')"
expect 0 "$BOUMA" verify near/far.bouma
[[ $out != *note* ]] || complain "$out"

# ---- processes ---------------------------------------------------------------

if [[ -x ${BOUMA_MPI:-} ]]; then
    for s in 0 1; do
        # shellcheck disable=SC2086  # MPIRUN is a command with arguments
        expect 0 timeout 1800 $MPIRUN -n 3 "$BOUMA_MPI" import a$s.npy b$s.npy --grid box --var a --var b \
            --into p.bouma "${hz[@]}" --hz-block-bits 8 --hz-blocks-per-file 16
    done
    reads "
for s in 0, 1:
    holds('p.bouma/idx/box.idx', 'a', s, 'a%d.npy' % s)
    holds('p.bouma/idx/box.idx', 'b', s, 'b%d.npy' % s)"
fi

# OpenVisus itself, if it is there.
"$PYTHON" -B "$tests/../python/openvisus.py" "${openvisus[@]}" m.bouma/idx/box.idx far.bouma/idx/g.idx
status=$?
[[ $status -eq 0 || $status -eq 77 ]] || complain "OpenVisus reads something else"

# ---- what is refused ---------------------------------------------------------

bad=(import s3.npy --into bad.bouma)
refuse 2 "--idx needs --layout hz" "$BOUMA" "${bad[@]}" --idx
refuse 2 "it must be raw" "$BOUMA" "${bad[@]}" "${hz[@]}" --codec zstd
refuse 2 "its blocks are raw" "$BOUMA" "${bad[@]}" "${hz[@]}" --tolerance 0.1
refuse 2 "in the order of the curve" "$BOUMA" "${bad[@]}" "${hz[@]}" --hz-order rows
refuse 2 "has a name that is none for an IDX dataset" "$BOUMA" "${bad[@]}" "${hz[@]}" --grid 'a b'
finish
