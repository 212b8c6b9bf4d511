#!/bin/bash
# many_steps.sh -- what is printed of many steps is printed step by step: the
# memory that it takes does not grow with their number.
source "$(dirname "$0")/common.bash"

python "
for name, steps in ('few', 20), ('many', 3000):
    with open(name + '.lammpstrj', 'w') as f:
        for step in range(steps):
            f.write('ITEM: TIMESTEP\n%d\nITEM: NUMBER OF ATOMS\n1\n'
                    'ITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n'
                    'ITEM: ATOMS id x y z\n1 0.5 0.5 0.5\n' % step)"
for name in few many; do
    BOUMA_OPTIONS=durability=fast \
        expect 0 "$BOUMA" import $name.lammpstrj --particles atoms --into $name.bouma
done

# The object is the same, whatever is in it, as if it were printed at once.
expect 0 "$BOUMA" info many.bouma --json
printf '%s\n' "$out" >many.json
python "
text = open('many.json').read()
o = json.loads(text)
assert [s['step'] for s in o['steps']] == list(range(3000))
assert list(o)[-1] == 'steps'
lines = [l for l in text.splitlines()]
depth = 0
for l in lines:
    depth -= l.strip()[0] in '}]'
    assert len(l) - len(l.lstrip()) == 2 * depth, l
    depth += l[-1] in '{['
assert depth == 0"

# The sanitizers keep what was freed. (Without NumPy: the memory of a process
# that starts another counts.)
if ! nm "$BOUMA" 2>/dev/null | grep -q __asan_init; then
    "$PYTHON" -c "
import resource, subprocess
def peak(name):
    subprocess.run(['$BOUMA', 'info', name, '--json'], check=True,
                   stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
few = peak('few.bouma')
many = peak('many.bouma')
print(few, many)
assert many - few < 8 * 1024, (few, many)" || complain "memory grows"
fi
finish
