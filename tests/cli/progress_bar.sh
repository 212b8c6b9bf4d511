#!/bin/bash
# progress_bar.sh -- a bar is drawn on a terminal while something takes longer
# than a second; it leaves nothing behind, and nobody else ever sees it.
here=$(realpath "$(dirname "$0")")
source "$here/common.bash"
CLOCK=$(realpath "${BOUMA_CLOCK:?say which program: BOUMA_CLOCK=path/to/bouma_clock}")
export TERM=xterm NO_COLOR=1
export BOUMA_OPTIONS="threads=1" # which looks at the clock as often each time

# on WHERE SECONDS STATUS COMMAND...: bouma on a terminal (see terminal.py),
# with so many seconds between any two looks at the clock.
on()
{
    local where=$1 seconds=$2 wanted=$3
    shift 3
    expect "$wanted" env TEST_CLOCK="$seconds" "$PYTHON" "$here/terminal.py" \
        "$where" "$CLOCK" "$@"
}

# saw CODE: python code that sees the bytes on the terminal as raw, the lines
# that stayed as screen, and the bars as a list of (what, percent); text(FILE)
# is what is in a file, but for the seconds that something took.
saw()
{
    python "import re
def text(name):
    return re.sub(r' in [0-9.]+ m?s', '', open(name).read())
raw = open('.raw', newline='').read()
screen = text('.screen')
found = re.findall(r'\r\x1b\[K(\w+) +\[(#*)(\.*)\] +(\d+) %', raw)
bars = [(what, int(percent)) for what, full, rest, percent in found]
for what, full, rest, percent in found:
    assert len(full + rest) == 32, (full, rest)
    assert abs(len(full) - 0.32 * int(percent)) <= 1, (full, percent)
$1"
}

rising="for what in set(w for w, p in bars):
    parts = [p for w, p in bars if w == what]
    assert parts == sorted(parts) and parts[-1] == 100, (what, parts)"
nothing="assert raw == '', raw"
clean="assert bars and screen == '', (bars, screen)
assert raw.endswith('\r\x1b[K'), raw[-20:]"

python "np.save('a.npy', np.random.default_rng(5).random((40, 40)))"
for step in 0 1 2 3; do
    expect 0 "$BOUMA" import a.npy --into run.bouma --patch 4 --files 2 \
        --step $step
done

# What takes long is shown, from the first part to the last.
on err 10 0 import a.npy --into new.bouma --patch 4
saw "$clean
$rising
assert {w for w, p in bars} == {'encoding', 'writing'}, bars"
on err 10 0 read run.bouma grid/a --step 0 -o long.npy
saw "$clean
$rising
assert {w for w, p in bars} == {'reading'}, bars
open('.draws', 'w').write(str(len(bars)))"
equal long.npy "np.load('a.npy')"
on err 10 0 verify run.bouma
saw "$clean
assert bars == [('verifying', p) for p in (25, 50, 75, 100)], bars"
on err 10 0 repair run.bouma
saw "$clean
assert bars == [('repairing', p) for p in (25, 50, 75, 100)], bars"
on err 10 0 drain run.bouma drained.bouma
saw "$clean
$rising
assert {w for w, p in bars} == {'draining'} and bars[-1][1] == 100, bars"

# It is drawn after a second, and no more than ten times in one. (Of 100
# chunks, 34 are read in the first second, and then 4 from one bar to the next.)
on err 0.03 0 read run.bouma grid/a --step 0 -o long.npy
saw "all = int(open('.draws').read())
assert all >= 100 and 0 < len(bars) <= all / 4, (all, len(bars))
assert bars[0][1] > 20, bars[0]"

# What does not take long is not shown.
on err 0 0 verify run.bouma
saw "$nothing"
on err 0 0 read run.bouma grid/a --step 0 -o short.npy
saw "$nothing"

# Standard output is what it is without a terminal, whatever else is one.
expect 0 "$BOUMA" verify run.bouma
printf '%s\n' "$out" >.wanted
on err 10 0 verify run.bouma
saw "assert bars and text('.out') == text('.wanted')"
on both 10 0 verify run.bouma
saw "assert bars and screen == text('.wanted'), screen"
on err 10 0 verify run.bouma --json
saw "$clean
assert json.load(open('.out'))['sound'] is True"

# No bar without a terminal for it, or on one that cannot take a line back.
on out 10 0 verify run.bouma
saw "assert screen == text('.wanted') and not bars, screen"
[[ ! -s .err ]] || complain "standard error has $(<.err)"
TERM=dumb on err 10 0 verify run.bouma
saw "$nothing"
expect 0 env -u TERM TEST_CLOCK=10 "$PYTHON" "$here/terminal.py" err "$CLOCK" \
    verify run.bouma
saw "$nothing"

# The bar is gone before anything else is said: findings, and errors.
file=$(echo run.bouma/steps/00000002/d.0001.*)
python "
with open('$file', 'r+b') as f:
    f.seek(os.path.getsize('$file') // 2)
    f.write(b'damage')"
run "$BOUMA" verify run.bouma
printf '%s\n' "$out" >.wanted
on both 10 1 verify run.bouma
saw "assert len(bars) == 4 and screen == text('.wanted'), (bars, screen)"
refuse 1 checksum "$BOUMA" read run.bouma grid/a --step 2 -o no.npy
cp .err .wanted
on err 10 1 read run.bouma grid/a --step 2 -o no.npy
saw "assert bars and screen == text('.wanted'), (bars, screen)"
finish
