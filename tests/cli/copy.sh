#!/bin/bash
# copy.sh -- a dataset, or a part of it, stored anew: exact, or within a tolerance.
source "$(dirname "$0")/common.bash"
do_not_sync

# Grids that change from step to step, particles, attributes, what is absent, NaN.
python "
r = np.random.default_rng(11)
z, y, x = np.mgrid[0:40, 0:33, 0:50] / 10
u = np.sin(z) * np.cos(y + x)
np.save('u.npy', u), np.save('u4.npy', (3 * u).astype('f4'))
n = r.integers(0, 50, (40, 33, 50), 'u2')
np.save('n.npy', n), np.save('wide.npy', r.random((30, 64)))
np.save('v.npy', r.random((20, 30, 3)).astype('f4'))
np.savez('p.npz', position=r.random((700, 3)), mass=r.random(700, 'f4'), id=np.arange(700))"
run=(--into run.bouma --patch 16,16,16)
expect 0 "$BOUMA" import u.npy u4.npy n.npy "${run[@]}" --step 3 --time 0.5 --attr who=me --spacing 2,1,1
expect 0 "$BOUMA" add p.npz --particles dust --into run.bouma --step 3
expect 0 "$BOUMA" import u.npy u4.npy "${run[@]}" --step 4 --unit K --unit m --codec raw
expect 0 "$BOUMA" import u.npy u4.npy "${run[@]}" --step 5 --unit K --unit m --codec raw
expect 0 "$BOUMA" import wide.npy --into run.bouma --step 10 --layout hz
expect 0 "$BOUMA" import v.npy --components 3 --grid flow --into run.bouma --step 11 --length-unit m

# Every way of storing that keeps all bits gives an equal dataset, and a sound one.
number=0
while read -r -a how; do
    number=$((number + 1))
    expect 0 "$BOUMA" copy run.bouma exact$number.bouma "${how[@]}"
    [[ $out == "exact$number.bouma: 5 steps copied, "* ]] || complain "$out"
    expect 0 "$BOUMA" diff run.bouma exact$number.bouma
    [[ $out == 'equal: 5 steps, '*' values' ]] || complain "${how[*]}: $out"
    expect 0 "$BOUMA" verify exact$number.bouma deep
done <<END

--codec raw
--codec zstd --codec-level 3 --files 2
--order chunk --assign single
--layout hz --hz-block-bits 10
--layout hz --hz-wavelet
--layout patch --patch 8
--levels 2
END

# As it is stored by default, unless the call says otherwise.
stored()
{
    "$BOUMA" info "$1" --json | jq -c '[.steps[].objects[] |
        [.name, .layout, .patch, (.variables // .attributes | map(.codec))]]'
}
[[ $(stored exact1.bouma) == "$(stored run.bouma)" ]] || complain "$(stored exact1.bouma)"
[[ $(stored exact2.bouma) != *zstd* ]] || complain "$(stored exact2.bouma)"

# Within a tolerance: diff with it finds nothing, with a smaller one it tells.
for how in "--tolerance 1e-2" "--tolerance 1e-5" "--tolerance 1e-3 --codec wavelet" "--tolerance 1e-2 --layout hz"; do
    rm -rf rough.bouma
    # shellcheck disable=SC2086  # words
    expect 0 "$BOUMA" copy run.bouma rough.bouma $how
    tolerance=$(cut -d ' ' -f 2 <<<"$how")
    expect 0 "$BOUMA" diff run.bouma rough.bouma --tolerance "$tolerance"
    largest=$("$BOUMA" diff run.bouma rough.bouma --tolerance "$tolerance" --json | jq .largest)
    less=$(jq -n "$largest / 2")
    expect 1 "$BOUMA" diff run.bouma rough.bouma --tolerance "$less"
    [[ $out != *dust* && $out != *grid/n:* ]] || complain "$how: $out"
done

# What is rough stays as it reads.
expect 0 "$BOUMA" copy rough.bouma again.bouma
expect 0 "$BOUMA" diff rough.bouma again.bouma
expect 0 "$BOUMA" copy run.bouma relative.bouma grid/u4 --step 3 --relative 1e-3
expect 0 "$BOUMA" info relative.bouma --json
jq -e '.steps[0].objects[0].variables[0] | .max_error > 0 and .max_error < 6.1e-3' <<<"$out" >/dev/null ||
    complain "$out"

# Parts of it.
expect 0 "$BOUMA" copy run.bouma part.bouma 'dust/m*' 'grid/u' --step 3:10
[[ $("$BOUMA" ls part.bouma --step all) == $'3 grid/u\n3 dust/position\n3 dust/mass\n4 grid/u\n5 grid/u' ]] ||
    complain "$("$BOUMA" ls part.bouma --step all)"
expect 0 "$BOUMA" copy run.bouma flow.bouma flow --json
jq -e '.steps == 1 and .raw_bytes == 7200 and .dataset == "flow.bouma"' <<<"$out" >/dev/null || complain "$out"
expect 0 "$BOUMA" diff run.bouma flow.bouma@11

# All processes together.
if [[ -n ${MPIRUN:-} ]]; then
    # shellcheck disable=SC2086  # words
    expect 0 $MPIRUN -n 3 "$BOUMA_MPI" copy run.bouma ranks.bouma --patch 8
    expect 0 "$BOUMA" diff run.bouma ranks.bouma
fi

# What is wrong leaves nothing behind, and nothing is replaced.
cp -r run.bouma before
refuse 2 'usage' "$BOUMA" copy run.bouma
refuse 2 'no.bouma' "$BOUMA" copy no.bouma new.bouma
refuse 2 'part.bouma exists already; choose another name' "$BOUMA" copy run.bouma part.bouma
refuse 2 'run.bouma exists already' "$BOUMA" copy run.bouma run.bouma
refuse 2 'a copy replaces nothing' "$BOUMA" copy run.bouma run.bouma --clobber
refuse 2 "there is no 'nobody' in these steps" "$BOUMA" copy run.bouma new.bouma nobody
refuse 2 'step 7: run.bouma has no such' "$BOUMA" copy run.bouma new.bouma --step 7
refuse 2 'needs --tolerance or --relative' "$BOUMA" copy run.bouma new.bouma --codec interp
refuse 2 'copies of particles are exact' "$BOUMA" copy run.bouma new.bouma --codec quantise --tolerance 1
refuse 2 'give one of them' "$BOUMA" copy run.bouma new.bouma --tolerance 1 --relative 0.1
refuse 2 '3 is not a power of two' "$BOUMA" copy run.bouma new.bouma --patch 3
refuse 1 'of values for this process, and 64.0 KiB are allowed' \
    "$BOUMA" copy run.bouma new.bouma --memory-limit 64K
[[ ! -e new.bouma ]] || complain "there is new.bouma"
diff -r before run.bouma || complain "run.bouma has changed"

# A step that cannot be read ends it; those before it are there.
file=$(ls run.bouma/steps/00000005/* | grep -v manifest | head -n 1)
truncate -s 100 "$file"
expect 1 "$BOUMA" copy run.bouma new.bouma
[[ $err == *'2 of 5 steps were copied to new.bouma'* ]] || complain "$err"
expect 0 "$BOUMA" verify new.bouma deep
expect 0 "$BOUMA" diff new.bouma run.bouma --step 0:5
finish
