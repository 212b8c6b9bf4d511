#!/bin/bash
# render_particles.sh -- pictures of particles show the histograms that NumPy
# makes of them.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(12)
n = 30000
p = r.random((n, 3)) * [4, 2, 1]
p[0], p[1] = 0, [4, 2, 1]
np.savez('a.npz', position=p, mass=r.standard_normal(n), v=r.random((n, 3)))
np.savez('flat.npz', position=r.random((400, 2)).astype('f4'))
np.savez('line.npz', position=r.random((400, 1)).astype('f4'))
np.savez('point.npz', position=np.zeros((3, 3)), m=[1, np.nan, 2])
np.savez('none.npz', position=np.zeros((0, 3)), m=np.zeros(0))"
for name in a flat line point none; do
    expect 0 "$BOUMA" import $name.npz --particles p --into $name.bouma
done

render()
{
    expect 0 "$BOUMA" render "$@" --colours grey -o out.png --json
    printf '%s' "$out" >.json
}

# cells ROW COLUMN: sets h(values), the histogram over these axes, and 'mask' of
# cells without particles; they are white.
histogram="
a = np.load('a.npz'); p, m = a['position'], a['mass']
o = json.load(open('.json'))
def h(row, column, shape, low=(0, 0, 0), high=(4, 2, 1), keep=True, weights=None):
    k = np.full(len(p), True) & keep
    w = None if weights is None else weights[k]
    return np.histogram2d(p[k, row], p[k, column], shape,
                          [[low[row], high[row]], [low[column], high[column]]], weights=w)[0]
def same_cells(values, empty):
    low, high = o['range']
    pixels = inside('out.png')
    want = np.where(empty, 255, grey(np.where(empty, 0, values), low, high))[::-1]
    assert pixels.shape[:2] == want.shape, (pixels.shape, want.shape)
    # The very last bits of a position can fall to either side of a border.
    differ = np.abs(pixels[:, :, 0] - want) > 1
    assert differ.mean() < 1e-3, differ.mean()
"
render a.bouma p --size 64 --radius 0.5
picture "$histogram
c = h(1, 0, (32, 64))
assert o['range_source'] == 'drawn' and o['count'] == 30000 and o['radius'] == 0.5
assert np.allclose(o['range'], [0, np.log10(c.max())])
assert o['axis'] == 'z' and o['variable'] is None and o['projection'] == 'density'
same_cells(np.log10(np.maximum(c, 1)), c == 0)"
render a.bouma p --size 64 --radius 0.5 --axis x --range 0,3
picture "$histogram
c = h(2, 1, (32, 64))
assert o['range_source'] == 'given' and o['range'] == [0, 3]
same_cells(np.log10(np.maximum(c, 1)), c == 0)"
render a.bouma p --size 64 --radius 0.5 --axis y --box 1:3,0:1.5,: --where 'mass > 0' --range 0,2
picture "$histogram
k = (p[:, 0] >= 1) & (p[:, 0] < 3) & (p[:, 1] < 1.5) & (m > 0)
c = h(2, 0, (32, 64), (1, 0, 0), (3, 1.5, 1), k)
assert o['count'] == k.sum()
same_cells(np.log10(np.maximum(c, 1)), c == 0)"
render a.bouma p/mass --size 64 --radius 0.5
picture "$histogram
c = h(1, 0, (32, 64))
assert o['range_source'] == 'recorded' and o['range'] == [m.min(), m.max()]
same_cells(h(1, 0, (32, 64), weights=m) / np.maximum(c, 1), c == 0)"
for how in max min; do
    render a.bouma p/v --component 1 --project $how --size 64 --radius 0.5
    picture "$histogram
v = a['v'][:, 1]
best = np.full((32, 64), -np.inf if '$how' == 'max' else np.inf)
at = np.minimum((p[:, 1] / 2 * 32).astype(int), 31), np.minimum((p[:, 0] / 4 * 64).astype(int), 63)
(np.maximum if '$how' == 'max' else np.minimum).at(best, at, v)
same_cells(best, ~np.isfinite(best))"
done

# With a tenth of the particles the density is the same, and there are no more
# holes: each is larger.
render a.bouma p --size 64 --quality 0.1 --range 0,2 --radius 1
picture "$histogram
assert o['quality'] == 0.1 and abs(o['count'] - 3000) < 64
assert abs(o['radius'] - 0.1 ** (-1 / 3)) < 1e-12
pixels = inside('out.png')[:, :, 0] / 255 * 2
assert abs(10 ** pixels.mean() - 30000 / (32 * 64)) < 3, 10 ** pixels.mean()
assert (pixels == 2).mean() < 0.01"
expect 0 "$BOUMA" render a.bouma p --size 64 --quality 0.01 -o few.png

# Other shapes, and nothing at all.
render flat.bouma p --size 50
python "o = json.load(open('.json')); assert o['axis'] is None and o['count'] == 400"
render line.bouma p
render point.bouma p/m
python "o = json.load(open('.json')); assert o['count'] == 2"
render none.bouma p
render none.bouma p/m
"$BOUMA" render flat.bouma p --colours grey -o - >stream.png
expect 0 "$BOUMA" render flat.bouma p --colours grey -o file.png
same stream.png file.png
[[ $out == *"density"* ]] || complain "$out"

refuse 2 "--slice is for grids" "$BOUMA" render a.bouma p --slice z=1 -o x.png
refuse 2 "--project is for a variable" "$BOUMA" render a.bouma p --project max -o x.png
refuse 2 "there is no variable 'mas' in p; did you mean 'mass'" "$BOUMA" render \
    a.bouma p/mas -o x.png
refuse 2 "components 0 to 2" "$BOUMA" render a.bouma p/v --component 3 -o x.png
refuse 2 "leave it out" "$BOUMA" render flat.bouma p --axis x -o x.png
refuse 2 "must be x, y or z" "$BOUMA" render a.bouma p --axis q -o x.png
refuse 2 "at most 64 pixels" "$BOUMA" render a.bouma p --radius 1000 -o x.png
[[ ! -e x.png ]] || complain "a refused call drew a picture"
finish
