#!/bin/bash
# plan_hz.sh -- plans of writes in HZ order, templates that fit ranks, and the
# picture of ranks.
source "$(dirname "$0")/common.bash"

object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

# ---- what a plan tells ------------------------------------------------------

# The write of the paper's figure 6, with its template and with another one.
figure6=(--ranks 512 --shape 256,256,256 --layout hz --hz-blocks-per-file 16)
expect 0 "$BOUMA" plan "${figure6[@]}" --hz-template ranks --place local
diff <(sed '$s/ *in .*//' <<<"$out") - <<'END' || complain "plan said: $out"
ranks    512, in 8 x 8 x 8 blocks
grid     256 x 256 x 256 samples, 64.0 MiB raw, 64.0 MiB stored
order    zzzyyyxxxzyxzyxzyxzyxzyx; it conforms to the ranks
blocks   512 of 2^15 samples, 16 in a file; 512 shared by ranks
sharing  a file has samples of 32 to 512 ranks, mean 96; a rank has some in
         6 to 6 files, mean 6
a rank   1 to 1 blocks, mean 1; distribute=balanced
moved    42.7 MiB, to put blocks together, in 4608 messages
shipped  60.0 MiB, to the writers of files, in 480 messages and 2 rounds
files    32, written by 32 ranks; place=local
sizes    2.0 MiB to 2.0 MiB, mean 2.0 MiB; largest over mean 1.000
planned
END
expect 0 "$BOUMA" plan "${figure6[@]}" --hz-template xxxyyyzzzxxyyzzxyzxyzxyz
[[ $out == *"it does not conform to the ranks"* ]] || complain "said: $out"
expect 0 "$BOUMA" plan "${figure6[@]}" --hz-template ranks --json
object "
assert o['layout'] == 'hz' and o['assign'] is None and 'patch_grid' not in o
assert o['hz_template'] == 'zzzyyyxxx' + 'zyx' * 5 and o['hz_conforms']
assert o['hz_block_bits'] == 15 and o['hz_blocks_per_file'] == 16
assert o['hz_order'] == 'rows' and o['files'] == 32 and o['patches'] == 512
assert o['ranks_per_file'] == {'min': 32, 'mean': 96.0, 'max': 512}
assert o['files_per_rank'] == {'min': 6, 'mean': 6.0, 'max': 6}"

# The order of ranks changes the template, and which one conforms.
for order in row-major:zzzyyyxxx column-major:xxxyyyzzz morton:zyxzyxzyx; do
    expect 0 "$BOUMA" plan "${figure6[@]}" --hz-template ranks \
        --rank-order "${order%:*}" --json
    object "
assert o['hz_template'] == '${order#*:}' + 'zyx' * 5 and o['hz_conforms'], o"
done

# Writers among those that send: fewer byte-hops on a torus.
for place in local spread; do
    expect 0 "$BOUMA" plan --ranks 512 --shape 256,256,256 --layout hz \
        --hz-block-bits 12 --hz-blocks-per-file 16 --hz-template ranks \
        --machine torus:8x8x8 --place $place --json
    printf '%s' "$out" >$place.json
done
python "
near, far = (json.load(open(n + '.json')) for n in ('local', 'spread'))
assert near['byte_hops'] < 0.5 * far['byte_hops'], near['byte_hops'] / far['byte_hops']"

# Without files to choose, one row a distribution.
expect 0 "$BOUMA" plan "${figure6[@]}" --compare
[[ $(wc -l <<<"$out") -eq 5 ]] || complain "said: $out"

# Padding is stored, if blocks are along the curve.
for order in rows hz; do
    expect 0 "$BOUMA" plan --ranks 4 --shape 100,70 --layout hz \
        --hz-block-bits 8 --hz-order $order --json
    printf '%s' "$out" >$order.json
done
python "
rows, curve = (json.load(open(n + '.json')) for n in ('rows', 'hz'))
assert rows['raw_bytes'] == curve['raw_bytes'] == 100 * 70 * 4
assert curve['stored_bytes'] >= curve['patches'] * 256 * 4 > rows['stored_bytes']"

# ---- calls that make no sense -----------------------------------------------

plan=("$BOUMA" plan --ranks 8 --shape 64,64)
refuse 2 "--hz-template needs --layout hz" "${plan[@]}" --hz-template ranks
refuse 2 "--patch is for --layout patch" "${plan[@]}" --layout hz --patch 8
refuse 2 "the grid: the template has a 'q' at position 1" "${plan[@]}" \
    --layout hz --hz-template q
refuse 2 "the grid has blocks of 2^20 samples, more than the 2^12" "${plan[@]}" \
    --layout hz --hz-block-bits 20
refuse 2 "must be one of row-major|column-major|morton" "${plan[@]}" \
    --rank-order z
refuse 2 "--picture needs a file: add -o OUT.png" "${plan[@]}" --picture
for option in files=3 file_size=1000 assign=count; do
    BOUMA_OPTIONS=$option expect 0 "$BOUMA" plan --ranks 8 --shape 64,64 \
        --layout hz
    [[ $err == *"has no effect on layout hz"* ]] || complain "note: $err"
