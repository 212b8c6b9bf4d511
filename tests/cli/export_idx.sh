#!/bin/bash
# export_idx.sh -- grids become IDX datasets that another reader finds to be the
# same, sample for sample, and that can be imported again; several processes
# write the same bytes as one.
source "$(dirname "$0")/common.bash"
do_not_sync
[[ -n ${BOUMA_MPI:-} ]] && BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}

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

def near(path, file, imported):
    a, b = Idx(path).read('v', 0), np.load(file)
    assert a.tobytes() == np.load(imported).tobytes(), path
    finite = np.isfinite(b)
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True), path
    assert np.max(np.abs(a[finite].astype('f8') - b[finite])) <= 0.003, path
    assert file == 'steep.npy' or (a != b).sum() > a.size / 2, path
$1"
}

# again X.idx FIELD STEP FILE.npy: an import has the same.
again()
{
    rm -rf again.bouma
    expect 0 "$BOUMA" import "$1" --into again.bouma
    [[ -z $err ]] || complain "import of $1 said: $err"
    expect 0 "$BOUMA" read again.bouma "grid/$2" --step "$3" -o again.npy
    cmp -s again.npy "$4" || complain "$1 imported is not $4"
}

# ---- shapes, types, layouts --------------------------------------------------

python "
r = np.random.default_rng(3)
shapes = [(37, 21), (1, 9), (64, 64), (13, 21, 37), (32, 16, 8), (1, 5, 7), (3, 1, 1), (2, 3, 130), (33, 65, 17)]
types = ['u1', 'i1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8']
for i, s in enumerate(shapes):
    np.save('s%d.npy' % i, r.random(s).astype('f4'))
for t in types:
    np.save('t_%s.npy' % t, (r.random((19, 12, 23)) * 100).astype(t))
np.save('v3.npy', r.random((11, 20, 9, 3)).astype('f4'))
np.save('v2.npy', r.random((11, 20, 9, 2)).astype('f8'))
np.save('w3.npy', (r.random((21, 30, 3)) * 200).astype('u1'))"

# try FILE.npy "IMPORT OPTIONS" EXPORT OPTIONS...: through a dataset and an IDX.
# All are read at the end, by one process.
count=0
checks=
try()
{
    local file=$1 name=${1%.npy} import=$2
    shift 2
    count=$((count + 1))
    rm -rf x.bouma
    # shellcheck disable=SC2086  # options are words
    expect 0 "$BOUMA" import "$file" --var v --into x.bouma $import
    expect 0 "$BOUMA" export x.bouma --format idx "$@" -o "$name$count.idx"
    checks+="holds('$name$count.idx', 'v', 0, '$file')"$'\n'
    again "$name$count.idx" v 0 "$file"
}
for file in s?.npy; do
    try "$file" "--patch 8" --block-bits 5 --blocks-per-file 3
    try "$file" "--layout hz" --block-bits 3 --blocks-per-file 8
done
for file in t_*.npy; do
    try "$file" ""
done
for file in v3 v2 w3; do
    try $file.npy "--components ${file#?} --patch 8" --block-bits 4 --blocks-per-file 16
    try $file.npy "--components ${file#?} --layout hz"
done
for codec in zip lz4; do
    python "np.save('smooth.npy', np.indices((40, 30, 50)).sum(0).astype('f4') // 16)"
    for file in smooth s3; do
        try $file.npy "" --codec $codec --block-bits 9 --blocks-per-file 4
    done
    expect 0 "$BOUMA" export x.bouma --codec $codec -o $codec.idx
    [[ $err == *"with the codec $codec only OpenVisus"* ]] || complain "said: $err"
    [[ $(du -bs smooth$((count - 1)) | cut -f1) -lt 300000 ]] || complain "$codec does not compress"
done

# zfp keeps every bit, or a tolerance; a block for which it cannot is stored as
# it is.
python "
a = np.indices((40, 37, 53)).sum(0)
for t in 'f4', 'f8':
    np.save('wave_%s.npy' % t, np.sin(a / 9).astype(t))
