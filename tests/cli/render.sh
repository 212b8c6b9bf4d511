#!/bin/bash
# render.sh -- pictures show the samples that NumPy has at the same indices.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(8)
np.save('a.npy', r.random((40, 64, 32)).astype('f4'))
np.save('i.npy', r.integers(-99, 99, (40, 64, 32)).astype('i2'))
np.save('v.npy', r.random((16, 24, 3)))
b = r.random((30, 50)); b[3:6, 10:20] = np.nan; b[9, 9] = np.inf
np.save('b.npy', b)
np.save('line.npy', np.where(np.arange(1000) < 500, -1.0, 1.0))
np.save('flat.npy', np.full((8, 8), 5, 'u1'))
np.save('none.npy', np.full((8, 8), np.nan))"
expect 0 "$BOUMA" import a.npy i.npy --into run.bouma --patch 16 --unit K
for name in b flat none; do
    expect 0 "$BOUMA" import $name.npy --into $name.bouma --patch 16
done
expect 0 "$BOUMA" import line.npy --into line.bouma --levels 4
expect 0 "$BOUMA" import v.npy --components 3 --into v.bouma

render()
{
    expect 0 "$BOUMA" render "$@" --colours grey -o out.png --json
    printf '%s' "$out" >.json
}

# A label as long as a line does not make the picture wider.
expect 0 "$BOUMA" import a.npy --into long.bouma --unit "of a rather long unit"
render long.bouma grid/a --size 300
python "
width = json.load(open('.json'))['width']
assert width < 300, width"

# Slices along every axis, at every level, all of the same size.
render run.bouma grid/a
picture "
a = np.load('a.npy')
shows('out.png', a[20], a.min(), a.max())
o = json.load(open('.json'))
rows, palette = png.read('out.png')
assert (o['width'], o['height']) == (len(rows[0]), len(rows))
assert o['file'] == 'out.png' and o['level'] == 0 and o['step'] == 0
assert o['slice'] == {'axis': 'z', 'index': 20, 'asked': 20}
assert o['range'] == [a.min(), a.max()] and o['range_source'] == 'recorded'
assert o['bytes_read'] > 0 and o['files_opened'] > 0 and o['seconds'] >= 0"
for axis in z y x; do
    for level in 0 1 2; do
        render run.bouma grid/a --slice $axis=13 --level $level
        picture "
