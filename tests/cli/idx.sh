#!/bin/bash
# idx.sh -- IDX datasets are imported sample for sample, on one process and on
# several; headers and files that are wrong are refused, and what is missing is
# told.
source "$(dirname "$0")/common.bash"
do_not_sync
[[ -n ${BOUMA_MPI:-} ]] && BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
golden=$(realpath "$tests/../idx")
shared=$(realpath -m "$tests/../../../shared/idx/golden")

on()
{
    local ranks=$1
    shift
    if [[ $ranks -eq 1 ]]; then
        "$BOUMA" "$@"
    else
        # shellcheck disable=SC2086  # MPIRUN is a command with arguments
        timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
    fi
}

# compare X.idx DS: all steps and variables are what is in X.idx.
compare()
{
    local list step var count=0 code=
    "$BOUMA" info "$2" --json >info.json
    list=$(jq -r '.steps[] | .step as $s | .objects[].variables[] | "\($s) \(.name)"' info.json)
    [[ -n $list ]] || complain "$2 is empty"
    while read -r step var; do
        count=$((count + 1))
        expect 0 "$BOUMA" read "$2" "grid/$var" --step "$step" -o "out$count.npy"
        code+="assert same(idx, '$var', $step, np.load('out$count.npy')), '$1 on $ranks ranks'"$'\n'
    done <<<"$list"
    python "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, '$tests/../python')
from compare_idx import Idx, same
idx = Idx('$1')
$code"
}

# try X.idx [OPTIONS...]: import it on $ranks processes, and compare.
try()
{
    rm -rf x.bouma
    expect 0 on "$ranks" import "$1" --into x.bouma "${@:2}"
    compare "$1" x.bouma
}

ranks=1
for path in "$golden"/*/*.idx; do
    try "$path"
done
if [[ -d $shared ]]; then
    for path in "$shared"/*/*.idx; do
        [[ -d $golden/$(basename "$(dirname "$path")") ]] || try "$path"
    done
else
    echo "the larger datasets are not here: skipped"
