#!/bin/bash
# add.sh -- more variables, grids and particles for a step that is there.
absent_variable=$(realpath "${ABSENT_VARIABLE:?say which program: ABSENT_VARIABLE=path/to/absent_variable}")
source "$(dirname "$0")/common.bash"

python "
r = np.random.default_rng(1)
for n in 'abc':
    np.save(n + '.npy', r.random((20, 30, 20)).astype('f4'))
np.save('small.npy', r.random((5, 6)))
np.savez('dust.npz', position=r.random((50, 3)), mass=r.random(50))
"
expect 0 "$BOUMA" import a.npy --into run.bouma --var a --step 3 --patch 8 --levels 2 --spacing 0.5,1,2
expect 0 "$BOUMA" import a.npy --into run.bouma --var a --step 4
before=$(cd run.bouma/steps/00000003 && cksum d.*)

refuse 2 'say it: --step N' "$BOUMA" add b.npy --into run.bouma
refuse 2 'has no meaning here' "$BOUMA" add b.npy --into run.bouma --step 3 --replace
mkdir near
refuse 2 "cannot be extended with 'persist'" "$BOUMA" add b.npy --into run.bouma --step 3 --var b --persist --local near
rm -r near
refuse 2 'has no step 9' "$BOUMA" add b.npy --into run.bouma --step 9
refuse 2 'could not be opened' "$BOUMA" add b.npy --into none.bouma --step 3
[[ ! -e none.bouma ]] || complain "none.bouma was made"
refuse 2 'has the variable "grid/a" already' "$BOUMA" add b.npy --into run.bouma --step 3 --var a
refuse 2 'small.npy has 5 x 6 samples, but grid "grid" of step 3 has' "$BOUMA" add small.npy --into run.bouma --step 3

refuse 2 'it is for a new grid' "$BOUMA" add b.npy --into run.bouma --step 3 --patch 4

# Of the same grid, in patches of the same size; of a new one; particles.
expect 0 "$BOUMA" add b.npy c.npy --into run.bouma --step 3 --var b --var c --unit K
expect 0 "$BOUMA" add small.npy --into run.bouma --step 3 --grid plane --var p
expect 0 "$BOUMA" add dust.npz --particles dust --into run.bouma --step 3
[[ $(cd run.bouma/steps/00000003 && cksum d.*) == *"$before"* ]] ||
    complain "files of the step were changed"
expect 0 "$BOUMA" verify run.bouma deep
[[ $out == *"checked 2 steps"* && $out != *note* ]] || complain "$out"
for n in a b c; do
    expect 0 "$BOUMA" read run.bouma grid/$n --step 3 -o out.npy
    equal out.npy "np.load('$n.npy')"
done
expect 0 "$BOUMA" read run.bouma grid/b --step 3 --level 1 -o out.npy
equal out.npy "np.load('b.npy')[::2, ::2, ::2]"
expect 0 "$BOUMA" read run.bouma plane/p --step 3 -o out.npy
equal out.npy "np.load('small.npy')"
expect 0 "$BOUMA" query run.bouma dust --step 3 -o out.npz
expect 0 "$BOUMA" info run.bouma --json
python "
j = json.loads('''$out''')
assert [s['step'] for s in j['steps']] == [3, 4]
grid, plane, dust = j['steps'][0]['objects']
assert [v['name'] for v in grid['variables']] == ['a', 'b', 'c'], grid
assert plane['name'] == 'plane' and dust['count'] == 50
assert j['steps'][0]['files'] == 4, j['steps'][0]['files']"
python "
import sys
sys.path.insert(0, '$tests/../python')
from bouma_reader import Dataset
d = Dataset('run.bouma')
assert d.steps == [3, 4]
s = d.open(3)
assert sorted(s.grids['grid'].variables) == ['a', 'b', 'c'] and sorted(s.particles) == ['dust']
assert (s.grids['grid'].variables['b'].read() == np.load('b.npy')).all()"

# Other places and formats have all of it.
expect 0 "$BOUMA" drain run.bouma there.bouma
for n in a b c; do
    expect 0 "$BOUMA" read there.bouma grid/$n --step 3 -o out.npy
    equal out.npy "np.load('$n.npy')"
done
expect 0 "$BOUMA" verify there.bouma deep
expect 0 "$BOUMA" export run.bouma grid/a grid/b --step 3 -o out.idx
expect 0 "$BOUMA" import out.idx --into back.bouma
expect 0 "$BOUMA" read back.bouma grid/b --step 3 -o out.npy
equal out.npy "np.load('b.npy')"

# What was added goes with its step: written again, or deleted.
expect 0 "$BOUMA" import c.npy --into run.bouma --var c --step 3 --replace
expect 0 "$BOUMA" read run.bouma grid/c --step 3 -o out.npy
equal out.npy "np.load('c.npy')"
refuse 2 "there is no variable 'b'" "$BOUMA" read run.bouma grid/b --step 3 -o out.npy
[[ $(ls run.bouma/steps | wc -l) -eq 2 ]] || complain "$(ls run.bouma/steps)"
expect 0 "$BOUMA" add b.npy --into run.bouma --step 4
expect 0 "$BOUMA" delete-step run.bouma 4
[[ $(ls run.bouma/steps) == 00000003 ]] || complain "$(ls run.bouma/steps)"
expect 0 "$BOUMA" verify run.bouma deep
[[ $out != *note* ]] || complain "$out"

# A variable that the step defines and does not have is added as the options say.
expect 0 "$absent_variable" absent.bouma
python "np.save('fine.npy', np.random.default_rng(2).random((16, 16)).astype('f4'))"
expect 0 "$BOUMA" add fine.npy --into absent.bouma --step 3 --var b --codec zstd --unit m/s
expect 0 "$BOUMA" read absent.bouma grid/b --step 3 -o out.npy
equal out.npy "np.load('fine.npy')"
expect 0 "$BOUMA" info absent.bouma --json
python "
j = json.loads('''$out''')
b = j['steps'][0]['objects'][0]['variables'][1]
assert b['name'] == 'b' and b['codec'] == 'zstd' and b['unit'] == 'm/s', b"

# Grids in HZ order, but for those of IDX.
expect 0 "$BOUMA" import a.npy --into idx.bouma --var a --layout hz --idx --hz-block-bits 8
refuse 2 "with 'idx'" "$BOUMA" add b.npy --into idx.bouma --step 0 --var b --codec raw
expect 0 "$BOUMA" import a.npy --into hz.bouma --var a --layout hz --hz-block-bits 8
expect 0 "$BOUMA" add b.npy --into hz.bouma --step 0 --var b
expect 0 "$BOUMA" read hz.bouma grid/b --level 3 -o out.npy
equal out.npy "np.load('b.npy')[::8, ::8, ::8]"
expect 0 "$BOUMA" verify hz.bouma deep
[[ $out != *note* ]] || complain "$out"
finish
