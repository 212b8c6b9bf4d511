#!/bin/bash
# histogram.sh -- counts of values in bins: exact, within a budget, from the index;
# as text, as a table, as a picture.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(5)
z, y, x = np.mgrid[0:48, 0:40, 0:56].astype('f4')
np.save('a.npy', (np.sin(x / 9) * np.cos(y / 11) + z / 100).astype('f4'))
n = 20000
position = r.random((n, 3))
np.savez('p.npz', position=position, id=np.arange(n), mass=position[:, 0] + 0.1 * r.random(n),
         velocity=r.random((n, 3)))"
expect 0 "$BOUMA" import a.npy --into d.bouma --patch 8 --files 2
expect 0 "$BOUMA" import p.npz --particles p --into p.bouma --file-size 128K

# check DATASET VARIABLE VALUES OPTIONS...: whatever is read, the counts of NumPy are within the
# bounds, and exact counts are those.
check()
{
    local dataset=$1 variable=$2 values=$3
    shift 3
    expect 0 "$BOUMA" histogram "$dataset" "$variable" --json "$@"
    printf '%s' "$out" >.json
    python "
j = json.load(open('.json'))
p, a = np.load('p.npz'), np.load('a.npy')
values = $values
edges = [b['low'] for b in j['bins']] + [j['bins'][-1]['high']]
right = np.histogram(values.astype('f8'), edges)[0]
for b, n in zip(j['bins'], right):
    assert b['lower'] <= n <= b['upper'] and b['lower'] <= b['count'] <= b['upper'], (b, n)
    if j['basis'] == 'exact':
        assert b['count'] == n and b['error'] == 0
assert j['all']['lower'] <= values.size <= j['all']['upper']
assert (j['level'] is None) == (j['basis'] == 'index')
assert (j['points'] > 0) == (j['basis'] != 'index' and values.size > 0)
open('.told', 'w').write('%s %d ' % (j['basis'], len(right)))"
}

for how in '' --exact --index '--max-bytes 20K' '--limit 3000'; do
    # shellcheck disable=SC2086  # options and their values
    {
        check d.bouma grid/a a $how
        check d.bouma grid/a 'a[3:20, :, 5:]' --box 3:20,:,5: --bins 7 $how
        check p.bouma p/mass 'p["mass"]' --bins 33 $how
        check p.bouma p/velocity 'p["velocity"][:, 2]' --component 2 --range 0.2:0.7 $how
        check p.bouma p/position 'p["position"][p["id"] < 900, 1]' --component 1 --where 'id < 900' $how
        check p.bouma p/mass 'p["mass"][p["position"][:, 0] < 0.5]' --box :0.5,:,: $how
    }
done
check p.bouma p/mass 'p["mass"][:0]' --where 'id < 5 && id > 7'
grep -q '^exact 20 ' .told || complain "nothing can match: $(cat .told)"
check p.bouma p/mass 'p["mass"]' --index
grep -q '^index 20 ' .told || complain "the index alone: $(cat .told)"
check p.bouma p/mass 'p["mass"]' --limit 3000
grep -q '^sample 20 ' .told || complain "a sample: $(cat .told)"

# ---- outputs -------------------------------------------------------------------

expect 0 "$BOUMA" histogram p.bouma p/mass --bins 4 --range 0:1
[[ $out == *"20000 values counted"* && $out == *"FROM"*"TO"*"COUNT"* && $out == *"#####"* ]] ||
    complain "bars: $out"
expect 0 "$BOUMA" histogram p.bouma p/mass --bins 4 --limit 1000
[[ $out == *"estimated from"*"ended by points"* && $out == *"LOWEST"*"HIGHEST"* ]] ||
    complain "estimates: $out"
expect 0 "$BOUMA" histogram p.bouma p/mass --bins 5 --exact -o t.csv
python "
t = np.genfromtxt('t.csv', delimiter=',', names=True)
mass = np.load('p.npz')['mass']
assert t['count'].sum() == len(mass) and len(t) == 5 and np.array_equal(t['lower'], t['upper'])
assert np.array_equal(t['count'], np.histogram(mass, np.append(t['low'], t['high'][-1]))[0])"
expect 0 "$BOUMA" histogram p.bouma p/mass --bins 2 --range 0:4 --exact -o t.png
expect 0 "$BOUMA" histogram p.bouma p/mass --index -o i.png
# Of two bins from 0 to 4, the first has all particles: a bar in the left half, dark to its top.
picture "
rows, palette = png.read('t.png')
ink = palette.index((31, 104, 180))
columns = [x for row in rows for x, one in enumerate(row) if one == ink]
width = len(rows[0])
assert len(columns) > 50000 and max(columns) < width * 0.55, (len(columns), max(columns), width)
rows, palette = png.read('i.png')
assert any(palette.index((214, 228, 243)) in row for row in rows)"

# ---- mistakes ------------------------------------------------------------------

for wrong in 'p --bins 3' 'p/nothing' 'p/mass --bins 0' 'p/mass --bins 65537' 'p/mass --range 3' \
    'p/mass --range 2:1' 'p/mass --component 1' 'p/mass --exact --index' 'p/mass --exact --limit 5' \
    'p/mass --index --limit 5' 'p/mass -o x.txt'; do
    # shellcheck disable=SC2086
    expect 2 "$BOUMA" histogram p.bouma $wrong
done
expect 2 "$BOUMA" histogram d.bouma grid/a --where 'a > 1'

finish