holes = np.sin(a / 9).astype('f4')
holes[3, 4, 5], holes[30, 20, 11] = np.nan, -np.inf
np.save('holes.npy', holes)
np.save('steep.npy', (np.sin(a / 9) * 1e30).astype('f4'))
np.save('flat.npy', np.sin(a / 9)[0].astype('f4'))"
for file in wave_f4 wave_f8 holes flat t_i4 t_i8 s1 s5; do
    try $file.npy "" --codec zfp --block-bits 9 --blocks-per-file 4
    [[ $err == *"with the codec zfp only OpenVisus"* || -z $err ]] || complain "said: $err"
done
for file in wave_f4 wave_f8 holes steep flat; do
    rm -rf x.bouma again.bouma
    expect 0 "$BOUMA" import $file.npy --var v --into x.bouma
    expect 0 "$BOUMA" export x.bouma --codec zfp --tolerance 0.003 --block-bits 9 -o near_$file.idx
    expect 0 "$BOUMA" import near_$file.idx --into again.bouma
    expect 0 "$BOUMA" read again.bouma grid/v -o again_$file.npy
    checks+="near('near_$file.idx', '$file.npy', 'again_$file.npy')"$'\n'
done
grep -q 'default_compression(zfp-accuracy=0.001953125-accuracy=0.001953125) default_layout(rowmajor)' near_flat.idx ||
    complain "$(cat near_flat.idx)"
[[ $(du -bs near_wave_f8 | cut -f1) -lt 200000 ]] || complain "zfp does not compress"
refuse 2 "--tolerance needs --codec zfp" "$BOUMA" export x.bouma --tolerance 1 -o no.idx
refuse 2 "must be a finite number" "$BOUMA" export x.bouma --codec zfp --tolerance nan -o no.idx
for tolerance in 0 -1 1e-30 1e100; do
    refuse 2 "must be from 2^-60 to 2^199" "$BOUMA" export x.bouma --codec zfp --tolerance=$tolerance -o no.idx
done
rm -rf x.bouma
expect 0 "$BOUMA" import t_i4.npy --var v --into x.bouma
refuse 2 "variable 'v' has 1 component of i32, and zfp takes one of f32 or f64" \
    "$BOUMA" export x.bouma --codec zfp --tolerance 1 -o no.idx
rm -rf x.bouma
expect 0 "$BOUMA" import v3.npy --var v --components 3 --into x.bouma
refuse 2 "variable 'v' has 3 components of f32" "$BOUMA" export x.bouma --codec zfp -o no.idx

# More than one region: the mask has 23 splits.
python "
a = np.random.default_rng(5).integers(0, 256, (70, 130, 260)).astype('u1')
np.save('large.npy', a)"
try large.npy ""
try large.npy "--layout hz" --block-bits 9 --blocks-per-file 64
reads "$checks"

# ---- the header --------------------------------------------------------------

rm -rf x.bouma
expect 0 "$BOUMA" import s3.npy --var v --into x.bouma
expect 0 "$BOUMA" export x.bouma grid/v --block-bits 10 --blocks-per-file 8 -o h.idx
diff - h.idx <<'END' || complain "the header is another"
(version)
6
(box)
0 36 0 20 0 12
(physic_box)
0 37 0 21 0 13
(fields)
v float32 default_compression(raw) default_layout(hzorder) default_value(0)
(bits)
V010210210210210
(bitsperblock)
10
(blocksperfile)
8
(interleave block)
0
(time)
0 0 time%09d/
(filename_template)
./h/%02x.bin
(missing_blocks)
0
(arco)
0
END
python "
import struct
data = open('h/time000000000/00.bin', 'rb').read()
assert len(data) >= 40 + 40 * 8 and data[:40] == bytes(40)
words = struct.unpack_from('>10I', data, 40)
assert words == (0, 0, 4096, 0, 4096, 0, 0, 0, 0, 0), words"

# ---- fields and steps --------------------------------------------------------