done
expect 0 "${plan[@]}" --layout hz --files 3
[[ $err == *"--files has no effect on layout hz"* ]] || complain "note: $err"

# ---- import -------------------------------------------------------------------

python "np.save('cube.npy', np.arange(32**3, dtype='f4').reshape(32, 32, 32))"
expect 0 "$BOUMA" import cube.npy --into d.bouma --layout hz --hz-template ranks \
    --hz-ranks 4,4,2
expect 0 "$BOUMA" info d.bouma --json
[[ $out == *'"zzyyxxzyxzyxzyx"'* ]] || complain "info: $out"
expect 0 "$BOUMA" plan --ranks 32 --shape 32,32,32 --blocks 4,4,2 --layout hz \
    --hz-template ranks --json
printf '%s' "$out" >.json
"$BOUMA" info d.bouma --json >info.json
python "
t = json.load(open('.json'))['hz_template']
assert t in open('info.json').read(), t"
expect 0 "$BOUMA" read d.bouma grid/cube -o back.npy
equal back.npy "np.load('cube.npy')"
expect 0 "$BOUMA" import cube.npy --into one.bouma --layout hz --hz-template ranks
refuse 2 "--hz-ranks 4,4: the grid has 3 axes" "$BOUMA" import cube.npy \
    --into none.bouma --layout hz --hz-template ranks --hz-ranks 4,4
refuse 2 "--hz-ranks 400,4,2: the grid has only 32 samples along z" "$BOUMA" import cube.npy \
    --into none.bouma --layout hz --hz-template ranks --hz-ranks 400,4,2
refuse 2 "--hz-ranks needs --hz-template ranks" "$BOUMA" import cube.npy \
    --into none.bouma --layout hz --hz-ranks 4,4,4
refuse 2 "--rank-order needs --hz-template ranks" "$BOUMA" import cube.npy \
    --into none.bouma --layout hz --rank-order morton
refuse 2 "--hz-ranks needs --layout hz" "$BOUMA" import cube.npy \
    --into none.bouma --hz-ranks 4,4,4
[[ ! -e none.bouma ]] || complain "something was made"

# ---- the picture ----------------------------------------------------------------

# The 16 ranks of the paper's figure 3: blocks of 4 x 4, numbered along a Z curve;
# 8 files of 32 samples. One has levels 0 to 5, one level 6, two level 7, four
# level 8.
expect 0 "$BOUMA" plan --ranks 16 --shape 16,16 --layout hz --hz-template \
    yxyxyxyx --hz-block-bits 4 --hz-blocks-per-file 2 --rank-order morton \
    -o out.png --json
object "assert o['hz_conforms'] and o['file'] == 'out.png'"
picture "
rows, palette = png.read('out.png')
a = np.array([[palette[i] for i in row] for row in rows]).astype(int)
# Frames are faint lines around 4 x 4 ranks of one size.
grey = [p for p in palette if p[0] == p[1] == p[2] and 0 < p[0] < 255]
frames = []
for g in set(grey):
    is_g = (a == g).all(axis=2)
    for y in range(len(a) - 20):
        for x in range(len(a[0]) - 20):
            if (is_g[y, x:x + 50].all() and is_g[y:y + 50, x].all()
                    and not is_g[y + 1, x + 1]):
                frames.append((x, y))
frames = sorted(set(frames), key=lambda f: (f[0], f[1]))
assert len(frames) == 8, frames
size = 12
def morton(rank):
    y = (rank >> 2 & 2) | (rank >> 1 & 1)
    x = (rank >> 1 & 2) | (rank & 1)
    return y, x
def cell(frame, rank):
    y, x = morton(rank)
    left = frame[0] + 1 + x * size
    top = frame[1] + 1 + (3 - y) * size
    return a[top:top + size, left:left + size]
groups = [[range(16)], [range(16)], [range(8), range(8, 16)],
          [range(4 * i, 4 * i + 4) for i in range(4)]]
spread = [[0], [2], [4, 6], [8, 10, 12, 14]]
for i, frame in enumerate(frames):
    sets = groups[i % 4]
    colours = [tuple(cell(frame, g[0])[0, 0]) for g in sets]
    assert len(set(colours)) == len(sets)
    for g, colour in zip(sets, colours):
        for rank in g:
            assert tuple(cell(frame, rank)[0, 0]) == colour, (i, rank)
    writers = [r for r in range(16)
               if not cell(frame, r)[size // 2, size // 2].any()]
    if i < 4: # local: in the group of its file
        assert len(writers) == len(sets)
        assert all(sum(w in g for w in writers) == 1 for g in sets), writers
    else:
        assert writers == spread[i - 4], writers"
# Other layouts and shapes have one, too.
for what in "--ranks 7 --shape 1000" "--ranks 60 --shape 100,100,100" \
    "--ranks 3000 --shape 100000 --layout hz" \
    "--ranks 12 --shape 50,60 --layout hz --place first" \
    "--ranks 1 --shape 1 --layout hz"; do
    # shellcheck disable=SC2086  # words
    expect 0 "$BOUMA" plan $what --picture -o out.png
    picture "png.read('out.png')"
done
finish
