#!/bin/bash
# round_trip.sh -- what goes in comes out, for every type, shape and setting.
source "$(dirname "$0")/common.bash"
do_not_sync

# Every type, from .npy and from .raw, with both codecs.
python "
r = np.random.default_rng(1)
for t in 'i1 i2 i4 i8 u1 u2 u4 u8 f4 f8'.split():
    a = r.integers(0, 120, (13, 9, 21)).astype(t)
    np.save(t + '.npy', a)
    a.tofile(t + '.raw')
"
declare -A type=([i1]=i8 [i2]=i16 [i4]=i32 [i8]=i64 [u1]=u8 [u2]=u16
                 [u4]=u32 [u8]=u64 [f4]=f32 [f8]=f64)
for t in "${!type[@]}"; do
    for codec in raw zstd; do
        ds=$t.$codec.bouma
        expect 0 "$BOUMA" import "$t.npy" --into "$ds" --codec $codec
        expect 0 "$BOUMA" import "$t.raw" --shape 13,9,21 --type "${type[$t]}" \
            --into "$ds" --codec $codec --patch 8
        expect 0 "$BOUMA" read "$ds" "grid/$t" --step 0 -o out.npy
        equal out.npy "np.load('$t.npy')"
        expect 0 "$BOUMA" read "$ds" "grid/$t" -o out.raw
        same out.raw "$t.raw"
    done
done

# Special values are kept, bit by bit.
python "
a = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.5], 'f8')
np.save('special.npy', a)
a.tofile('special.raw')
np.save('nothing.npy', np.full((5, 5), np.nan, 'f4'))
"
expect 0 "$BOUMA" import special.npy --into special.bouma
expect 0 "$BOUMA" read special.bouma grid/special -o out.raw
same out.raw special.raw
expect 0 "$BOUMA" import nothing.npy --into special.bouma
expect 0 "$BOUMA" read special.bouma grid/nothing -o out.npy
equal out.npy "np.load('nothing.npy')"

# One, two and three axes, also of one sample, and awkward sizes.
for shape in 1 7 1000 1,1 3,1000 1,1,1 1,64,1 65,3,129; do
    python "
a = np.arange(np.prod([$shape]), dtype='f4').reshape($shape)
np.save('shape.npy', a)"
    rm -rf shape.bouma
    expect 0 "$BOUMA" import shape.npy --into shape.bouma
    expect 0 "$BOUMA" read shape.bouma grid/shape -o out.npy
    equal out.npy "np.load('shape.npy')"
done

# Several variables, names, units, steps and times in one dataset.
python "
r = np.random.default_rng(2)
np.save('rho.npy', r.random((20, 30, 40)).astype('f4'))
np.save('T.npy', r.random((20, 30, 40)))
np.save('v.npy', r.random((20, 30, 40, 3)).astype('f4'))"
expect 0 "$BOUMA" import rho.npy T.npy --into run.bouma --grid box --var density \
    --var temperature --unit kg/m3 --unit K --step 5 --time 0.25 \
    --origin 1,2,3 --spacing 0.5 --length-unit m --attr code=solver --attr n=7
expect 0 "$BOUMA" import v.npy --components 3 --into run.bouma --files 3 \
    --order chunk --patch 16,8,8 --durability fast --assign count \
    --distribute greedy --place first
expect 0 "$BOUMA" read run.bouma box/density --step 5 -o out.npy
equal out.npy "np.load('rho.npy')"
expect 0 "$BOUMA" read run.bouma box/temperature --step 5 -o out.npy
equal out.npy "np.load('T.npy')"
expect 0 "$BOUMA" read run.bouma grid/v --step 6 -o out.npy
equal out.npy "np.load('v.npy')"

# --replace writes a step again.
expect 0 "$BOUMA" import T.npy --into run.bouma --step 6 --replace \
    --distribute weighted
expect 0 "$BOUMA" read run.bouma grid/T --step 6 -o out.npy
equal out.npy "np.load('T.npy')"
expect 0 "$BOUMA" info run.bouma --step 6
[[ $out == *distribute=weighted* ]] || complain "info does not tell the scheme"
expect 0 "$BOUMA" verify run.bouma deep

# -o - is the plain values and nothing else.
expect 0 "$BOUMA" read run.bouma grid/T --level 1 -o level1.raw
"$BOUMA" read run.bouma grid/T --level 1 -o - >stream.raw || complain "-o -"
same stream.raw level1.raw

# An output that exists is replaced; nothing else is left behind.
expect 0 "$BOUMA" read run.bouma grid/T -o level1.raw
[[ -z $(find . -name '*.part') ]] || complain "temporary files are left"
# Errors that nobody has looked at, and those of values with infinities among
# them, are not told as if there were none.
python "
a = np.sin(np.arange(32 ** 3, dtype='f4') / 99).reshape(32, 32, 32)
np.save('wave.npy', a)
a[1, 2, 3] = np.inf
np.save('endless.npy', a)"
expect 0 "$BOUMA" import wave.npy --into errors.bouma --codec wavelet \
    --tolerance 0.01 --nominal
expect 0 "$BOUMA" info errors.bouma
[[ $out =~ wave\ +0.01,\ nominal\ +0.01\ +unknown\ +unknown ]] || complain "'$out'"
# Coarse levels that are no samples, and have no bound, are marked.
[[ $out =~ wavelet\* && $out == *"* coarse levels are averages"* ]] ||
    complain "'$out'"
expect 0 "$BOUMA" info errors.bouma --json
[[ $(jq -r '.steps[0].objects[0].variables[0].coarse_levels' <<<"$out") == \
    averages ]] || complain "'$out'"
expect 0 "$BOUMA" import endless.npy --into errors.bouma --tolerance 0.01
expect 0 "$BOUMA" info errors.bouma
[[ $out =~ endless\ +0.01\ +0.01\ +0.00[0-9]+\ +unknown ]] || complain "'$out'"
[[ $out =~ interp\  && $out != *"coarse levels are averages"* ]] ||
    complain "'$out'"

finish
