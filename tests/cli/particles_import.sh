#!/bin/bash
# particles_import.sh -- particles from every kind of file arrive as NumPy reads
# them, whatever the number of processes; what is wrong with a file is told.
source "$(dirname "$0")/common.bash"
do_not_sync
if [[ -n ${BOUMA_MPI:-} ]]; then
    BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
fi
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}

# on RANKS ARGUMENTS...: run bouma-mpi on that many.
on()
{
    local ranks=$1
    shift
    # shellcheck disable=SC2086  # MPIRUN is a command with arguments
    timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
}

# holds DS EXPRESSION [STEP]: the set p of the dataset has the columns of the
# dictionary, in types and values; order is by the column 'id'.
holds()
{
    expect 0 "$BOUMA" query "$1" p ${3:+--step "$3"} -o out.npz
    python "
want = $2
got = dict(np.load('out.npz'))
assert sorted(got) == sorted(want), (sorted(got), sorted(want))
i, k = np.argsort(got['id'], kind='stable'), np.argsort(want['id'], kind='stable')
for name in want:
    w = want[name].astype(want[name].dtype.newbyteorder('='))
    assert got[name].dtype == w.dtype, (name, got[name].dtype, w.dtype)
    assert np.array_equal(got[name][i], w[k], equal_nan=w.dtype.kind == 'f'), name"
}

# try EXPRESSION ARGUMENTS...: import by one and by three processes.
try()
{
    local wanted=$1
    shift
    rm -rf x.bouma
    expect 0 "$BOUMA" import "$@" --particles p --into x.bouma
    holds x.bouma "$wanted"
    if [[ -x ${BOUMA_MPI:-} ]]; then
        rm -rf x.bouma
        expect 0 on 3 import "$@" --particles p --into x.bouma
        holds x.bouma "$wanted"
    fi
}

python "
r = np.random.default_rng(5)
n = 3001
d = {'position': r.random((n, 3)).astype('f4'), 'mass': r.standard_normal(n),
     'id': r.permutation(n) + 2**60, 'v': r.random((n, 2)).astype('f4'),
     'kind': r.integers(0, 200, n).astype('u1')}
d['mass'][5] = np.nan
np.savez('stored.npz', **d)
np.savez_compressed('deflated.npz', **d)
swapped = {k: np.asfortranarray(v.astype(v.dtype.newbyteorder('>'))) for k, v in d.items()}
np.savez('swapped.npz', **swapped)
np.savez_compressed('swapped_deflated.npz', **swapped)
for k, v in d.items():
    np.save(k + '.npy', v)
    v.tofile(k + '.raw')
record = np.zeros(n, np.dtype([('id', '<i8'), ('position', '<f4', (3,)), ('kind', 'u1'),
                               ('mass', '>f8'), ('v', '<f4', (2,))], align=True))
for k, v in d.items():
    record[k] = v
np.save('record.npy', record)
np.savez_compressed('record.npz', r=record)
"
all="dict(np.load('stored.npz'))"
for file in stored deflated swapped swapped_deflated record; do
    try "$all" $file.npz
done
try "$all" record.npy
try "$all" position.npy mass.npy id.npy v.npy kind.npy
try "$all" --column position:f32:3=position.raw --column mass:f64=mass.raw \
    --column id:i64=id.raw --column v:f32:2=v.raw --column kind:u8=kind.raw
try "$all" position.npy mass.npy id.npy --column v:f32:2=v.raw kind.npy
# Some columns only; another one as the position, which is converted.
try "{k: v for k, v in $all.items() if k in ('position', 'id')}" stored.npz --var id
try "{'position': $all['v'].astype('f8'), 'id': $all['id']}" \
    stored.npz --position v --var id --position-type f64
try "{'position': np.stack([$all['kind'], $all['mass']], 1).astype('f8'), 'id': $all['id']}" \
    stored.npz --position kind,mass --var id

# x, y and z are found, also in two dimensions.
python "
d = dict(np.load('stored.npz'))
for i, k in enumerate('xyz'):
    np.save(k + '.npy', d['position'][:, i])"
try "{k: v for k, v in $all.items() if k in ('position', 'id')}" x.npy y.npy z.npy id.npy
try "{'position': $all['position'][:, :2], 'id': $all['id']}" x.npy y.npy id.npy
try "{'position': $all['position'][:, :1], 'id': $all['id']}" x.npy id.npy

# .csv: whole numbers stay whole, CR LF and blank lines do not matter.
python "
d = dict(np.load('stored.npz'))
with open('t.csv', 'w', newline='') as f:
    f.write('x;\"y\" ; z;id;mass;big\r\n\r\n')
    for i in range(len(d['id'])):
        f.write('%.9g; %.9g ;%.9g;%d;%.17g;%d\r\n' % (*d['position'][i], d['id'][i], d['mass'][i], 2**64 - 1 - i))
        if i == 100: f.write('\n')