fi
if [[ -x ${BOUMA_MPI:-} ]]; then
    ranks=3
    for path in "$golden"/{b2d_f32_rm,g3d_f32x3_hz,q3d_v1,r3d_time_dirs,s3d_partial_rm}/*.idx \
        "$shared"/{f3d_2f_3t,k3d_origin,p3d_F,x3d_pidx}/*.idx; do
        [[ -e $path ]] && try "$path"
    done
    ranks=1
fi

# ---- a dataset of two fields and three timesteps, made here ------------------

cat >make.py <<'END'
import os, struct, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import numpy as np
from compare_idx import truth
from idx_reader import Idx
idx = Idx("two.idx")
shape = [hi - lo for lo, hi in zip(idx.low, idx.high)][::-1]
grid = np.indices(shape).reshape(3, -1)
blocks, places = idx.addresses([grid[2 - a] + idx.low[a] for a in range(3)])
for step in idx.steps:
    files = {}
    for f, field in enumerate(idx.fields):
        values = truth(idx, field.name, step).reshape(-1).astype(field.dtype.newbyteorder(">" if idx.big else "<"))
        for block in np.unique(blocks):
            data = np.zeros(1 << idx.block_bits, values.dtype)
            here = blocks == block
            data[places[here]] = values[here]
            files.setdefault(idx.file_name(int(block), f, step), {})[f, int(block) % idx.per_file] = data.tobytes()
    for name, parts in files.items():
        head = bytearray(40 + 40 * len(idx.fields) * idx.per_file)
        body = b""
        for (f, slot), data in parts.items():
            at = len(head) + len(body)
            struct.pack_into(">10I", head, 40 + 40 * (f * idx.per_file + slot), 7, 7, at, 0, len(data), 0, 9, 9, 9, 9)
            body += data
        os.makedirs(os.path.dirname(name), exist_ok=True)
        open(name, "wb").write(head + body)
END
header='# made by hand
  (version)
6.1
(box)
3 19 0 8 2 7 0 0 0 0
(fields)
a float64 default_value(0) +
  b 1*int16 description(of + and more)
(bits)
V012012010210
(bitsperblock)
5
(blocksperfile)
4
(time)
t%02d/ (2,6,2)
(endian)
big
(unknown key)
anything
(filename_template)
$(CurrentFileDirectory)/two/%01x.bin'
sed 's/$/\r/' <<<"$header" >two.idx
"$PYTHON" make.py "$tests/../python" || complain "cannot make two.idx"
[[ -e two/t04/1/c.bin ]] || complain "no directory for numbers that are left over"
rm -rf x.bouma
expect 0 "$BOUMA" import two.idx --into x.bouma --patch 8
compare two.idx x.bouma
expect 0 "$BOUMA" info x.bouma --json
python "
o = json.loads('''$out''')
assert [s['step'] for s in o['steps']] == [2, 4, 6]
g = o['steps'][0]['objects'][0]
assert g['shape'] == [6, 9, 17] and [v['name'] for v in g['variables']] == ['a', 'b']
assert g['origin'] == [2, 0, 3] and g['spacing'] == [1, 1, 1], g
assert g['remarks']['idx_offset'] == [2, 0, 3], g"

# Some of it, and options of imports.
steps()
{
    "$BOUMA" info y.bouma --json | jq -c '[.steps[] | [.step, .time, (.objects[0].variables | map(.name))]]'
}
while IFS='|' read -r options wanted; do
    rm -rf y.bouma
    # shellcheck disable=SC2086  # options are words
    expect 0 "$BOUMA" import two.idx --into y.bouma $options
    [[ $(steps) == "$wanted" ]] || complain "$options gave $(steps)"
done <<'END'
--step 4 --var b|[[4,4,["b"]]]
--step last --time 0.5|[[6,0.5,["a","b"]]]
--step -2 --var b --var a|[[4,4,["b","a"]]]
--step 3: --var a|[[4,4,["a"]],[6,6,["a"]]]
--step ::2 --var a|[[2,2,["a"]],[6,6,["a"]]]
--step 2:-1 --var a|[[2,2,["a"]],[4,4,["a"]]]
END
rm -rf y.bouma
expect 0 "$BOUMA" import two.idx --into y.bouma --step 2 --var a --tolerance 0.1 --levels 2 --patch 4 --grid g \
    --origin 1,1,1 --unit K --json
python "o = json.loads('''$out'''); assert o['step'] == 2 and len(o['steps']) == 1 and o['variables'] == ['a'], o"
expect 0 "$BOUMA" info y.bouma --json
python "
g = json.loads('''$out''')['steps'][0]['objects'][0]
assert g['name'] == 'g' and g['origin'] == [1, 1, 1] and g['variables'][0]['codec'] == 'interp', g"
refuse 2 "--var c: two.idx has no such field; did you mean 'a'? There are a, b" "$BOUMA" import two.idx --into bad.bouma --var c
refuse 2 "it has 2 to 6" "$BOUMA" import two.idx --into bad.bouma --step 3
refuse 2 "must be a number" "$BOUMA" import two.idx --into bad.bouma --step x
refuse 2 "--time is for one timestep" "$BOUMA" import two.idx --into bad.bouma --time 1
refuse 2 "has its own; leave out --shape" "$BOUMA" import two.idx --into bad.bouma --shape 1,2,3
refuse 2 "3 --unit for 2 fields" "$BOUMA" import two.idx --into bad.bouma --unit a --unit b --unit c
refuse 2 "import it separately" "$BOUMA" import two.idx two.idx --into bad.bouma
refuse 1 "may be used; raise --memory-limit" "$BOUMA" import two.idx --into bad.bouma --memory-limit 1K
python "np.save('a.npy', np.zeros((4, 4)))"
refuse 2 "--fill-missing is for .idx files" "$BOUMA" import a.npy --into bad.bouma --fill-missing

# ---- positions, and the other form -------------------------------------------

# positions HEADER ORIGIN SPACING: of the grid that is made of it.
positions()
{
    rm -rf y.bouma
    expect 0 "$BOUMA" import "$1" --into y.bouma --step 2 --var b
    expect 0 "$BOUMA" info y.bouma --json
    python "g = json.loads('''$out''')['steps'][0]['objects'][0]
assert g['origin'] == $2 and g['spacing'] == $3, (g['origin'], g['spacing'])"
}
printf '%s\n(physic_box)\n0 1.7e1 -9 9 1 4\n' "$header" >two_phys.idx
positions two_phys.idx "[1, -9, 0]" "[0.5, 2, 1]"
printf '%s\n(logic_to_physic)\n2 0 0 1\n0 3 0 0\n0 0 4 -8\n0 0 0 1\n' "$header" >two_matrix.idx
positions two_matrix.idx "[0, 0, 7]" "[4, 3, 2]"
printf '%s\n(logic_to_physic)\n2 1 0 1\n0 3 0 0\n0 0 4 -8\n0 0 0 1\n' "$header" >two_turned.idx
positions two_turned.idx "[2, 0, 3]" "[1, 1, 1]"
[[ $("$BOUMA" import two_turned.idx --into z.bouma 2>&1 >/dev/null) == *"turns axes"* ]] || complain "no note"
cat >two_xml.idx <<'END'
<?xml version="1.0"?>
<!-- the same -->
<dataset typename='IdxDataset'>
  <idxfile>
    <version value="6"/> <bitmask value="V012012010210"/> <box value="3 20 0 9 2 8"/>
    <bitsperblock value="5"/><blocksperfile value="4"/><filename_template value="./two/%01x.bin"/>
    <time_template value="t%02d/"/><axis value="&lt;x&gt;"/><unknown a="b"/>
    <field name="a" dtype="float64"/> <field name="b" dtype="int16"/>
    <timestep when="2"/><timestep from="4" to="6" step="2"/>
  </idxfile>
</dataset>
END
# XML does not say that samples are big-endian.
python "
import glob, struct
for name in glob.glob('two/t*/*.bin') + glob.glob('two/t*/*/*.bin'):
    data = bytearray(open(name, 'rb').read())
    for slot in range(8):
        at, _, size = struct.unpack_from('>3I', data, 40 + 40 * slot + 8)
        if at:
            part = np.frombuffer(bytes(data[at:at + size]), '>f8' if slot < 4 else '>i2')
            data[at:at + size] = part.astype(part.dtype.newbyteorder('<')).tobytes()
    open(name, 'wb').write(data)"
header=${header/big/little}
rm -rf x.bouma
expect 0 "$BOUMA" import two_xml.idx --into x.bouma
compare two_xml.idx x.bouma

# ---- headers that are wrong --------------------------------------------------

# wrong TEXT FROM TO: the header with FROM replaced by TO is refused, by TEXT.
wrong()
{
    printf '%s\n' "${header/"$2"/$3}" >wrong.idx
    cmp -s wrong.idx <(printf '%s\n' "$header") && complain "'$2' is not in the header"
    refuse 1 "wrong.idx: $1" "$BOUMA" import wrong.idx --into bad.bouma
}
nl=$'\n'
wrong "line 2, (version): '7' is not a whole number from 1 to 6" 6.1 7
wrong "line 2, (version): '0'" 6.1 0
wrong "line 2, (version): 'x'" 6.1 x
wrong "line 2, (version): '' is not" 6.1 ""
wrong "line 2, (version): stands in a line with something else" "(version)${nl}6.1" "(version) 6"
wrong "the header has no (version)" "(version)" "(versions)"
wrong "line 4, (box): '-1' is not" "3 19" "-1 19"
wrong "line 4, (box): axis 0 ends at 2" "3 19" "3 2"
wrong "line 4, (box): has 5 numbers" "3 19 0 8 2 7 0 0 0 0" "3 19 0 8 2"
wrong "line 4, (box): has more than 5 axes" "0 0 0 0" "0 0 0 0 0 0"
wrong "line 4, (box): has 2 axes, but the mask has 3" "3 19 0 8 2 7 0 0 0 0" "3 19 0 8"
wrong "line 9, (bits): has 32 samples along axis 0, but the box ends after sample 32" "3 19" "3 32"
wrong "line 9, (bits): has 1 samples along axis 3" "7 0 0" "7 0 1"
wrong "line 4, (box): '9223372036854775807' is not" "3 19" "3 9223372036854775807"
wrong "line 9, (bits): 'W012012010210' does not begin" V012 W012
refuse 2 "holds a grid, and no particles; leave out --particles" "$BOUMA" import \
    "$(find "$golden" -name '*.idx' | head -1)" --particles p --into p.bouma
wrong "line 9, (bits): split 1 is along axis 3, and a grid has at most 3 axes, 0 to 2" V012 V312
wrong "line 9, (bits): split 1 is along 'x', which is no axis" V012 Vx12
wrong "line 9, (bits): has no splits" V012012010210 V
wrong "line 9, (bits): has 63 splits" V012012010210 V"$(printf '012%.0s' {1..21})"
wrong "line 11, (bitsperblock): '31' is not" "${nl}5$nl" "${nl}31$nl"
wrong "line 11, (bitsperblock): a block of 2^13 samples is more than the 2^12" "${nl}5$nl" "${nl}13$nl"
wrong "line 11, (bitsperblock): 'five'" "${nl}5$nl" "${nl}five$nl"
wrong "the header has no (bitsperblock)" "(bitsperblock)" "(bits per block)"
wrong "line 13, (blocksperfile): '0' is not" "${nl}4$nl" "${nl}0$nl"
wrong "line 13, (blocksperfile): '99999999999999999999'" "${nl}4$nl" "${nl}99999999999999999999$nl"
wrong "line 6, (fields): field b is of type 'float16'" "1*int16" float16
wrong "line 6, (fields): '0' is not" "1*int16" "0*int16"
wrong "line 6, (fields): the type 'int16[3' has no ]" "1*int16" "int16[3"
wrong "line 6, (fields): field b: a ( has no )" "and more)" "and more"
wrong "line 6, (fields): field b has no type" "1*int16 description(of + and more)" ""
wrong "line 6, (fields): field a is there twice" "  b " "  a "
wrong "line 6, (fields): 'x' is not" "default_value(0)" "default_value(x)"
wrong "line 15, (time): '(2,6)' is not of the form" "(2,6,2)" "(2,6)"
wrong "line 15, (time): ')2,6,2)' is not of the form" "(2,6,2)" ")2,6,2)"
wrong "line 15, (time): timestep 1 is before the first, 2" "(2,6,2)" "(2,1,1)"
wrong "line 15, (time): '0' is not a whole number from 1" "(2,6,2)" "(2,6,0)"
wrong "line 15, (time): '2.5' is not a whole number" "(2,6,2)" "(2.5,6,2)"
wrong "line 15, (time): 't%s/' does not have one number" "t%02d/" "t%s/"
wrong "line 17, (endian): 'middle'" little middle
wrong "line 21, (filename_template): '%s.bin' is not of the form" %01x %s
wrong "line 21, (filename_template): is one file, of 4 blocks, but there are 128" %01x x
wrong "line 19, (io mode): 'raw' is a format of PIDX" "(unknown key)${nl}anything" "(io mode)${nl}raw"
wrong "line 19, (arco): files of 64 bytes" "(unknown key)${nl}anything" "(arco)${nl}64"
wrong "line 19, (interleave block): blocks that are interleaved" "(unknown key)${nl}anything" "(interleave block)${nl}2"
wrong "line 19, (compression type): PIDX's own" "(unknown key)${nl}anything" "(compression type)${nl}1"
wrong "line 19, (physic_box): 'inf' is not a finite" "(unknown key)${nl}anything" "(physic_box)${nl}0 inf 0 1 0 1"
wrong "line 19, (logic_to_physic): has 3 numbers" "(unknown key)${nl}anything" "(logic_to_physic)${nl}1 2 3"
wrong "line 19, (bits): is there twice; the first is in line 9" "(unknown key)${nl}anything" "(bits)${nl}V0"
wrong "line 2: a header begins with a key" "  (version)" "text"
sed 's/^V012.*/V0120120102100000/; s/^5$/16/; s/float64/float64[8192]/' <<<"$header" >wrong.idx
refuse 1 "wrong.idx: line 11, (bitsperblock): a block of 2^16 samples of 65536 bytes is more than 2 GiB" \
    "$BOUMA" import wrong.idx --into bad.bouma
