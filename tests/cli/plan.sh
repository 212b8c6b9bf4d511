#!/bin/bash
# plan.sh -- what a write would do, at any scale.
source "$(dirname "$0")/common.bash"

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

# Eight ranks with a patch each, into one file.
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --files 1
# The last line has the seconds.
diff <(sed '$s/ *in .*//' <<<"$out") - <<'END' || complain "plan said: $out"
ranks    8, in 2 x 2 x 2 blocks
grid     128 x 128 x 128 samples, 8.0 MiB raw, 8.0 MiB stored
patches  8 of 64 x 64 x 64, in 2 x 2 x 2; 0 shared by ranks
a rank   1 to 1 patches, mean 1; distribute=balanced
moved    0 B, to put patches together, in 0 messages
shipped  7.0 MiB, to the writers of files, in 7 messages and 8 rounds
files    1, written by 1 rank; assign=optimal place=spread
sizes    8.0 MiB to 8.0 MiB, mean 8.0 MiB; largest over mean 1.000
planned
END

expect 0 "$BOUMA" plan --ranks 12 --shape 300,400 --blocks 2,6 --patch 64 \
    --type f64 --components 2 --ratio 4 --vary 10 --files 5 --distribute greedy \
    --assign running --place first --json
object "
assert o['ranks'] == 12 and o['blocks'] == [2, 6] and o['shape'] == [300, 400]
assert o['patch'] == [64, 64] and o['patch_grid'] == [5, 7]
assert o['patches'] == 35 and o['shared_patches'] > 0
p = o['patches_per_rank']
assert p['min'] <= p['mean'] <= p['max'] and abs(p['mean'] - 35 / 12) < 1e-9
assert o['raw_bytes'] == 300 * 400 * 16
# A patch of two f64 has 80 to 130 bytes in tables.
assert 35 * 80 < o['stored_bytes'] - o['raw_bytes'] / 4 < 35 * 150
assert o['moved_bytes'] > 0 and o['moved_messages'] > 0
assert o['shipped_bytes'] > 0 and o['shipped_messages'] > 0
assert o['rounds'] == 1 and o['files'] == 5 and o['writers'] == 5
assert o['smallest_file'] <= o['mean_file'] <= o['largest_file']
assert abs(o['balance'] - o['largest_file'] * 5 / o['stored_bytes']) < 1e-9
assert (o['distribute'], o['assign'], o['place']) == (
    'greedy', 'running', 'first')
assert o['memory_bytes'] > 0 and o['seconds'] >= 0 and 'file' not in o"

# All schemes, or all that are left open.
expect 0 "$BOUMA" plan --ranks 20 --shape 200,200,200 --patch 32 --vary 30 \
    --files 6 --compare
[[ $(wc -l <<<"$out") -eq 21 && $out == DISTRIBUTE* ]] || complain "said: $out"
expect 0 "$BOUMA" plan --ranks 20 --shape 200,200,200 --patch 32 --vary 30 \
    --files 6 --assign=count --compare
[[ $(wc -l <<<"$out") -eq 5 ]] || complain "said: $out"
expect 0 "$BOUMA" plan --ranks 20 --shape 200,200,200 --patch 32 --vary 30 \
    --files 6 --compare --json
object "
s = o['schemes']
assert len({(p['distribute'], p['assign']) for p in s}) == len(s) == 20
largest = {a: max(p['largest_file'] for p in s if p['assign'] == a)
           for a in ('optimal', 'running', 'count')}
assert largest['optimal'] <= min(largest.values())
moved = {d: max(p['moved_bytes'] for p in s if p['distribute'] == d)
         for d in ('balanced', 'greedy', 'none')}
assert moved['greedy'] <= min(moved.values())"

# A million ranks are no trouble.
expect 0 "$BOUMA" plan --ranks 1M --shape 16384,8192,8192 --json
object "
assert o['ranks'] == 1048576 and o['patches'] == 2**22
assert o['patches_per_rank'] == {'min': 4, 'mean': 4.0, 'max': 4}
assert o['moved_bytes'] == 0 and o['balance'] < 1.001
assert o['files'] == 65536 and o['mean_file'] >> 20 == 64
assert o['memory_bytes'] < 2**27"