python "
r = np.random.default_rng(4)
for s in 0, 1, 2, 3, 7, 9:
    np.save('a%d.npy' % s, r.random((20, 30, 25)).astype('f4'))
    np.save('b%d.npy' % s, r.integers(-99, 99, (20, 30, 25)).astype('i2'))"
for s in 0 1 2 3 7 9; do
    expect 0 "$BOUMA" import a$s.npy b$s.npy --var a --var b --into m.bouma --step $s --patch 16
done
expect 0 "$BOUMA" export m.bouma -o all.idx --block-bits 8 --blocks-per-file 16 --json
python "j = json.loads('''$out''')
assert j['steps'] == 6 and j['variables'] == ['a', 'b'] and j['shape'] == [20, 30, 25], j
files = [os.path.join(d, f) for d, _, fs in os.walk('all') for f in fs]
assert j['files'] == len(files) and j['bytes'] == sum(map(os.path.getsize, files)), j
assert j['bytes_read'] < 1.1 * 6 * 20 * 30 * 25 * 6 + 100000, j"
grep -qxF 'time%09d/ (0,3,1) (7,9,2)' all.idx || complain "$(grep -A1 time all.idx)"
reads "
for s in 0, 1, 2, 3, 7, 9:
    holds('all.idx', 'a', s, 'a%d.npy' % s)
    holds('all.idx', 'b', s, 'b%d.npy' % s)"
again all.idx b 9 b9.npy
expect 0 "$BOUMA" export m.bouma grid/b --step 1:4 -o some.idx
grep -qxF '1 3 time%09d/' some.idx || complain "$(grep -A1 time some.idx)"
reads "
assert [f.name for f in Idx('some.idx').fields] == ['b']
holds('some.idx', 'b', 2, 'b2.npy')"
[[ $(ls some) == $'time000000001\ntime000000002\ntime000000003' ]] || complain "$(ls some)"
expect 0 "$BOUMA" export m.bouma grid/b grid/a --step last -o last.idx
reads "
assert [f.name for f in Idx('last.idx').fields] == ['b', 'a'] and Idx('last.idx').steps == [9]
holds('last.idx', 'a', 9, 'a9.npy')"

# Positions, there and back.
expect 0 "$BOUMA" import s3.npy --var v --into p.bouma --origin 1,-2,0.5 --spacing 0.5,2,0.25
expect 0 "$BOUMA" export p.bouma -o p.idx
grep -qxF '0.5 9.75 -2 40 1 7.5' p.idx || complain "$(cat p.idx)"
rm -rf again.bouma
expect 0 "$BOUMA" import p.idx --into again.bouma
expect 0 "$BOUMA" info again.bouma --json
python "g = json.loads('''$out''')['steps'][0]['objects'][0]
assert g['origin'] == [1, -2, 0.5] and g['spacing'] == [0.5, 2, 0.25], (g['origin'], g['spacing'])"

# OpenVisus itself, if it is there.
"$PYTHON" -B "$tests/../python/openvisus.py" ./all.idx ./p.idx
status=$?
[[ $status -eq 0 || $status -eq 77 ]] || complain "OpenVisus reads something else"

# ---- processes ---------------------------------------------------------------

if [[ -x ${BOUMA_MPI:-} ]]; then
    mkdir one three
    rm -rf x.bouma
    expect 0 "$BOUMA" import large.npy --var v --into x.bouma
    for ds in m x; do
        for codec in raw zip; do
            options=(--codec $codec --block-bits 8 --blocks-per-file 16)
            expect 0 "$BOUMA" export $ds.bouma "${options[@]}" -o one/$ds$codec.idx
            # shellcheck disable=SC2086  # MPIRUN is a command with arguments
            expect 0 timeout 1800 $MPIRUN -n 3 "$BOUMA_MPI" export $ds.bouma "${options[@]}" -o three/$ds$codec.idx
            [[ $(wc -l <<<"$out") -eq 1 ]] || complain "more than one process printed: $out"
        done
    done
    diff -r one three || complain "3 processes write other bytes than one"
    # shellcheck disable=SC2086
    refuse_mpi=$(timeout 1800 $MPIRUN -n 3 "$BOUMA_MPI" export m.bouma -o three/mraw.idx 2>&1)
    [[ $refuse_mpi == *"exists already"* ]] || complain "3 processes said: $refuse_mpi"
