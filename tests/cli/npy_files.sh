#!/bin/bash
# npy_files.sh -- .npy files of either order, byte order and any version are
# read as NumPy reads them, and broken ones are refused.
source "$(dirname "$0")/common.bash"
do_not_sync

# try FILE [OPTIONS...]: import and read give what NumPy loads.
try()
{
    local file=$1
    shift
    rm -rf x.bouma
    expect 0 "$BOUMA" import "$file" --into x.bouma --var x --patch 8 "$@"
    expect 0 "$BOUMA" read x.bouma grid/x -o out.npy
    equal out.npy "np.load('$file')"
}

python "
r = np.random.default_rng(4)
a = r.integers(0, 2**15, (11, 14, 9))
v = r.integers(0, 2**15, (11, 14, 9, 3))
for t in '<i2 >i2 <i4 >i4 <u8 >u8 <f4 >f4 <f8 >f8 |u1'.split():
    name = t.replace('<', 'little').replace('>', 'big').replace('|', 'one')
    np.save(f'{name}-c.npy', a.astype(t))
    np.save(f'{name}-f.npy', np.asfortranarray(a.astype(t)))
    np.save(f'{name}-cv.npy', v.astype(t))
    np.save(f'{name}-fv.npy', np.asfortranarray(v.astype(t)))
np.save('f1.npy', np.asfortranarray(np.arange(50.0)))
np.save('f2.npy', np.asfortranarray(a[:, :, 0].astype('>f8')))
for version in (1, 0), (2, 0), (3, 0):
    with open(f'version{version[0]}.npy', 'wb') as f:
        np.lib.format.write_array(f, a.astype('f4'), version)
"
for file in *-c.npy *-f.npy f1.npy f2.npy version?.npy; do
    try "$file"
done
for file in *-cv.npy *-fv.npy; do
    try "$file" --components 3
done

# Headers by hand: another order, other quotes and blanks, Python 2's longs.
python "
def put(name, text, data=np.arange(6, dtype='<f4').tobytes()):
    h = text.encode()
    with open(name + '.npy', 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + len(h).to_bytes(2, 'little') + h + data)
good = \"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\"
put('shuffled', '{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}   ')
put('longs', good.replace('(2, 3)', '(2L, 3L)') + ' ' * 60)
put('odd', good + ' ' * 3)  # values that are not aligned
put('short', good, b'1234')
put('empty', good.replace('2, 3', '0, 3'))
put('scalar', good.replace('2, 3', ''))
put('complex', good.replace('f4', 'c8'))
put('records', good.replace(\"'<f4'\", \"[('x', '<f4')]\"))
put('huge', good.replace('2, 3', '9223372036854775807, 9'))
put('larger', good.replace('2, 3', '99999999999999999999'))
put('negative', good.replace('2, 3', '-2, 3'))
put('five', good.replace('2, 3', '1, 1, 1, 2, 3'))
put('twice', good.replace('}', \"'shape': (2, 3)}\"))
put('less', \"{'descr': '<f4', 'shape': (2, 3)}\")
put('text', 'x' * 40)
open('not.npy', 'wb').write(b'hello, this is not one')
open('long.npy', 'wb').write(b'\x93NUMPY\x02\x00\xff\xff\xff\xff{}')
open('version9.npy', 'wb').write(b'\x93NUMPY\x09\x00' + b' ' * 80)
open('void.npy', 'wb').close()
"
for file in shuffled odd; do
    try $file.npy
done
rm -rf x.bouma
expect 0 "$BOUMA" import longs.npy --into x.bouma
for file in short empty complex records huge larger negative five twice less \
    text not long version9 void; do
    refuse 1 "$file.npy" "$BOUMA" import $file.npy --into bad.bouma
done
refuse 1 "expected 24 bytes of values, found 4" "$BOUMA" import short.npy \
    --into bad.bouma
refuse 1 "save a.real and a.imag" "$BOUMA" import complex.npy --into bad.bouma
refuse 1 "its values are records" "$BOUMA" import records.npy --into bad.bouma
python "np.save('date.npy', np.zeros(4, 'M8[s]'))"
refuse 1 "save a.astype('int64')" "$BOUMA" import date.npy --into bad.bouma
mkfifo pipe.npy
refuse 2 "pipe.npy: is not a regular file" timeout 20 "$BOUMA" import pipe.npy \
    --into bad.bouma
refuse 2 "scalar.npy" "$BOUMA" import scalar.npy --into bad.bouma
[[ ! -e bad.bouma ]] || complain "a refused import made a dataset"
finish