# The picture: four ranks, each with its patch, in two files, their bars, and
# their writers.
expect 0 "$BOUMA" plan --ranks 4 --shape 512,512 --files 2 -o out.png --json
object "assert o['file'] == 'out.png'"
picture "
rows, palette = png.read('out.png')
o = json.load(open('.json'))
assert (o['width'], o['height']) == (len(rows[0]), len(rows))
a = np.array([[palette[i] for i in row] for row in rows])
# The bars are in the first of the widest frames, writers in the last; the
# panels are above, side by side.
left, top, width, height = png.frame(rows, palette)
# The line at the mean is as long as the frame: the next one is the bottom.
black = [y for y in range(top, len(rows)) if not a[y, left:left + width].any()]
height = black[-3] - top
bars = a[top:top + height, left:left + width]
assert not (bars[-10, width // 4] == bars[-10, 3 * width // 4]).all()
n = (width - 24) // 2
y = top - 40 - n
ranks = {tuple(a[y + j * n // 4, left + i * n // 4])
         for j in (1, 3) for i in (1, 3)}
files = [tuple(a[y + j * n // 4, left + width - n + i * n // 4])
         for j in (3, 1) for i in (1, 3)]
assert len(ranks) == 4, ranks
# Row 0 is at the bottom, and files are cut on the order of patches.
assert files[0] == files[1] != files[2] == files[3], files
assert files[0] == tuple(bars[-10, width // 4])
assert files[2] == tuple(bars[-10, 3 * width // 4])
# Ranks 0 and 1 send to the first file, 2 and 3 to the other; 0 and 2 write.
writers = a[black[-2]:black[-1] + 1, left:left + width]
n = len(writers)
def seen(rank, file):
    return tuple(writers[n - 1 - (2 * rank + 1) * n // 8, width * file // 2 + 20])
def writes(rank, file):
    x = width * (2 * file + 1) // 4
    y = n - 1 - rank * n // 4
    return not writers[y - 1, x - 1:x + 2].any()
assert seen(0, 0) == files[0] and seen(2, 1) == files[2]
assert seen(3, 0) == seen(0, 1) == (255, 255, 255)
assert [(r, f) for r in range(4) for f in (0, 1) if writes(r, f)] == [
    (0, 0), (2, 1)]"
for shape in 1000 37,10000 300,20,20 5,5,100000; do
    expect 0 "$BOUMA" plan --ranks 7 --shape $shape --patch 16 -o out.png
    picture "png.read('out.png')"
done
"$BOUMA" plan --ranks 4 --shape 512,512 -o - >stream.png
expect 0 "$BOUMA" plan --ranks 4 --shape 512,512 -o file.png
same stream.png file.png

# What is wrong with a call is told.
refuse 2 "say how many write what" "$BOUMA" plan --shape 8,8
refuse 2 "say how many write what" "$BOUMA" plan --ranks 8
refuse 2 "must be a whole number of at least 1" "$BOUMA" plan --ranks 0 --shape 8,8
for ranks in 4G 1G 8388609; do
    refuse 2 "at most 8M (2^23)" "$BOUMA" plan --ranks $ranks --shape 16384,16384,16384
done
refuse 2 "must be 1 to 3 positive whole numbers" "$BOUMA" plan --ranks 8 --shape 8,0
refuse 2 "the shape has 2 axes" "$BOUMA" plan --ranks 8 --shape 8,8 --blocks 8
refuse 2 "must multiply to the 8 ranks" "$BOUMA" plan --ranks 8 --shape 8,8 \
    --blocks 2,3
refuse 2 "not a power of two" "$BOUMA" plan --ranks 8 --shape 8,8 --patch 3
refuse 2 "there are i8" "$BOUMA" plan --ranks 8 --shape 8,8 --type f99
refuse 2 "--distribute is" "$BOUMA" plan --ranks 8 --shape 8,8 --distribute no
refuse 2 "a ratio of -2" "$BOUMA" plan --ranks 8 --shape 8,8 --ratio=-2
refuse 2 "vary by 0.5" "$BOUMA" plan --ranks 8 --shape 8,8 --vary 0.5
refuse 2 "end the name with .png" "$BOUMA" plan --ranks 8 --shape 8,8 -o x.gif
refuse 2 "has no picture" "$BOUMA" plan --ranks 8 --shape 8,8 --compare -o x.png
refuse 2 "unexpected argument" "$BOUMA" plan run.bouma --ranks 8 --shape 8,8
# What a write refuses, a plan refuses.
refuse 2 "--planning is local, but 'place'" "$BOUMA" plan --ranks 8 --shape 128,128,128 --planning local --place cost
refuse 2 "layout 'patch'" "$BOUMA" plan --ranks 8 --shape 128,128,128 --planning local --layout hz
expect 0 "$BOUMA" plan --ranks 8 --shape 128,128,128 --planning local
refuse 1 "beyond 2^32" "$BOUMA" plan --ranks 8 --particles 10G --assign single
expect 0 "$BOUMA" plan --ranks 8 --particles 10G --compare
[[ $out == *kdtree* && $out != *single* ]] || complain "compared: $out"
finish
