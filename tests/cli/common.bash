# common.bash -- what the tests of the command line share; sourced by each.
#
# Run a test as
#     BOUMA=path/to/bouma BOUMA_MPI=path/to/bouma-mpi MPIRUN="mpirun ..." \
#         bash tests/cli/NAME.sh
# It works in a directory of its own, and exits non-zero if anything failed.
# shellcheck shell=bash disable=SC2034  # variables are used by the tests

BOUMA=$(realpath "${BOUMA:?say which program: BOUMA=path/to/bouma}")
PYTHON=${PYTHON:-/usr/bin/python3}
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failures=0

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset BOUMA_OPTIONS

# do_not_sync: datasets are written as if power never failed. That is not what
# most tests are about, and a disk may take long.
do_not_sync()
{
    export BOUMA_OPTIONS=durability=fast
}

# complain TEXT: record a failure, with the line of the test it comes from.
complain()
{
    local i=0
    while [[ ${BASH_SOURCE[i]} == "${BASH_SOURCE[0]}" ]]; do
        i=$((i + 1))
    done
    echo "$0: line ${BASH_LINENO[i - 1]}: $*" >&2
    failures=$((failures + 1))
}

# run COMMAND...: keep its output in $out, its errors in $err, its status in
# $status.
run()
{
    out=$("$@" 2>.err)
    status=$?
    err=$(<.err)
}

# expect STATUS COMMAND...: the command ends with that status.
expect()
{
    local wanted=$1
    shift
    run "$@"
    [[ $status -eq $wanted ]] ||
        complain "'$*' gave $status, not $wanted; it said: $err"
}

# refuse STATUS TEXT COMMAND...: the command ends with that status, says TEXT
# in one line on standard error, and nothing on standard output.
refuse()
{
    local wanted=$1 text=$2
    shift 2
    run "$@"
    [[ $status -eq $wanted ]] ||
        complain "'$*' gave $status, not $wanted; it said: $err"
    [[ $err == *"$text"* ]] || complain "'$*' said '$err', not '$text'"
    [[ -z $out ]] || complain "'$*' failed, but printed '$out'"
    [[ $(grep -c . .err) -eq 1 ]] || complain "'$*' said more than one line"
}

# same A B: the files are equal.
same()
{
    cmp -s "$1" "$2" || complain "$1 and $2 differ"
}

# NumPy takes longer to load than most of what is asked of it: one process
# answers all questions, each with a directory and names of its own.
python_server='
import json, os, sys, traceback, numpy as np
def parts():
    rest = b""
    while data := os.read(0, 65536):
        *whole, rest = (rest + data).split(b"\0")
        yield from whole
questions = parts()
for directory, code in zip(questions, questions):
    status = 0
    try:
        os.chdir(directory)
        exec(compile(code.decode(), "<test>", "exec"), {"__name__": "__main__", "json": json, "os": os, "np": np})
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os.write(3, b"%d\n" % status)
'

# python CODE: NumPy is np; it fails unless every assertion holds.
python()
{
    local answer=1
    if [[ $BASH_SUBSHELL -gt 0 ]]; then # its output is wanted
        "$PYTHON" -c "import json, os, numpy as np
$1"
        answer=$?
    else
        [[ -n ${python_process_PID:-} ]] ||
            coproc python_process { exec "$PYTHON" -c "$python_server" 3>&1 1>&2; }
        printf '%s\0%s\0' "$PWD" "$1" >&"${python_process[1]}"
        read -r answer <&"${python_process[0]}"
    fi
    [[ $answer == 0 ]] || complain "python: ${1%%$'\n'*} ..."
}

# equal FILE.npy EXPRESSION: the array in the file equals the expression in
# shape, type and values (NaN equals NaN).
equal()
{
    python "a = np.load('$1'); b = $2
assert a.shape == b.shape, (a.shape, b.shape)
assert a.dtype == b.dtype.newbyteorder('='), (a.dtype, b.dtype)
assert np.array_equal(a, b, equal_nan=b.dtype.kind == 'f')"
}

# picture CODE: as python, with the decoder png.py, and functions that compare a
# picture in --colours grey with an array.
picture()
{
    python "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, '$tests')
import png
def inside(path):
    return np.array(png.inside(path))
def grey(a, low, high):
    part = np.clip((a.astype('f8') - low) / (high - low), 0, 1)
    part = np.floor(part * 239 + 0.5) / 239
    return np.floor(255 * part + 0.5)
def shows(path, a, low, high):
    # Row 0 is at the bottom; the colours are those of the nearest samples.
    p = inside(path)
    n, m = p.shape[0] // a.shape[0], p.shape[1] // a.shape[1]
    want = np.repeat(np.repeat(a[::-1], n, 0), m, 1)
    assert p.shape[:2] == want.shape, (p.shape, want.shape)
    for c in range(3):
        assert np.abs(p[:, :, c] - grey(want, low, high)).max() <= 1, path
$1"
}

finish()
{
    [[ $failures -eq 0 ]] && exit 0
    echo "$0: $failures failed" >&2
    exit 1
}