open('t.tsv', 'w').write('id\tx\n1\t2\n3\t4.5')
"
csv="{'position': $all['position'].astype('f8'), 'id': $all['id'], 'mass': $all['mass'],
      'big': 2**64 - 1 - np.arange(3001, dtype='u8')}"
# Nine digits are a single: they are that double which they say.
python "
d = $csv
d['position'] = np.array([[float('%.9g' % x) for x in p] for p in d['position']])
np.savez('csv.npz', **d)"
try "dict(np.load('csv.npz'))" t.csv
try "{**{k: v for k, v in np.load('csv.npz').items() if k in ('big', 'id')},
      'position': $all['position'], 'mass': np.load('csv.npz')['mass'].astype('f4')}" \
    t.csv --position-type f32 --type-of mass=f32
try "{'id': np.array([1, 3]), 'position': np.array([[2.0], [4.5]])}" t.tsv
# What query writes as text, import takes back.
rm -rf x.bouma
expect 0 "$BOUMA" import stored.npz --particles p --into x.bouma
expect 0 "$BOUMA" query x.bouma p -o again.csv
try "{'position': $all['position'], 'id': $all['id'], 'mass': $all['mass'], 'kind': $all['kind'].astype('i8'),
      'v_0': $all['v'][:, 0], 'v_1': $all['v'][:, 1]}" \
    again.csv --position-type f32 --type-of v_0=f32 --type-of v_1=f32

# LAMMPS: frames are steps; scaled coordinates become x, y and z.
python "
r = np.random.default_rng(7)
frames = {}
with open('a.lammpstrj', 'w') as f:
    for step, n in (0, 50), (100, 70), (250, 1):
        xs = r.random((n, 3)); ids = r.permutation(n) + 1
        ix = r.integers(-2, 3, n)
        f.write('ITEM: TIMESTEP\n%d\nITEM: TIME\n%g\nITEM: NUMBER OF ATOMS\n%d\n' % (step, step / 8, n))
        f.write('ITEM: BOX BOUNDS pp pp ff\n-1 3\n0 1e1\n5 6.5\nITEM: ATOMS id type xs ys zs ix element xu\n')
        for i in range(n):
            f.write('%d %d %.17g %.17g %.17g %d Cu %.17g \n' % (ids[i], ids[i] % 3, *xs[i], ix[i], 2 * xs[i, 0]))
        low, high = np.array([-1, 0, 5.0]), np.array([3, 10, 6.5])
        np.savez('frame%d.npz' % step, id=ids, type=ids % 3, ix=ix, xu=2 * xs[:, 0],
                 position=low + xs * (high - low))
with open('tilted.dump', 'w') as f:
    # a = (10, 0, 0), b = (2, 8, 0), c = (-3, 1, 5), from (1, 2, 3)
    xs = r.random((40, 3))
    f.write('ITEM: UNITS\nmetal\nITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n40\n')
    f.write('ITEM: BOX BOUNDS xy xz yz pp pp pp\n-2 13 2\n2 11 -3\n3 8 1\nITEM: ATOMS id xs ys zs\n')
    for i in range(40):
        f.write('%d %.17g %.17g %.17g\n' % (i, *xs[i]))
    np.savez('tilted.npz', id=np.arange(40), position=[1, 2, 3] + xs @ np.array([[10, 0, 0], [2, 8, 0], [-3, 1, 5.0]]))
"
for ranks in 3 1; do
    rm -rf x.bouma
    if [[ $ranks == 1 ]]; then
        expect 0 "$BOUMA" import a.lammpstrj --particles p --into x.bouma --json
    elif [[ -x ${BOUMA_MPI:-} ]]; then
        expect 0 on 3 import a.lammpstrj --particles p --into x.bouma --json
    else
        continue
    fi
    [[ $err == *"'element' is text"* ]] || complain "no note on element: $err"
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
assert [(s['step'], s['time'], s['count']) for s in o['steps']] == [(0, 0, 50), (100, 12.5, 70), (250, 31.25, 1)]
assert o['step'] == 250 and o['count'] == 1 and o['created']"
    for step in 0 100 250; do
        holds x.bouma "dict(np.load('frame$step.npz'))" $step
    done