fi

# ---- what is refused ---------------------------------------------------------

refuse 2 "exists already; remove it" "$BOUMA" export m.bouma -o all.idx
rm some.idx
refuse 2 "some exists already" "$BOUMA" export m.bouma -o some.idx
refuse 2 "no output; add -o NAME.idx" "$BOUMA" export m.bouma
# Without a name it is that of the dataset.
mkdir -p elsewhere
cp -r m.bouma elsewhere/named.bouma
expect 0 "$BOUMA" export elsewhere/named.bouma/ --format idx --json
[[ $out == *named.idx* && -e named.idx && -d named ]] || complain "said: $out"
refuse 2 "named" "$BOUMA" export elsewhere/named.bouma --format idx
refuse 2 "must end with .idx" "$BOUMA" export m.bouma --format idx -o x.npy
refuse 2 "no format has that suffix" "$BOUMA" export m.bouma -o x.npy
refuse 2 "--format" "$BOUMA" export m.bouma --format vtk -o x.idx
refuse 2 "has no name before" "$BOUMA" export m.bouma -o ./.idx
refuse 2 "has no blanks" "$BOUMA" export m.bouma -o 'a b.idx'
refuse 2 "no/such/bad.5" "$BOUMA" export m.bouma -o no/such/bad.5.idx
refuse 2 "there is no variable 'c'" "$BOUMA" export m.bouma grid/c -o bad.idx
refuse 2 "there is no grid" "$BOUMA" export m.bouma box -o bad.idx
refuse 2 "grid/a is named twice" "$BOUMA" export m.bouma grid grid/a -o bad.idx
refuse 2 "has no such timestep" "$BOUMA" export m.bouma --step 5 -o bad.idx
refuse 2 "--block-bits 30: a block would have 2 GiB" "$BOUMA" export m.bouma --block-bits 30 -o bad.idx
refuse 2 "--block-bits" "$BOUMA" export m.bouma --block-bits 0 -o bad.idx
refuse 2 "--blocks-per-file 65537: at most" "$BOUMA" export m.bouma --blocks-per-file 65537 -o bad.idx
refuse 2 "could not be opened" "$BOUMA" export none.bouma -o bad.idx
python "
np.save('line.npy', np.arange(50.0))
np.savez('atoms.npz', position=np.random.default_rng(1).random((50, 3)))"
expect 0 "$BOUMA" import line.npy --into line.bouma
refuse 2 "has one axis, and IDX has 2 or 3; write it with: bouma read" "$BOUMA" export line.bouma -o bad.idx
expect 0 "$BOUMA" import atoms.npz --particles atoms --into atoms.bouma
refuse 2 "'atoms' is a set of particles" "$BOUMA" export atoms.bouma atoms -o bad.idx
refuse 2 "'atoms' is a set of particles" "$BOUMA" export atoms.bouma -o bad.idx
expect 0 "$BOUMA" import s0.npy --grid other --var v --into m.bouma --step 11
refuse 2 "step 11 has no grid grid; leave it out" "$BOUMA" export m.bouma grid -o bad.idx
expect 0 "$BOUMA" export m.bouma grid --step :11 -o fine.idx
# A dataset that is damaged: what was begun is removed.
largest=$(find m.bouma -type f -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2)
python "
data = bytearray(open('$largest', 'rb').read())
data[len(data) // 3:len(data) // 3 + 4000] = bytes(4000)
open('$largest', 'wb').write(data)"
run "$BOUMA" export m.bouma grid --step :11 -o bad.idx
[[ $status -eq 1 ]] || complain "a damaged dataset gave $status: $err"
[[ -z $(find . -name 'bad*' -o -name '*.part') ]] || complain "left behind: $(find . -name 'bad*' -o -name '*.part')"
finish
