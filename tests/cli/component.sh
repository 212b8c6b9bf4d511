#!/bin/bash
# component.sh -- bouma read --component: one component of a vector variable, as
# NumPy's index has it, in any box, at any level and within a budget.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(5)
np.save('v.npy', r.random((40, 30, 3)))
np.save('s.npy', r.random((40, 30)))"
expect 0 "$BOUMA" import v.npy --components 3 --patch 16 --files 3 --into v.bouma
expect 0 "$BOUMA" import s.npy --into s.bouma

for k in 0 1 2; do
    expect 0 "$BOUMA" read v.bouma grid/v --component $k -o out.npy
    equal out.npy "np.load('v.npy')[:, :, $k]"
    rm out.npy
done
expect 0 "$BOUMA" read v.bouma grid/v --component 2 --level 1 --box 3:33,5:20 -o out.npy
equal out.npy "np.load('v.npy')[4:33:2, 6:20:2, 2]"
expect 0 "$BOUMA" read v.bouma grid/v --component 1 --limit 400 -o budget.npy --json
[[ $out == *'"component": 1'* ]] || complain "the component is not told: $out"
equal budget.npy "np.load('v.npy')[::2, ::2, 1]"
"$BOUMA" read v.bouma grid/v --component 0 -o - >plain
python "
assert np.array_equal(np.fromfile('plain').reshape(40, 30), np.load('v.npy')[:, :, 0])"
expect 0 "$BOUMA" read v.bouma grid/v -o all.npy
equal all.npy "np.load('v.npy')"
expect 0 "$BOUMA" read s.bouma grid/s --component 0 -o scalar.npy
equal scalar.npy "np.load('s.npy')"

refuse 2 "--component 3: grid/v has components 0 to 2" \
    "$BOUMA" read v.bouma grid/v --component 3 -o no.npy
refuse 2 "--component" "$BOUMA" read v.bouma grid/v --component -1 -o no.npy
refuse 2 "--component 1: grid/s has components 0 to 0" \
    "$BOUMA" read s.bouma grid/s --component 1 -o no.npy
[[ ! -e no.npy ]] || complain "a refused read has left a file"
