#!/bin/bash
# particles_tolerance.sh -- what docs/errors.md promises of rounded particles.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(3)
n = 6000
for t in ('f4', 'f8'):
    v = np.concatenate([r.normal(size=n // 2), r.normal(size=n // 2) * 10.0 ** r.integers(-12, 15, n // 2)]).astype(t)
    v[:6] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e30]
    np.savez(t + '.npz', x=r.random(n), id=np.arange(n), v=v)"
for type in f4 f8; do
    for bound in 0.5 0.001 1e-9; do
        rm -rf ./*.bouma
        expect 0 "$BOUMA" import $type.npz --particles p --position x \
            --tolerance $bound --into one.bouma
        expect 0 "$BOUMA" query one.bouma p -o one.npz
        expect 0 "$BOUMA" query one.bouma p --quality 0.2 -o few.npz
        expect 0 "$BOUMA" query one.bouma p --where "v > 0.0008" -o some.npz
        # Once more, from what was read.
        expect 0 "$BOUMA" import one.npz --particles p --tolerance $bound \
            --into two.bouma
        expect 0 "$BOUMA" query two.bouma p -o two.npz
        expect 0 "$BOUMA" verify one.bouma deep
        expect 0 "$BOUMA" info one.bouma --json
        printf '%s' "$out" >.json
        python "
def load(name):
    a = np.load(name)
    return dict(zip(a['id'], a['v']))
x, y = load('$type.npz'), load('one.npz')
ids = np.array(sorted(x))
a, b = np.array([x[i] for i in ids]), np.array([y[i] for i in ids])
f = np.isfinite(a)
errors = np.abs(a[f].astype(np.longdouble) - b[f])
assert (errors <= $bound).all(), errors.max()
assert a[~f].tobytes() == b[~f].tobytes()
assert (np.diff(b[f][np.argsort(a[f], kind='stable')]) >= 0).all(), 'order'
v = json.load(open('.json'))['steps'][0]['objects'][0]['attributes']
v = [k for k in v if k['name'] == 'v'][0]
assert v['codec'] == 'quantise' and v['max_error'] == float(errors.max()), v
# The same values at any quality, and what is compared is what is read.
for name, wanted in (('few.npz', None), ('some.npz', np.flatnonzero(b > 0.0008))):
    part = load(name)
    assert all(part[i] == y[i] or np.isnan(y[i]) for i in part), name
    assert wanted is None or sorted(part) == list(ids[wanted]), name
z = load('two.npz')
assert all(z[i] == y[i] or np.isnan(y[i]) for i in ids), 'copies drift'"
    done
done
finish