sed 's/dtype="int16"/dtype="int16/' two_xml.idx >wrong.idx
refuse 1 "wrong.idx: line " "$BOUMA" import wrong.idx --into bad.bouma
sed 's/V012012010210/V01200/' two_xml.idx >wrong.idx
refuse 1 "wrong.idx: line 5, <bitmask>: has 8 samples along axis 0" "$BOUMA" import wrong.idx --into bad.bouma
printf '(version)\0' >wrong.idx
refuse 1 "wrong.idx: is not text" "$BOUMA" import wrong.idx --into bad.bouma
sed 's/^t%02d.*/* * t%02d/' <<<"$header" | sed 's/t%02d$/t%02d\//' >two_any.idx
refuse 2 "does not say which timesteps" "$BOUMA" import two_any.idx --into bad.bouma
rm -rf y.bouma
expect 0 "$BOUMA" import two_any.idx --into y.bouma --step 4 --var a
[[ $(steps) == '[[4,4,["a"]]]' ]] || complain "$(steps)"
# Timesteps may be listed twice and in any order, and none is visited that is not
# chosen.
sed 's/(2,6,2)/(4,6,2) (2,4,1) (2,2,1)/' <<<"$header" >twice.idx
rm -rf y.bouma
expect 0 "$BOUMA" import twice.idx --into y.bouma --var a --fill-missing
[[ $(steps) == '[[2,2,["a"]],[3,3,["a"]],[4,4,["a"]],[6,6,["a"]]]' ]] || complain "$(steps)"
sed 's/(2,6,2)/(2,9007199254740992,2)/' <<<"$header" >endless.idx
rm -rf y.bouma
expect 0 timeout 60 "$BOUMA" import endless.idx --into y.bouma --var a --step ::9000000000000000
[[ $(steps) == '[[2,2,["a"]]]' ]] || complain "$(steps)"
rm -rf y.bouma
expect 0 "$BOUMA" import endless.idx --into y.bouma --var a --step 1:9:2
[[ $(steps) == '[[2,2,["a"]],[6,6,["a"]]]' ]] || complain "$(steps)"
# What a header only claims takes no memory.
sed 's/^3 19 .*/0 1048575 0 1048575 0 1048575/; s/^V012.*/V012012012012012012012012012012012012012012012012012012012012/' \
    <<<"$header" >huge.idx
