#!/bin/bash
# where.sh -- conditions at their limits give what Python's own arithmetic gives;
# what is not supported is explained, with its position in the text.
source "$(dirname "$0")/common.bash"
do_not_sync

# Small numbers, limits, and their neighbours, of every type.
python "
values = {}
for bits in 8, 16, 32, 64:
    lo, hi = -2**(bits - 1), 2**(bits - 1) - 1
    values['i%d' % (bits // 8)] = [lo, lo + 1, -4, -3, -1, 0, 1, 3, 4, 5, hi - 1, hi]
    values['u%d' % (bits // 8)] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 2**(bits - 1), 2**bits - 2, 2**bits - 1]
f = [-np.inf, -3.5, -1e-40, -0.0, 0.0, 1e-40, 0.1, 3, 3.5, 1e30, np.inf, np.nan]
values['f4'] = values['f8'] = f
columns = {k: np.array(v, k) for k, v in values.items()}
columns['f8'][6:8] = [np.nextafter(0.1, 0), 0.1]
columns['i8'][4:6] = [2**53, 2**53 + 1]
n = len(f)
x = np.arange(n) / 4.0
np.savez('a.npz', position=np.stack([x, -x], 1), n=np.arange(n), **columns)
"
expect 0 "$BOUMA" import a.npz --particles p --into run.bouma

cat >check.py <<'P'
# Every comparison of every column with many numbers, against exact fractions.
import math, subprocess, sys
from fractions import Fraction
import numpy as np
a = np.load('a.npz')
numbers = ['0', '-0', '3', '3.5', '-3.5', '4.0', '1e400', '-1e400', 'inf', '-inf', '1e-400',
           '0.1', '127', '-129', '9007199254740993', '9007199254740992.5',
           '9223372036854775807', '18446744073709551615', '18446744073709551616']
operators = {'<': lambda a, b: a < b, '<=': lambda a, b: a <= b, '>': lambda a, b: a > b,
             '>=': lambda a, b: a >= b, '==': lambda a, b: a == b}
def exact(text, real):
    if 'inf' in text:
        return float(text)
    # What a real number is compared with is the double that the text means.
    f = Fraction(text)
    return Fraction(float(text)) if real and '400' not in text else f
def holds(value, op, number):
    if isinstance(value, float) and math.isnan(value):
        return False
    if isinstance(value, float) and math.isinf(value) and not isinstance(number, float):
        return operators[op](value, 0)  # beyond any number, on its side
    if not (isinstance(value, float) and math.isinf(value)):
        value = Fraction(value)
        if isinstance(number, float):
            return operators[op](0, number)
    return operators[op](value, number)
wrong = 0
for name in ['i1', 'i8', 'u1', 'u8', 'f4', 'f8']:
    for number in numbers:
        for op in operators:
            real = name[0] == 'f'
            column = a[name].astype('f8').tolist() if real else a[name].tolist()
            want = [i for i, v in enumerate(column) if holds(v, op, exact(number, real))]
            text = '%s %s %s' % (name, op, number)
            if op == '<':
                text = '%s > %s' % (number, name)
            run = subprocess.run([sys.argv[1], 'query', 'run.bouma', 'p', '--where', text,
                                  '--variables', 'n', '-o', '-'], capture_output=True, text=True)
            got = sorted(int(l) for l in run.stdout.split()[1:])
            if run.returncode or got != want:
                print(text, got, want, run.stderr)
                wrong += 1
sys.exit(wrong > 0)
P
"$PYTHON" check.py "$BOUMA" || complain "conditions"

# count EXPR N: so many particles match.
count()
{
    expect 0 "$BOUMA" query run.bouma p --where "$1" --json
    [[ $(jq .count <<<"$out") -eq $2 ]] || complain "$1 gave $(jq .count <<<"$out")"
}
count 'x < 1' 4
count 'y > -1 and x >= 0.25' 3
count '0.25 <= x < 1 && n == 2' 1
count "'n' < 5" 5
count 'position[1] == -1' 1
count 'n < 3 || n > 9' 5
count 'n < 3 or n > 5 and x < 2' 5
count 'n < 3 | n > 5 and x < 2' 5
count '(n > 5 | n < 3) && x > 0.25' 7
count 'n != 3' 11
count 'not 2 < n <= 5' 9
# NaN meets neither a comparison nor its negation.
count 'f8 > 3 | !(f8 > 3)' 11
count 'f8 != 3' 11
count 'n < 3 & n > 5 | x < 0' 0

wrong()
{
    refuse 2 "$2" "$BOUMA" query run.bouma p --where "$1"
}
wrong 'n < 3 || n >' "at the end: expected the name of a variable, or a number"
wrong 'n < 3 || n > 5 id' "at character 16, 'id': expected & or |"
wrong '!n < 3' "write parentheses around what is negated"
wrong '(n < 3' "expected ')'"
wrong 'n = 3' "write == to compare"
wrong 'n => 3' "write >= "
wrong 'n =< 3' "write <= "
wrong 'n' "expected a comparison"
wrong '' "at the end"
wrong 'm < 3' "there is no variable 'm'"
wrong 'positoin[0] < 3' "did you mean 'position'? There are position, n, i1"
wrong 'z < 3' "there is no variable 'z'"
wrong 'position < 3' "say which: position[0]"
finish
