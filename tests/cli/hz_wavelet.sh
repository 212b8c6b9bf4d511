#!/bin/bash
# hz_wavelet.sh -- grids in HZ order with wavelet coefficients: level 0 is what
# went in, or within the bound; coarse levels are averages; info says so; damage
# is found, and mended.
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(5)
z, y, x = np.meshgrid(np.arange(40), np.arange(33), np.arange(50), indexing='ij')
a = np.sin(x / 9) * np.cos(y / 7) + np.sin(z / 11) + 2
np.save('smooth.npy', a.astype('f4'))
np.save('rough.npy', a + r.random(a.shape))
np.save('count.npy', (10 * a).astype('i2'))
a[3, 4, 5] = np.nan; a[39, 32, 49] = -np.inf
np.save('special.npy', a)"

# ---- calls that make no sense -----------------------------------------------

wrong()
{
    refuse 2 "$1" "$BOUMA" import "${@:2}" --into none.bouma
    [[ ! -e none.bouma ]] || complain "something was made: ${*:2}"
}
hz=(--layout hz --hz-wavelet)
wrong '--hz-wavelet needs --layout hz' smooth.npy --hz-wavelet
wrong '--hz-tile-bits needs --layout hz' smooth.npy --hz-tile-bits 9
wrong '--hz-tile-bits needs --hz-wavelet' smooth.npy --layout hz --hz-tile-bits 9
wrong '--hz-tile-bits 25: 24 is the most' smooth.npy "${hz[@]}" --hz-tile-bits 25
wrong 'has tiles of more samples than its template covers' \
    smooth.npy "${hz[@]}" --hz-tile-bits 24
wrong 'which only exact codecs keep; use zstd' \
    smooth.npy "${hz[@]}" --codec interp --tolerance 0.1

# ---- what goes in comes out -------------------------------------------------

for name in smooth rough count special; do
    expect 0 "$BOUMA" import $name.npy --into w.bouma "${hz[@]}" --hz-tile-bits 12 \
        --hz-block-bits 10 --hz-blocks-per-file 20
    expect 0 "$BOUMA" read w.bouma grid/$name -o out.npy
    equal out.npy "np.load('$name.npy')"
    expect 0 "$BOUMA" read w.bouma grid/$name --box 3:17,-5:,2:3 -o out.npy
    equal out.npy "np.load('$name.npy')[3:17, 28:, 2:3]"
done
expect 0 "$BOUMA" verify w.bouma deep
[[ $out == *sound* ]] || complain "verify said: $out"
"$BOUMA" info w.bouma --json >info.json
[[ $(jq -c '[.steps[].objects[0] | .hz_wavelet, .hz_tile_bits, .variables[0].coarse_levels]' \
    info.json) == '[true,12,"averages",true,12,"averages",true,12,"samples",true,12,"averages"]' ]] ||
    complain "info: $(<info.json)"
expect 0 "$BOUMA" info w.bouma
[[ $out == *'wavelet in tiles of 4096'* ]] || complain "info said: $out"

# Averages of a rough field are nearer to the smooth one than samples are; of
# integers, coarse levels are samples.
expect 0 "$BOUMA" read w.bouma grid/rough --step 1 --level 2 -o rough2.npy
expect 0 "$BOUMA" read w.bouma grid/count --step 2 --level 2 -o count2.npy
python "
want = np.load('smooth.npy').astype('f8')[::4, ::4, ::4] + 0.5
samples = np.load('rough.npy')[::4, ::4, ::4]
rms = lambda a: np.sqrt(np.mean((a - want)**2))
assert rms(np.load('rough2.npy')) < rms(samples) / 2, (rms(np.load('rough2.npy')), rms(samples))
assert (np.load('count2.npy') == np.load('count.npy')[::4, ::4, ::4]).all()"
# Smooth fields become smaller.
expect 0 "$BOUMA" import smooth.npy --into plain.bouma --layout hz --hz-block-bits 10
[[ $("$BOUMA" info plain.bouma --json | jq '.steps[0].objects[0].variables[0].stored_bytes') -gt \
    $(jq '.steps[0].objects[0].variables[0].stored_bytes * 1.2 | floor' info.json) ]] ||
    complain "no smaller"

# ---- tolerances -------------------------------------------------------------

for name in smooth special; do
    expect 0 "$BOUMA" import $name.npy --into t.bouma "${hz[@]}" --tolerance 0.01 \
        --codec-level 3
    expect 0 "$BOUMA" read t.bouma grid/$name -o out.npy
    python "
a, b = np.load('$name.npy'), np.load('out.npy')
f = np.isfinite(a)
assert np.array_equal(a[~f], b[~f], equal_nan=True)
assert np.abs(a[f].astype('f8') - b[f]).max() <= 0.01"
done
expect 0 "$BOUMA" verify t.bouma deep
[[ $("$BOUMA" info t.bouma --json | jq -c '.steps[0].objects[0].variables[0] |
    [.codec, .tolerance, .max_error > 0, .max_error <= 0.01]') == '["zstd",0.01,true,true]' ]] ||
    complain "info of a tolerance"

# ---- damage -----------------------------------------------------------------

cp -r w.bouma hurt.bouma
file=$(ls hurt.bouma/steps/00000000/d.0000*)
printf 'XXXX' | dd of="$file" bs=1 seek=20 conv=notrunc status=none # the first head
expect 1 "$BOUMA" verify hurt.bouma
expect 0 "$BOUMA" repair hurt.bouma --apply
expect 0 "$BOUMA" read hurt.bouma grid/smooth --step 0 -o out.npy
equal out.npy "np.load('smooth.npy')"
printf 'XXXX' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc status=none
refuse 1 'd.0000' "$BOUMA" read hurt.bouma grid/smooth --step 0 -o out.npy
finish