refuse 1 "huge.idx: to put its samples together takes" "$BOUMA" import huge.idx --into bad.bouma
sed 's/^3 19 .*/0 199 0 199 0 199/; s/^V012.*/V012012012012012012012012/; s/^5$/0/' <<<"$header" >many.idx
refuse 1 "at least " "$BOUMA" import many.idx --into bad.bouma --var b --step 2

# ---- files that are wrong ----------------------------------------------------

printf '%s\n' "$header" >two.idx
cp -r two kept
# damage TEXT CODE: the import after CODE in Python, on the bytes of a file, says
# TEXT.
damage()
{
    rm -rf two
    cp -r kept two
    python "
import struct
name = 'two/t04/0.bin'
data = bytearray(open(name, 'rb').read())
def word(field, slot, i, value):
    struct.pack_into('>I', data, 40 + 40 * (4 * field + slot) + 4 * i, value)
$2
open(name, 'wb').write(data)"
    refuse 1 "./two/t04/0.bin: $1" "$BOUMA" import two.idx --step 4 --into bad.bouma
}
damage "is cut off in its headers: it has 50 bytes; 72 of 1836 samples" "del data[50:]"
damage "block 2 of b ends at byte" "del data[-1:]"
damage "block 1 of a has 255 bytes, and must have 256" "word(0, 1, 4, 255)"
damage "block 1 of a has 4294967295 bytes, more than" "word(0, 1, 4, 2**32 - 1)"
damage "block 1 of a lies at byte 80, inside the headers" "word(0, 1, 2, 80)"
damage "block 1 of a ends at byte" "word(0, 1, 3, 1)"
damage "block 1 of a compressed in way 2, which is not known" "word(0, 1, 5, 2)"
damage "block 1 of a compressed by png" "word(0, 1, 5, 6)"
damage "block 1 of a: zlib cannot decompress it to 256 bytes" "word(0, 1, 5, 3)"
damage "block 1 of a: lz4 cannot decompress it to 256 bytes" "word(0, 1, 5, 7)"
damage "block 1 of a compressed by zfp, but the field" "word(0, 1, 5, 8)"
rm -rf two
cp -r kept two
rm two/t04/8.bin
refuse 1 "./two/t04/8.bin: is missing; " "$BOUMA" import two.idx --into bad.bouma
refuse 1 "of 5508 samples cannot be read; --fill-missing uses" "$BOUMA" import two.idx --into bad.bouma
whole=$err
if [[ -x ${BOUMA_MPI:-} ]]; then
    run on 3 import two.idx --into bad.bouma
    [[ $status -eq 1 && $err == *"${whole#bouma: }"* ]] || complain "3 ranks said '$err', not '$whole'"