done
"$BOUMA" info x.bouma --json >.json
python "o = json.load(open('.json'))['steps'][1]['objects'][0]
assert o['remarks'] == {'box_low': [-1, 0, 5], 'box_high': [3, 10, 6.5], 'box_boundary': 'pp pp ff'}, o['remarks']"
rm -rf x.bouma
expect 0 "$BOUMA" import tilted.dump --particles p --into x.bouma
expect 0 "$BOUMA" query x.bouma p -o out.npz
python "
a, b = np.load('out.npz'), np.load('tilted.npz')
assert np.allclose(a['position'][np.argsort(a['id'])], b['position'], rtol=1e-14, atol=1e-14)"
"$BOUMA" info x.bouma --json >.json
python "o = json.load(open('.json'))['steps'][0]
assert o['step'] == 7
r = o['objects'][0]['remarks']
assert r['box_low'] == [1, 2, 3] and r['box_high'] == [11, 10, 8] and r['box_tilt'] == [2, -3, 1] and r['units'] == 'metal', r"
# Two files and --step: the frames are numbered from there.
rm -rf x.bouma
expect 0 "$BOUMA" import a.lammpstrj a.lammpstrj --particles p --into x.bouma --step 20 --var id
holds x.bouma "{k: v for k, v in np.load('frame100.npz').items() if k in ('id', 'position')}" 24

# Tolerances hold, and are told.
rm -rf x.bouma
expect 0 "$BOUMA" import stored.npz --particles p --into x.bouma --tolerance 1e-3 \
    --position-tolerance 1e-4 --tolerance-of v=0.01 --unit-of mass=kg --length-unit m --leaf 50
expect 0 "$BOUMA" query x.bouma p -o out.npz
"$BOUMA" info x.bouma --json >.json
python "
a, b = dict(np.load('stored.npz')), dict(np.load('out.npz'))
i, k = np.argsort(a['id']), np.argsort(b['id'])
for name, e in ('position', 1e-4), ('mass', 1e-3), ('v', 1e-2), ('kind', 0):
    d = np.abs(a[name][i].astype('f8') - b[name][k])
    assert np.nanmax(d) <= e, (name, np.nanmax(d))
    assert np.nanmax(d) > 0 or e == 0, name
o = json.load(open('.json'))['steps'][0]['objects'][0]
assert o['kind'] == 'particles' and o['count'] == 3001 and o['unit'] == 'm'
of = {v['name']: v for v in o['attributes']}
assert sorted(of) == ['id', 'kind', 'mass', 'v']
assert of['mass']['codec'] == 'quantise' and 0 < of['mass']['max_error'] <= 1e-3 and of['mass']['unit'] == 'kg'
assert of['kind']['codec'] == 'zstd' and of['kind']['range'] == [int(a['kind'].min()), int(a['kind'].max())]
assert of['mass']['raw_bytes'] == 3001 * 8 and of['mass']['stored_bytes'] > 0 and len(of['v']['range']) == 2"

# What is wrong is told, with its line, and leaves no dataset behind.
python "
z = open('stored.npz', 'rb').read()
open('cut.npz', 'wb').write(z[:-30])
at = z.index(b'mass.npy') + 3000
open('flipped.npz', 'wb').write(z[:at] + bytes([z[at] ^ 1]) + z[at + 1:])
z = open('deflated.npz', 'rb').read()
at = z.index(b'mass.npy') + 3000
open('inflated.npz', 'wb').write(z[:at] + bytes([z[at] ^ 1]) + z[at + 1:])
np.savez('rows.npz', position=np.zeros((4, 3)), mass=np.zeros(5))
np.savez('cube.npz', position=np.zeros((4, 3)), mass=np.zeros((4, 2, 2)))
np.savez('nowhere.npz', a=np.zeros(4))
open('odd.raw', 'wb').write(b'123')
def put(name, text): open(name, 'w').write(text)
put('word.csv', 'x,m\n1,2\n3,four\n')
put('few.csv', 'x,m\n1,2\n\n3\n')
put('many.csv', 'x,m\n1,2\n1,2,3\n')
put('hole.csv', 'x,m\n1,\n')
put('quote.csv', 'x,\"m\n1,2\n')
put('names.csv', '1,2\n3,4\n')
put('twice.csv', 'x,x\n1,2\n')
put('only.csv', '\n')
put('wide.csv', 'x,m\n1,300\n')
d = open('a.lammpstrj').read()
put('short.dump', d[:1500])
lines = d.replace(' element', '').replace(' Cu ', ' ').split('\n')
put('few.dump', '\n'.join(lines[:15] + ['1 2 3'] + lines[16:]))
put('word.dump', '\n'.join(lines[:15] + ['1 two .1 .2 .3 0 0'] + lines[16:]))
put('whole.dump', '\n'.join(lines[:15] + ['1 2.5 .1 .2 .3 0 0'] + lines[16:]))
put('count.dump', d.replace('ATOMS\n50', 'ATOMS\n51'))
put('huge.dump', d.replace('ATOMS\n50', 'ATOMS\n5000000000000'))
put('minus.dump', d.replace('ATOMS\n50', 'ATOMS\n-50'))
put('box.dump', d.replace('-1 3', '-1 x'))
put('local.dump', d.replace('NUMBER OF ATOMS', 'NUMBER OF ENTRIES'))
"
bad()
{
    local status=$1 text=$2
    shift 2
    refuse "$status" "$text" "$BOUMA" import "$@" --particles p --into bad.bouma
}
bad 1 "cut.npz: it is not a .npz file, or is cut off" cut.npz
python "
import io, zipfile
f = io.BytesIO()
np.save(f, np.arange(3.))
for kind, name in ((zipfile.ZIP_STORED, 'stored'), (zipfile.ZIP_DEFLATED, 'deflated')):
    for more in -8, 8:
        with zipfile.ZipFile('%s%d.npz' % (name, more), 'w', kind) as z:
            z.writestr('x.npy', (f.getvalue() + bytes(8))[:len(f.getvalue()) + more])