a = np.load('a.npy')
k, axis = 2 ** $level, 'zyx'.index('$axis')
s = np.take(a, 13 // k * k, axis)[::k, ::k]
shows('out.png', np.repeat(np.repeat(s, k, 0), k, 1), a.min(), a.max())
assert json.load(open('.json'))['slice'] == {
    'axis': '$axis', 'index': 13 // k * k, 'asked': 13}"
    done
done
render run.bouma grid/i --slice z=-1 --range -50,50
picture "
shows('out.png', np.load('i.npy')[-1], -50, 50)
assert json.load(open('.json'))['range_source'] == 'given'"

# A coarse slice reads little.
bytes_read()
{
    "$BOUMA" render run.bouma grid/a "$@" -o out.png --json | jq .bytes_read
}
all=$(bytes_read --project max)
[[ $(bytes_read) -lt $((all / 2)) ]] || complain "a slice reads much"
[[ $(bytes_read --level 2) -lt $((all / 4)) ]] || complain "level 2 reads much"

# Projections, along every axis.
for how in max min mean; do
    for axis in z y x; do
        render run.bouma grid/a --project $how --axis $axis --level 1
        picture "
a = np.load('a.npy')
s = getattr(np, '$how')(a[::2, ::2, ::2].astype('f8'), 'zyx'.index('$axis'))
shows('out.png', np.repeat(np.repeat(s, 2, 0), 2, 1), a.min(), a.max())
assert json.load(open('.json'))['projection'] == {
    'axis': '$axis', 'how': '$how'}"
    done
done
render run.bouma grid/a --axis x
picture "a = np.load('a.npy'); shows('out.png', a[:, :, 16], a.min(), a.max())"

# Two axes are drawn as they are; NaN has a colour of its own, and an infinite
# range becomes that of what is drawn.
render b.bouma grid
picture "
b = np.load('b.npy')
p = inside('out.png')
n = p.shape[0] // 30
assert json.load(open('.json'))['range_source'] == 'drawn'
pink = (p == (255, 0, 255)).all(2)[::-1]
assert np.array_equal(pink, np.repeat(np.repeat(np.isnan(b), n, 0), n, 1))
assert (p[::-1][9 * n, 9 * n] == 255).all()"
render b.bouma grid --project mean --axis x
picture "assert inside('out.png').shape[:2] == (256, 512)"
for name in flat none; do
    render $name.bouma grid/$name
    picture "
p = inside('out.png')
assert p.shape == (512, 512, 3) and (p == p[0, 0]).all()"
done

# Components.
render v.bouma grid/v --component 2
picture "a = np.load('v.npy')[:, :, 2]; shows('out.png', a, a.min(), a.max())"
refuse 2 "components 0 to 2" "$BOUMA" render v.bouma grid/v --component 3 -o x.png

# A line: low on the left, high on the right, nothing elsewhere.
for level in 0 3; do
    render line.bouma grid/line --level $level
    picture "
blue = (inside('out.png') == (31, 104, 180)).all(2)
assert blue.shape == (256, 512)
assert blue[-1, 5:250].all() and blue[0, 262:500].all()
assert not blue[5:-5, :250].any() and not blue[5:-5, 262:].any()"
done
render b.bouma grid/b --slice y=20
picture "assert (inside('out.png') == (31, 104, 180)).all(2).any(0)[9:-9].all()"

# Size, smoothness, standard output.
render run.bouma grid/a --slice z=0 --size 640
picture "assert inside('out.png').shape[:2] == (640, 320)"
render run.bouma grid/a --slice z=0 --size 50
picture "assert inside('out.png').shape[:2] == (50, 25)"
render run.bouma grid/a --slice z=0 --smooth
picture "
p, a = inside('out.png')[::-1, :, 0], np.load('a.npy')[0]
# Between two samples lies what is between them; at a sample, the sample. With 8
# pixels each, the middle of one is 4 pixels from its ends.
near = grey(a, np.load('a.npy').min(), np.load('a.npy').max())
assert p.shape == (512, 256)
assert np.abs(p[3::8, 3::8] - near).mean() < 20
assert len(np.unique(p)) > 200"
"$BOUMA" render run.bouma grid/a -o - >stream.png
expect 0 "$BOUMA" render run.bouma grid/a -o file.png
same stream.png file.png
[[ $out == "file.png: grid/a, step 0, level 0, z = 20, "*" pixels; read "* ]] ||
    complain "render said: $out"
for colours in viridis magma grey coolwarm; do
    expect 0 "$BOUMA" render run.bouma grid/a --colours $colours -o $colours.png
done
# The whole range of colours is in the bar.
picture "
def colours(path):
    rows, palette = png.read(path)
    return {palette[i] for row in rows for i in row}
assert {(68, 1, 84), (253, 231, 37)} <= colours('viridis.png')
assert {(59, 76, 192), (180, 4, 38)} <= colours('coolwarm.png')"

# A large grid is read in pieces: each chunk once, and tables of chunks.
python "
z, y, x = np.ogrid[0:64, 0:1024, 0:1024]
np.save('large.npy', ((z * 3 + y // 5 + x // 7) % 251).astype('u1'))"
expect 0 "$BOUMA" import large.npy --into large.bouma --codec raw
all=$("$BOUMA" read large.bouma grid/large -o large.raw --json | jq .bytes_read)
for axis in z y; do
    render large.bouma grid --project max --axis $axis
    picture "
a = np.load('large.npy')
shows('out.png', a.max('zyx'.index('$axis')), a.min(), a.max())
o = json.load(open('.json'))
assert $all <= o['bytes_read'] < 1.001 * $all, (o['bytes_read'], $all)"
done

# Of more samples than pixels, a slice shows some, and a projection counts all.
python "np.save('wide.npy', np.random.default_rng(1).random((60, 5000)))"
expect 0 "$BOUMA" import wide.npy --into wide.bouma
render wide.bouma grid
picture "
a = np.load('wide.npy')
rows, columns = inside('out.png').shape[:2]
assert (rows, columns) == (60 // 3, 5000 // 3)
first = [-(-np.arange(n) * m // n) for n, m in ((rows, 60), (columns, 5000))]
shows('out.png', a[np.ix_(*first)], a.min(), a.max())"
render wide.bouma grid --project max --axis y --range 0,1
picture "
top = (inside('out.png') == (31, 104, 180)).all(2).argmax(0)
assert top.shape == (512,) and top.max() < 0.1 * 256"

# What is wrong with a call is told, and nothing is left behind.
refuse 2 "say where to" "$BOUMA" render run.bouma grid/a
refuse 2 "end the name with .png" "$BOUMA" render run.bouma grid/a -o x.jpg
refuse 2 "has levels 0 to" "$BOUMA" render run.bouma grid/a --level 20 -o x.png
refuse 2 "write it as z=12" "$BOUMA" render run.bouma grid/a --slice 12 -o x.png
refuse 2 "no axis 'w'" "$BOUMA" render run.bouma grid/a --slice w=1 -o x.png
refuse 2 "indices 0 to 39" "$BOUMA" render run.bouma grid/a --slice z=40 -o x.png
refuse 2 "no axis 'z'" "$BOUMA" render b.bouma grid/b --slice z=1 -o x.png
refuse 2 "one axis only" "$BOUMA" render line.bouma grid --slice x=1 -o x.png
refuse 2 "cannot be combined" "$BOUMA" render run.bouma grid/a --slice z=1 \
    --project max -o x.png
refuse 2 "max|min|mean" "$BOUMA" render run.bouma grid/a --project sum -o x.png
refuse 2 "viridis|magma" "$BOUMA" render run.bouma grid/a --colours red -o x.png
refuse 2 "ascending" "$BOUMA" render run.bouma grid/a --range 3,1 -o x.png
refuse 2 "say which variable" "$BOUMA" render run.bouma grid -o x.png
refuse 2 "did you mean 'grid'" "$BOUMA" render run.bouma gird -o x.png
refuse 2 "cannot write" "$BOUMA" render run.bouma grid/a -o none/x.png
victim=$(find b.bouma/steps/00000000 -name 'd.*' | head -1)
truncate -s $(($(stat -c %s "$victim") / 2)) "$victim" # its fine levels
run "$BOUMA" render b.bouma grid/b -o x.png
[[ $status -eq 1 ]] || complain "drawing damage gave $status"
[[ -z $(find . -name 'x.*') ]] || complain "something is left behind"
finish
