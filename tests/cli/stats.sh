#!/bin/bash
# stats.sh -- ranges, means and deviations of variables.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(7)
a = r.normal(1e6, 1, (70, 33, 20))
a[3, 4, 5] = np.nan
a[6, 7, 8] = -np.inf
v = r.integers(-100, 100, (9, 8, 2)).astype('i2')
big = np.full((4, 4), 2**63 + 1, 'u8')
big[0, 0] = 2**64 - 1
np.save('a.npy', a), np.save('v.npy', v), np.save('big.npy', big)
np.save('nothing.npy', np.full((4, 4), np.nan, 'f4'))
np.savez('p.npz', position=r.random((3000, 3)), mass=r.random(3000, 'f4'))"
expect 0 "$BOUMA" import a.npy --into run.bouma --patch 16,16,16
expect 0 "$BOUMA" import v.npy --components 2 --into run.bouma
expect 0 "$BOUMA" import big.npy nothing.npy --into run.bouma
expect 0 "$BOUMA" import p.npz --particles dust --into run.bouma
expect 0 "$BOUMA" import a.npy --into run.bouma --layout hz

"$BOUMA" stats run.bouma --step all --json >all.json || complain "stats"
python "
entries = json.load(open('all.json'))['entries']
p = np.load('p.npz')
a, v = np.load('a.npy'), np.load('v.npy')
want = [(0, 'a', a), (1, 'v', v[..., 0]), (1, 'v', v[..., 1]), (2, 'big', np.load('big.npy')),
        (2, 'nothing', np.load('nothing.npy'))]
want += [(3, 'position', p['position'][:, i]) for i in range(3)] + [(3, 'mass', p['mass']), (4, 'a', a)]
assert len(entries) == len(want), entries
for e, (step, name, values) in zip(entries, want):
    assert (e['step'], e['variable']) == (step, name), e
    assert e['count'] == values.size, e
    assert e['nans'] == np.isnan(values).sum() and e['infinite'] == np.isinf(values).sum(), e
    f = values[np.isfinite(values)]
    if not f.size:
        assert e['low'] is e['high'] is e['mean'] is e['deviation'] is None, e
        continue
    assert (float(e['low']), float(e['high'])) == (np.nanmin(values), np.nanmax(values)), e
    f = f.astype('f8')
    assert abs(e['mean'] - f.mean()) <= 1e-12 * abs(f).max(), e
    assert abs(e['deviation'] - f.std()) <= 1e-9 * f.std(), e
assert entries[3]['low'] == 2**63 + 1 and entries[3]['high'] == 2**64 - 1"

expect 0 "$BOUMA" stats run.bouma grid/nothing --step 2
[[ $out == *grid/nothing*16*16*0*-*-*-*- ]] || complain "$out"
expect 0 "$BOUMA" stats run.bouma 'd*/pos*' --step -2
[[ $(grep -c 'dust/position\[[012]\]' <<<"$out") == 3 ]] || complain "$out"

refuse 2 'usage' "$BOUMA" stats
refuse 2 'no.bouma' "$BOUMA" stats no.bouma
refuse 2 "there is no 'grid/b' in step 4" "$BOUMA" stats run.bouma grid/b
refuse 2 "there are no data of 'x' in these steps" "$BOUMA" stats run.bouma x --step all
refuse 2 'step 1:1: ' "$BOUMA" stats run.bouma --step 1:1
file=$(ls run.bouma/steps/00000003/* | grep -v manifest | head -n 1)
truncate -s 100 "$file"
refuse 1 'run.bouma' "$BOUMA" stats run.bouma --step 3
finish
