#!/bin/bash
# plan_nodes.sh -- a file for each node, or for every few.
source "$(dirname "$0")/common.bash"

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

# Blocks that patches fit: nothing goes from node to node.
grid=(--ranks 64 --shape 256,256,256 --machine flat,per=8)
expect 0 "$BOUMA" plan "${grid[@]}" --files node
# The last line has the seconds.
diff <(sed '$s/ *in .*//' <<<"$out") - <<'END' || complain "plan said: $out"
ranks    64, in 4 x 4 x 4 blocks
grid     256 x 256 x 256 samples, 64.0 MiB raw, 64.0 MiB stored
patches  64 of 64 x 64 x 64, in 4 x 4 x 4; 0 shared by ranks
a rank   1 to 1 patches, mean 1; distribute=balanced
moved    0 B, to put patches together, in 0 messages
shipped  56.0 MiB, to the writers of files, in 56 messages and 8 rounds
nodes    8; between them 0 B moved, 0 B shipped
links    0 that a shipped byte goes over; 0 B over one link
files    8, written by 8 ranks; assign=per-node place=spread
sizes    8.0 MiB to 8.0 MiB, mean 8.0 MiB; largest over mean 1.000
planned
END
expect 0 "$BOUMA" plan "${grid[@]}" --files 8 --json
object "assert o['nodes'] == 8 and o['shipped_between_nodes'] == 48 << 20, o"

# Eight nodes in groups of up to three: three, three and two.
expect 0 "$BOUMA" plan "${grid[@]}" --files node:3 --json
object "
assert o['assign'] == 'per-node' and o['files'] == o['writers'] == 3, o
assert round(o['largest_file'] / o['smallest_file'], 2) == 1.5, o
assert o['shipped_between_nodes'] == (2 + 2 + 1) * 8 << 20, o"
expect 0 "$BOUMA" plan "${grid[@]}" --nodes-per-file 3 --json
object "assert o['files'] == 3"
expect 0 "$BOUMA" plan "${grid[@]}" --assign per-node --place cost --json
object "assert o['files'] == 8 and o['shipped_between_nodes'] == 0"

# Patches that nodes share have to move; greedy leaves them where most is.
odd=(--ranks 64 --shape 275,256,256 --blocks 4,4,4 --machine flat,per=8 --json)
expect 0 "$BOUMA" plan "${odd[@]}" --files node --distribute balanced
object "assert o['shipped_between_nodes'] == 0
open('balanced', 'w').write(str(o['moved_between_nodes']))"
expect 0 "$BOUMA" plan "${odd[@]}" --files node --distribute greedy
object "
assert o['shipped_between_nodes'] == 0
assert 0 < o['moved_between_nodes'] <= o['moved_bytes']
assert o['moved_between_nodes'] < int(open('balanced').read())"

# Particles, and HZ order, whose files are what they are.
expect 0 "$BOUMA" plan --ranks 64 --particles 1M --machine flat,per=8 \
    --files node --json
object "assert o['files'] == 8 and o['shipped_between_nodes'] == 0, o"
hz=(--layout hz --hz-block-bits 12 --hz-blocks-per-file 512 --json)
expect 0 "$BOUMA" plan "${grid[@]}" "${hz[@]}"
object "open('spread', 'w').write('%d %d' % (o['files'], o['shipped_between_nodes']))"
expect 0 "$BOUMA" plan "${grid[@]}" "${hz[@]}" --files node
[[ -z $err ]] || complain "a note says: $err"
object "
files, between = map(int, open('spread').read().split())
assert o['files'] == files and o['shipped_between_nodes'] < between, o"

# All schemes, if nodes are known.
expect 0 "$BOUMA" plan "${grid[@]}" --files 4 --compare --json
object "
s = {(p['distribute'], p['assign']): p for p in o['schemes']}
assert s['balanced', 'per-node']['files'] == 8, s.keys()
assert s['balanced', 'optimal']['files'] == 4"

# What says something else about the same thing is refused.
expect 2 "$BOUMA" plan --ranks 64 --shape 256,256,256 --files node
[[ $err == *"'machine' says it, such as flat,per=32"* ]] || complain "$err"
expect 2 "$BOUMA" plan "${grid[@]}" --files node --file-size 64M
[[ $err == *"leave out 'file_size'"* ]] || complain "$err"
expect 2 "$BOUMA" plan "${grid[@]}" --files node --assign single
[[ $err == *"nothing to assign"* ]] || complain "$err"
expect 2 "$BOUMA" plan "${grid[@]}" --files node:0
[[ $err == *"node, or node:1 to node:1048576"* ]] || complain "$err"

# A serial program is one node.
python "import numpy as np; np.save('a.npy', np.arange(64**3, dtype='f4').reshape(64, 64, 64))"
expect 0 "$BOUMA" import a.npy --into one.bouma --patch 16 --files node
expect 0 "$BOUMA" info one.bouma --json
object "assert o['steps'][0]['files'] == 1, o['steps'][0]"
finish