fi
[[ ! -e bad.bouma ]] || complain "a refused import made a dataset"
rm -rf y.bouma
expect 0 "$BOUMA" import two.idx --into y.bouma --fill-missing
[[ $err =~ two.idx:\ ([0-9]+)\ of\ 1836\ samples\ of\ timestep\ 4\ cannot\ be\ read ]] || complain "said $err"
expect 0 "$BOUMA" read y.bouma grid/a --step 4 -o out.npy
python "assert (np.load('out.npy') == 0).sum() == ${BASH_REMATCH[1]:-0} // 2"

# However many files are missing, those that are there are read.
mkdir many
printf '(version)\n6\n(box)\n0 2047\n(fields)\nv uint8\n(bits)\nV00000000000\n(bitsperblock)\n0\n' >many.idx
printf '(blocksperfile)\n1\n(filename_template)\n./many/%%04x.bin\n' >>many.idx
python "import struct; open('many/07ff.bin', 'wb').write(struct.pack('>20I', *[0] * 12, 80, 0, 1, *[0] * 5) + b'\7')"
refuse 1 "at least 1001 of 2048 samples cannot be read" "$BOUMA" import many.idx --into bad.bouma
expect 0 "$BOUMA" import many.idx --into many.bouma --fill-missing
[[ $err == *"2047 of 2048 samples of timestep 0 cannot be read"* ]] || complain "said $err"
expect 0 "$BOUMA" read many.bouma grid/v --step 0 -o out.npy
python "assert np.load('out.npy').sum() == 7 and np.load('out.npy')[-1] == 7"

# In HZ order, template and blocks are those of the header, unless others are
# asked for.
# order: what info tells of the order of x.bouma.
order()
{
    "$BOUMA" info x.bouma --json |
        jq -r '.steps[0].objects[0] | "\(.hz_template) \(.hz_block_bits) \(.hz_blocks_per_file)"'
}
try "$golden/a2d_u8/a2d_u8.idx" --layout hz
[[ $(order) == "xyxyxyxyxyxyx 10 4" ]] || complain "$(order)"
try "$golden/a2d_u8/a2d_u8.idx" --layout hz --hz-template yyyyyyxxxxxxx --hz-block-bits 6 --hz-blocks-per-file 3
[[ $(order) == "yyyyyyxxxxxxx 6 3" ]] || complain "$(order)"

# Blocks that were never written are no error.
expect 0 "$BOUMA" import "$golden/s3d_partial_rm/s3d_partial_rm.idx" --into s.bouma
[[ $err == *"1160 of 10101 samples were never written; they have the field's default value" ]] || complain "said: $err"
[[ $(wc -l <<<"$err") -eq 1 ]] || complain "said more than a line: $err"
finish
