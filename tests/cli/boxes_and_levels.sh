#!/bin/bash
# boxes_and_levels.sh -- any box at any level is the slice that NumPy gives.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(3)
np.save('a.npy', r.random((37, 50, 21)).astype('f4'))
np.save('b.npy', r.integers(-9, 9, (100, 33)).astype('i2'))
np.save('c.npy', r.random(1000))"
for name in a b c; do
    expect 0 "$BOUMA" import $name.npy --into $name.bouma --patch 16 --files 3 \
        --levels 4
done

# try NAME BOX SLICE: the box, as NumPy's slice, at every level.
try()
{
    local name=$1 box=$2 slices=$3 level
    for level in 0 1 2 3; do
        rm -f out.npy
        run "$BOUMA" read "$name.bouma" "grid/$name" --box "$box" \
            --level $level -o out.npy
        # The samples of the box whose indices are multiples of 2^level.
        local samples="np.load('$name.npy')[tuple(
    slice(-(-s.indices(n)[0] >> $level) << $level, s.indices(n)[1], 2**$level)
    for s, n in zip(np.index_exp[$slices], np.load('$name.npy').shape))]"
        if [[ $status -eq 0 ]]; then
            equal out.npy "$samples"
            python "assert np.load('out.npy').size"
        else
            try_advice "$name" "$box" $level
            python "assert ($samples).size == 0"
        fi
    done
}

# try_advice NAME BOX LEVEL: the read was refused, since there are no samples;
# those that it advises have some.
try_advice()
{
    local advice=${err##*; take }
    [[ $status -eq 2 && $err == *"no samples at level $3"* && ! -e out.npy ]] ||
        complain "reading nothing gave $status: $err"
    # shellcheck disable=SC2086  # an option and its value
    expect 0 "$BOUMA" read "$1.bouma" "grid/$1" --level "$3" \
        ${advice% or *} -o out.npy
    python "assert np.load('out.npy').size"
    # shellcheck disable=SC2086
    expect 0 "$BOUMA" read "$1.bouma" "grid/$1" --box "$2" ${advice#* or } \
        -o out.npy
    python "assert np.load('out.npy').size"
}

try a 0:37,0:50,0:21 '0:37,0:50,0:21'
try a :,:,: ':,:,:'
try a 16:32,16:32,0:16 '16:32,16:32,0:16'
try a 3:20,:41,7: '3:20,:41,7:'
try a -20:-3,-16:,:-8 '-20:-3,-16:,:-8'
try a 36:37,49:50,20:21 '36:37,49:50,20:21'
try a 1:2,1:2,1:2 '1:2,1:2,1:2'
try b 5:77,-20: '5:77,-20:'
try b 99:,: '99:,:'
try c 10:990 '10:990'
try c :1 ':1'

# All of it at each level.
for level in 0 1 2 3; do
    expect 0 "$BOUMA" read a.bouma grid/a --level $level -o out.npy
    equal out.npy "np.load('a.npy')[tuple([slice(None, None, 2 ** $level)] * 3)]"
done

# A coarse level and a small box cost less than all of it.
bytes_read()
{
    "$BOUMA" read a.bouma grid/a "$@" -o out.npy --json | jq .bytes_read
}
all=$(bytes_read)
[[ $(bytes_read --level 2) -lt $((all / 4)) ]] || complain "level 2 costs much"
[[ $(bytes_read --box 0:4,0:4,0:4) -lt $all ]] || complain "a box costs much"
finish
