#!/bin/bash
# particles_query.sh -- queries by box, values and quality find just the
# particles that a look at all of them finds, and write them exactly.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(11)
n = 20000
p = np.concatenate([r.random((n // 2, 3)), 0.4 + 0.05 * r.standard_normal((n // 2, 3))]).astype('f4')
p[7] = np.nan; p[8, 1] = np.inf
m = r.standard_normal(n); m[:50] = np.nan; m[50:60] = np.inf
np.savez('a.npz', position=p, mass=m, id=np.arange(n) + 2**62,
         velocity=r.standard_normal((n, 3)).astype('f4'), kind=r.integers(-9, 9, n).astype('i2'))
np.savez('flat.npz', position=r.random((500, 2)), y=np.arange(500.0))
"
expect 0 "$BOUMA" import a.npz --particles p --into run.bouma --file-size 128K --step 3
expect 0 "$BOUMA" import flat.npz --particles flat --into run.bouma --step 5

# found MASK [OPTIONS...]: the query gives the particles of the mask, once each,
# with all of their values.
found()
{
    local mask=$1
    shift
    expect 0 "$BOUMA" query run.bouma p --step 3 "$@" -o out.npz --json
    printf '%s' "$out" >.json
    python "
a, o = dict(np.load('a.npz')), dict(np.load('out.npz'))
x, y, z = a['position'].T
mass, kind, id, v = a['mass'], a['kind'], a['id'], a['velocity']
want = id[$mask]
assert sorted(o) == sorted(a), sorted(o)
assert np.array_equal(np.sort(o['id']), want), (len(o['id']), len(want))
i = o['id'] - 2**62
for k in a:
    assert o[k].dtype == a[k].dtype and o[k].shape[1:] == a[k].shape[1:]
    assert np.array_equal(o[k], a[k][i], equal_nan=a[k].dtype.kind == 'f'), k
j = json.load(open('.json'))
assert j['count'] == len(want) and j['seconds'] >= 0 and j['output'] == 'out.npz'
assert j['step'] == 3 and (not len(want) or j['bytes_read'] > 0 and j['files_opened'] > 0)"
}

found "np.full(len(id), True)"
found "(x >= .2) & (x < .45) & (y >= .3) & (y < .5) & (z < .4)" --box .2:.45,.3:.5,:.4
found "(x >= .9)&np.isfinite(y)" --box .9:,:,:
found "np.isfinite(x)&np.isfinite(y)" --box=:,:,:
found "np.full(len(id), False)" --box .5:.5,:,:
found "np.full(len(id), False)" --box 7:8,:,:
found "mass > 0.5" --where 'mass > 0.5'
found "(mass > 0.5) & (mass <= 1e300)" --where '0.5 < mass <= 1e300'
found "mass == np.inf" --where 'mass == inf'
found "kind == 3" --where 'kind == 3'
found "(kind > 2) & (kind < 5)" --where '2.5 < kind < 4.5'
found "id > 2**62 + 19990" --where "id > $((2 ** 62 + 19990))"
found "id == 2**62 + 1" --where "id == $((2 ** 62 + 1))"
found "(v[:, 2] < -1) & (kind >= 0) & (x < .5)" --where 'velocity[2] < -1 and kind>=0 && x < .5'
found "(mass > 0) & (x >= .35) & (x < .45)" --where 'mass > 0' --box .35:.45,:,:
found "np.full(len(id), False)" --where 'mass < 1 && mass > 2'
found "np.full(len(id), False)" --where 'kind == 2.5'

# Qualities: shares that have no particle in common, and together are all.
for q in "0 0.01" "0.01 0.1" "0.1 0.5" "0.5 1"; do
    expect 0 "$BOUMA" query run.bouma p --step 3 --from ${q% *} --quality ${q#* } \
        --where 'mass > 0' -o "q${q#* }.npz"
done
python "
parts = [np.load('q%s.npz' % q)['id'] for q in ('0.01', '0.1', '0.5', '1')]
a = np.load('a.npz')
assert np.array_equal(np.sort(np.concatenate(parts)), a['id'][a['mass'] > 0])"
expect 0 "$BOUMA" query run.bouma p --step 3 --quality 0.1 -o tenth.npz --json
printf '%s' "$out" >few.json
expect 0 "$BOUMA" query run.bouma p --step 3 -o all.npz --json
printf '%s' "$out" >all.json
python "
few, all = json.load(open('few.json')), json.load(open('all.json'))
assert abs(few['count'] - 2000) <= 64, few['count']
assert few['bytes_read'] < all['bytes_read'] / 2
assert few['quality'] == 0.1 and few['from'] == 0"

# Samples: as many as asked for, the same for the same seed.
expect 0 "$BOUMA" query run.bouma p --step 3 --sample 100 -o s1.npz
expect 0 "$BOUMA" query run.bouma p --step 3 --sample 100 -o s2.npz
expect 0 "$BOUMA" query run.bouma p --step 3 --sample 100 --seed 1 -o s3.npz
expect 0 "$BOUMA" query run.bouma p --step 3 --sample 100 --where 'kind == 3' -o s4.npz
same s1.npz s2.npz
python "
a = np.load('a.npz')
s1, s3, s4 = (np.load(f's{i}.npz')['id'] for i in (1, 3, 4))
assert len(set(s1)) == len(set(s3)) == len(set(s4)) == 100
assert len(set(s1) & set(s3)) < 10 and (a['kind'][s4 - 2**62] == 3).all()"

# Samples of consecutive seeds are independent: of 500 out of 20000 particles
# some 12 are in two of them, and many seeds come to nearly every particle.
for seed in {1..20}; do
    expect 0 "$BOUMA" query run.bouma p --step 3 --sample 500 --seed "$seed" --variables id -o "seed$seed.npz"
done
python "
s = [set(np.load(f'seed{i}.npz')['id']) for i in range(1, 21)]
assert all(len(x) == 500 for x in s)
assert all(len(x & y) <= 33 for x, y in zip(s, s[1:])), [len(x & y) for x, y in zip(s, s[1:])]
assert 7650 < len(set.union(*s)) < 8300, len(set.union(*s))"

# Text has every bit; the header tells what is what.
expect 0 "$BOUMA" query run.bouma p --step 3 --quality 0.2 -o out.csv
expect 0 "$BOUMA" query run.bouma p --step 3 --quality 0.2 -o out.npz
"$BOUMA" query run.bouma p --step 3 --quality 0.2 -o - >stream.csv
same out.csv stream.csv
python "
o = np.load('out.npz')
lines = open('out.csv').read().split('\n')
assert lines[0] == 'x,y,z,mass,id,velocity_0,velocity_1,velocity_2,kind', lines[0]
assert lines[-1] == ''
rows = [l.split(',') for l in lines[1:-1]]
assert len(rows) == len(o['id'])
assert [int(r[4]) for r in rows] == list(o['id'])
def column(i, t): return np.array([r[i] for r in rows]).astype('f8').astype(t)
for i in range(3):
    assert np.array_equal(column(i, 'f4'), o['position'][:, i], equal_nan=True)
    assert np.array_equal(column(5 + i, 'f4'), o['velocity'][:, i])
assert np.array_equal(column(3, 'f8'), o['mass'], equal_nan=True)
assert np.array_equal(column(8, 'i2'), o['kind'])"

# Numbers have the digits that they were written with, and no more.
printf 'x,y,m\n0.075,-0.1,1e-07\n' >short.csv
expect 0 "$BOUMA" import short.csv --particles p --into short.bouma
"$BOUMA" query short.bouma p -o - >stream.csv
same short.csv stream.csv
# An attribute y leaves x and z to nobody; one that is not asked for does.
expect 0 "$BOUMA" query run.bouma flat -o flat.csv
[[ $(head -1 flat.csv) == position_0,position_1,y ]] || complain "$(head -1 flat.csv)"
expect 0 "$BOUMA" query run.bouma flat --variables position -o flat.csv --box .25:.5,:
[[ $(head -1 flat.csv) == x,y ]] || complain "$(head -1 flat.csv)"
python "
a = np.load('flat.npz')['position']
b = np.loadtxt('flat.csv', delimiter=',', skiprows=1)
a = a[(a[:, 0] >= .25) & (a[:, 0] < .5)]
assert np.array_equal(a[np.argsort(a[:, 1])], b[np.argsort(b[:, 1])])"
expect 0 "$BOUMA" query run.bouma flat --where 'y < 100' --variables y -o out.npz
python "o = np.load('out.npz'); assert o.files == ['y'] and np.array_equal(np.sort(o['y']), np.arange(100.0))"

# Without an output: the number and the ranges.
expect 0 "$BOUMA" query run.bouma p --step 3 --where 'kind == 3' --json
printf '%s' "$out" >.json
python "
a = np.load('a.npz'); k = a['kind'] == 3
o = json.load(open('.json'))
assert o['output'] is None and o['count'] == k.sum()
r = {v['name']: v['ranges'] for v in o['variables']}
assert r['id'] == [{'min': int(a['id'][k].min()), 'max': int(a['id'][k].max()), 'nans': 0}]
assert r['kind'][0]['min'] == r['kind'][0]['max'] == 3
assert r['velocity'][1]['max'] == float(a['velocity'][k, 1].max())
assert r['mass'][0]['nans'] == np.isnan(a['mass'][k]).sum()"
expect 0 "$BOUMA" query run.bouma p --step 3
[[ $out == *"20000 particles of 20000"* && $out == *"velocity[2]"* ]] || complain "$out"

# info tells the same numbers, and the tree over the files adds up.
expect 0 "$BOUMA" info run.bouma --step 3 --tree
[[ $out == *"particles p: 20000 on 3 axes"*"2 not at a finite position"* &&
    $out == *"tree over the files: "*"file 0: "* ]] || complain "$out"
expect 0 "$BOUMA" info run.bouma --step 3 --tree --json
printf '%s' "$out" >.json
python "
a = np.load('a.npz')
o = json.load(open('.json'))['steps'][0]['objects'][0]
assert (o['kind'], o['count'], o['strays'], o['ndims']) == ('particles', 20000, 2, 3)
fine = a['position'][np.isfinite(a['position']).all(1)]
assert o['low'] == fine.min(0).tolist() and o['high'] == fine.max(0).tolist()
leaves = [n for n in o['tree'] if 'file' in n]
assert len(o['tree']) == o['tree_nodes'] == 2 * len(leaves) - 1 and len(leaves) > 1
assert sorted(n['file'] for n in leaves) == list(range(o['files']))
assert sum(n['count'] for n in leaves) == o['tree'][0]['count']
assert [v['name'] for v in o['attributes']] == ['mass', 'id', 'velocity', 'kind']
assert o['position']['type'] == 'f32' and o['largest_file'] >= o['mean_file'] > 0"

# A set of no particles has columns of no values.
python "np.savez('none.npz', position=np.zeros((0, 3), 'f4'), m=np.zeros(0, 'i2'), v=np.zeros((0, 2)))"
expect 0 "$BOUMA" import none.npz --particles none --into run.bouma --step 4
expect 0 "$BOUMA" query run.bouma none --step 4 --where 'm > 3' -o out.npz
python "
a, o = np.load('none.npz'), np.load('out.npz')
assert {k: (v.dtype, v.shape) for k, v in a.items()} == {k: (v.dtype, v.shape) for k, v in o.items()}"
expect 0 "$BOUMA" query run.bouma none --step 4
expect 0 "$BOUMA" info run.bouma --step 4

# Nothing is left behind, nor half of a file.
[[ -z $(ls ./*.part* 2>/dev/null) ]] || complain "left behind: $(ls ./*.part*)"
echo kept >kept.npz
refuse 2 "did you mean 'mass'" "$BOUMA" query run.bouma p --step 3 --where 'mas > 3' -o kept.npz
[[ $(<kept.npz) == kept ]] || complain "a query that failed wrote its output"

# What cannot be done.
refuse 2 "there is no set of particles 'q'" "$BOUMA" query run.bouma q
refuse 2 "there is no set of particles 'flt' in step 5; did you mean 'flat'" \
    "$BOUMA" query run.bouma flt
refuse 2 "--seed 18446744073709551616: must be a whole number from 1 to \
18446744073709551615" "$BOUMA" query run.bouma p --step 3 --sample 5 \
    --seed 18446744073709551616
refuse 2 "--seed 0: must be a whole number from 1" "$BOUMA" query run.bouma p \
    --step 3 --sample 5 --seed 0
refuse 2 "--seed -1: must be a whole number" "$BOUMA" query run.bouma p \
    --step 3 --sample 5 --seed=-1
expect 0 "$BOUMA" query run.bouma p --step 3 --sample 5 --seed 18446744073709551615
refuse 2 "there is no step 9" "$BOUMA" query run.bouma p --step 9
refuse 2 "end the name with .npz or .csv" "$BOUMA" query run.bouma flat -o out.txt
refuse 2 "0 <= from <= quality <= 1" "$BOUMA" query run.bouma flat --quality 2
refuse 2 "0 <= from <= quality <= 1" "$BOUMA" query run.bouma flat --quality .1 --from .2
refuse 2 "--sample and --quality" "$BOUMA" query run.bouma flat --sample 3 --quality 1
refuse 2 "--seed needs --sample" "$BOUMA" query run.bouma flat --seed 3
refuse 2 "not a box of 2 axes" "$BOUMA" query run.bouma flat --box 0:1
refuse 2 "not a box of 2 axes" "$BOUMA" query run.bouma flat --box 0:1,0:1,0:1
refuse 2 "write the lower end first" "$BOUMA" query run.bouma flat --box 1:0,:
refuse 2 "there is no variable 'z'" "$BOUMA" query run.bouma flat --variables y,z
refuse 2 "twice" "$BOUMA" query run.bouma flat --variables y,y
refuse 2 "both use standard output" "$BOUMA" query run.bouma flat -o - --json
python "np.save('g.npy', np.zeros((4, 4)))"
expect 0 "$BOUMA" import g.npy --into run.bouma --step 6
refuse 2 "'grid' is a grid; read it with" "$BOUMA" query run.bouma grid
refuse 2 "is for particles, and grid is a grid" "$BOUMA" render run.bouma grid \
    --quality .5 -o x.png
finish
