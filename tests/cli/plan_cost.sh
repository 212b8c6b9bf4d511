#!/usr/bin/env bash
# plan_cost.sh -- bouma plan by cost: what it chooses, and why.
source "$(dirname "$0")/common.bash"

# object "..." runs Python that has the last command's output as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}
torus=(--ranks 512 --shape 512,512,512 --files 64 --machine torus:8x8x8)

# Bytes go over fewer links than with other schemes; without a machine nobody
# counts links.
for place in spread first cost local; do
    expect 0 "$BOUMA" plan "${torus[@]}" --vary 20 --place $place --json
    printf '%s' "$out" >$place.json
done
python "
plans = {p: json.load(open(p + '.json')) for p in ('spread', 'first', 'cost', 'local')}
hops = {p: plans[p]['byte_hops'] for p in plans}
assert hops['cost'] < min(hops['spread'], hops['first']), hops
assert hops['local'] <= hops['spread'] / 2, hops
assert plans['local']['writers'] == 64 and plans['local']['place'] == 'local'
assert plans['cost']['writers'] == 64 and plans['cost']['place'] == 'cost'
assert plans['cost']['shipped_bytes'] <= plans['spread']['shipped_bytes']"
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --json
object "assert 'byte_hops' not in o and 'explain' not in o"
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --place local --json
object "assert 'byte_hops' not in o and o['writers'] == 1"
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --place cost --json
object "assert o['byte_hops'] == 7 * 64**3 * 4 and 'explain' not in o"

# Two files of four ranks each on a ring, the target behind rank 0: from each
# square of ranks 0 1 4 5 and 2 3 6 7, the nearest to all, and the lowest.
expect 0 "$BOUMA" plan --ranks 8 --shape 128,256 --patch 64 --files 2 \
    --blocks 2,4 --place cost --machine torus:2x4 --explain
table=$(sed -n '/^file [0-9]/,$p' <<<"$out")
diff <(sed 's/dram .*/dram/; s/  */ /g' <<<"$table") - <<'END' ||
file 0, 64.3 KiB: gathered by rank 0 in dram; in ms:
 RANK NODE TIER C1 C2 LINKS WAIT SUM
* 0 0 dram
 1 1 dram
 4 4 dram
 5 5 dram

file 1, 64.3 KiB: gathered by rank 3 in dram; in ms:
 RANK NODE TIER C1 C2 LINKS WAIT SUM
* 3 3 dram
 2 2 dram
 7 7 dram
 6 6 dram
END
    complain "explained: $table"

# All of it as JSON: the choice is the first, and the cheapest that fits.
expect 0 "$BOUMA" plan "${torus[@]}" --vary 20 --place cost --explain --json
object "
assert [f['file'] for f in o['explain']] == [0, 1, 2]
for f in o['explain']:
    best = f['costs'][0]
    assert [c['chosen'] for c in f['costs']] == [True] + [False] * (
        len(f['costs']) - 1)
    assert (best['rank'], best['tier']) == (f['writer'], f['tier'])
    assert best['sum'] == min(c['sum'] for c in f['costs'] if c['fits'])
    for c in f['costs']:
        parts = c['c1'] + c['c2'] + c['links'] + c['wait']
        assert abs(parts - c['sum']) < 1e-12 and c['node'] == c['rank']"
expect 0 "$BOUMA" plan "${torus[@]}" --place cost --explain --file 63 --json
object "assert [f['file'] for f in o['explain']] == [63]"
# Of many ranks a file, some are shown.
expect 0 "$BOUMA" plan --ranks 64 --shape 256,256,256 --files 1 --place cost \
    --explain
[[ $out == *"and 52 more"* ]] || complain "said: $out"
# A tier that is asked for is taken, whether it is described or not.
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --files 1 --place cost \
    --tier local --explain --json
object "
assert o['explain'][0]['tier'] == 'local'
assert not o['explain'][0]['costs'][0]['fits']"

# A machine of three tiers: the fastest that has room for the buffers.
machine()
{
    cat >four.machine <<END
machine 1
network torus:2x2 latency 30ms bandwidth 12.5GB/s
tier hbm latency 10ms bandwidth 180GB/s capacity $1
tier dram latency 20ms bandwidth 90GB/s capacity $2
tier local latency 100ms bandwidth 0.15GB/s capacity 128G keeps job
END
}
four=(--ranks 4 --shape 512,512 --files 1 --place cost --buffers 3 --explain
    --machine ./four.machine --json)
machine 16G 192G
expect 0 "$BOUMA" plan "${four[@]}"
object "
f = o['explain'][0]
assert (f['writer'], f['tier'], len(f['costs'])) == (0, 'hbm', 12)
assert all(c['fits'] and c['links'] == c['wait'] == 0 for c in f['costs'])"
machine 2M 192G
expect 0 "$BOUMA" plan "${four[@]}"
object "
f = o['explain'][0]
assert (f['writer'], f['tier']) == (0, 'dram')
assert all(c['fits'] == (c['tier'] != 'hbm') for c in f['costs'])"
machine 2M 2M
expect 0 "$BOUMA" plan "${four[@]}"
object "assert o['explain'][0]['tier'] == 'local'"

# What is wrong with a call is told.
refuse 2 "add --place cost" "$BOUMA" plan "${torus[@]}" --explain
refuse 2 "add --place cost" "$BOUMA" plan "${torus[@]}" --place local --explain
refuse 2 "--file is for --explain" "$BOUMA" plan "${torus[@]}" --place cost \
    --file 1
refuse 2 "the plan has 64 files" "$BOUMA" plan "${torus[@]}" --place cost \
    --explain --file 64
refuse 2 "is of one" "$BOUMA" plan "${torus[@]}" --place cost --explain --compare
refuse 2 "torus:8x" "$BOUMA" plan --ranks 8 --shape 8,8 --machine torus:8x
refuse 2 "./no.machine: could not be opened" "$BOUMA" plan --ranks 8 \
    --shape 8,8 --machine ./no.machine

# Imports are placed as they are told.
python "
import numpy
numpy.save('a.npy', numpy.arange(64**3, dtype='f4').reshape(64, 64, 64))"
expect 0 "$BOUMA" import a.npy --into cost.bouma --patch 16 --files 5 --place cost \
    --machine torus:2x2
expect 0 "$BOUMA" verify cost.bouma
expect 0 "$BOUMA" info cost.bouma --json
object "assert o['steps'][0]['place'] == 'cost'"
expect 0 "$BOUMA" read cost.bouma grid/a -o b.npy
same a.npy b.npy
refuse 2 "torus:0x2" "$BOUMA" import a.npy --into wrong.bouma --place cost \
    --machine torus:0x2
[[ ! -e wrong.bouma ]] || complain "a dataset was made for a machine that is none"
finish