with open('two.npy', 'wb') as f:
    np.save(f, np.arange(3.))
    np.save(f, np.arange(3.))"
for kind in stored deflated; do
    bad 1 "member 'x.npy': expected 24 bytes of values, found 16; it is cut off" \
        $kind-8.npz --position x
    bad 1 "member 'x.npy': expected 24 bytes of values, found 32; its header \
tells of fewer" $kind""8.npz --position x
done
bad 1 "two.npy: expected 24 bytes of values, found 176; its header tells of \
fewer" two.npy --position two
refuse 1 "two.npy: expected 24 bytes of values, found 176" "$BOUMA" import \
    two.npy --into two.bouma
bad 1 "flipped.npz: member 'mass.npy' is damaged: its checksum is wrong" flipped.npz
bad 1 "inflated.npz: member 'mass.npy' is damaged" inflated.npz
bad 2 "'mass' has 5 rows, but 'position' has 4" rows.npz
bad 1 "'mass' has 3 axes" cube.npz
bad 2 "cannot tell where the particles are" nowhere.npz
bad 2 "did you mean 'mass'" stored.npz --position mas
bad 2 "there is no such column" stored.npz --var nothing
bad 2 "--position names 'mass' twice" stored.npz --position mass,mass
bad 2 "another file has a column 'mass', too" stored.npz mass.npy
bad 2 "it is for text files" stored.npz --type-of mass=f32
bad 2 "there is no such variable" stored.npz --tolerance-of mas=1
bad 2 "keeps every bit" stored.npz --tolerance-of kind=1
bad 2 "--shape is for grids" stored.npz --shape 3
bad 2 "write it as NAME:TYPE=FILE" --column x=odd.raw
bad 2 "write it as --column NAME:TYPE=odd.raw" odd.raw
bad 1 "not a multiple of the 8 bytes" --column x:f64=odd.raw
bad 2 "say which particles"
bad 1 "word.csv: line 3, column 'm': 'four' is not a number" word.csv
bad 1 "few.csv: line 4 has fewer fields than the 2 names" few.csv
bad 1 "many.csv: line 3 has more fields than the 2 names" many.csv
bad 1 "hole.csv: line 2, column 'm': '' is empty" hole.csv
bad 1 "quote.csv: line 1: a quote is not closed" quote.csv
bad 1 "names.csv: line 1: '1' is a number" names.csv
bad 1 "twice.csv: there are two columns 'x'" twice.csv
bad 1 "only.csv: no line has names" only.csv
bad 1 "'300' does not fit into its type" wide.csv --type-of m=i8
bad 1 "short.dump: line 26: the frame of step 0 has 50 atoms, but only 15" \
    short.dump
bad 1 "line 16 has 3 words, but there are 7 columns" few.dump
bad 1 "line 16, column 'type': 'two' is not a number" word.dump
bad 1 "line 16, column 'type': '2.5' does not fit into its type" whole.dump
bad 1 "line 62: the frame of step 0 has 51 atoms, but only 50" count.dump
bad 1 "has 5000000000000 atoms, but only 50" huge.dump
bad 1 "line 6: expected the number of atoms: '-50'" minus.dump
bad 1 "line 8: expected two finite numbers of the box: '-1 x'" box.dump
bad 1 "line 5: a dump of atoms has no such section" local.dump
refuse 2 "--position is for particles" "$BOUMA" import x.npy --position x --into bad.bouma
[[ ! -e bad.bouma ]] || complain "a refused import made a dataset"
refuse 2 "'p' is a set of particles" "$BOUMA" read x.bouma p/mass -o out.npy
finish
