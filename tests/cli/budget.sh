#!/bin/bash
# budget.sh -- reads and queries within a budget: the best that fits, and what it
# is.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
r = np.random.default_rng(5)
z, y, x = np.mgrid[0:48, 0:40, 0:56].astype('f4')
np.save('a.npy', (np.sin(x / 9) * np.cos(y / 11) + z / 100).astype('f4'))
n = 20000
np.savez('p.npz', position=r.random((n, 3)), id=np.arange(n), mass=r.random(n))"
for layout in patch hz; do
    expect 0 "$BOUMA" import a.npy --into $layout.bouma --layout $layout --files 2
done
expect 0 "$BOUMA" import p.npz --particles p --into p.bouma --file-size 128K

# ---- grids -------------------------------------------------------------------

# Whatever the budget, the file has the samples of the level that it tells; the
# next level would have been too much.
for layout in patch hz; do
    for budget in '--max-bytes 8K' '--max-bytes 50K' '--max-bytes 1G' '--limit 500' \
        '--limit 20K' '--max-error 0.05' '--max-error 0.5 --limit 100K' \
        '--max-bytes 20K --box 3:40,:,10:30'; do
        # shellcheck disable=SC2086  # options and their values
        run "$BOUMA" read $layout.bouma grid/a $budget -o out.npy --json
        if [[ $status -ne 0 ]]; then
            [[ $status -eq 2 && $err == *"the budget is"* ]] || complain "$budget: $err"
            continue
        fi
        printf '%s' "$out" >.json
        python "
j = json.load(open('.json'))
words = '$budget'.split()
given = dict(zip(words[::2], words[1::2]))
size = lambda text: int(text.rstrip('KG')) * {'K': 2**10, 'G': 2**30}.get(text[-1], 1)
a, answer, out, k = np.load('a.npy'), j['answer'], np.load('out.npy'), j['level']
if '--box' in given:
    first = lambda i: -(-i >> k) << k
    a = a[first(3):40:2**k, ::2**k, first(10):30:2**k]
else:
    a = a[::2**k, ::2**k, ::2**k]
assert np.array_equal(out, a), (out.shape, a.shape)
assert answer['points'] == out.size and answer['complete'] == (k == 0)
assert answer['error_is_bound'] == (k == 0)
assert (answer['limit'] is None) == answer['complete']
if '--max-bytes' in given:
    assert answer['bytes'] <= size(given['--max-bytes'])
if answer['limit'] == 'bytes':
    assert answer['bytes'] + answer['next_bytes'] > size(given['--max-bytes'])
if '--limit' in given:
    assert out.size <= size(given['--limit'])
if answer['limit'] == 'points':
    assert answer['next_points'] > size(given['--limit'])
if answer['limit'] == 'error':
    assert answer['error'] <= float(given['--max-error'])"
    done
done

# What the refusal asks for is enough.
refuse 2 "the budget is 1 bytes" "$BOUMA" read patch.bouma grid/a --max-bytes 1 -o no.npy
[[ ! -e no.npy ]] || complain "there is a no.npy"
need=$(sed 's/.*takes up to \([0-9]*\) bytes.*/\1/' <<<"$err")
expect 0 "$BOUMA" read patch.bouma grid/a --max-bytes "$need" -o out.npy
[[ $out == *"ended by bytes: level "* ]] || complain "it said $out"
expect 0 "$BOUMA" read patch.bouma grid/a --max-bytes 1G -o out.npy
[[ $out == *"level 0, error at most 0" ]] || complain "it said $out"
equal out.npy "np.load('a.npy')"
"$BOUMA" read patch.bouma grid/a --limit 1000 -o - >stream || complain "to a stream"
"$BOUMA" read patch.bouma grid/a --limit 1000 -o out.raw >out.txt || complain "to a file"
same stream out.raw

refuse 2 "cannot be combined" "$BOUMA" read patch.bouma grid/a --level 1 --limit 10 -o no.npy
refuse 2 "--max-error -1" "$BOUMA" read patch.bouma grid/a --max-error=-1 -o no.npy
refuse 2 "--limit" "$BOUMA" read patch.bouma grid/a --limit 0 -o no.npy
refuse 2 "--max-bytes" "$BOUMA" read patch.bouma grid/a --max-bytes few -o no.npy

# ---- particles ---------------------------------------------------------------

for limit in 1 777 19999 20000 1M; do
    expect 0 "$BOUMA" query p.bouma p --limit $limit -o out.npz --json
    printf '%s' "$out" >.json
    python "
j, o = json.load(open('.json')), np.load('out.npz')
wanted = min({'1M': 2**20}.get('$limit') or int('$limit'), 20000)
assert len(o['id']) == j['count'] == j['answer']['points'] == wanted
assert len(np.unique(o['id'])) == wanted
assert np.array_equal(o['mass'], np.load('p.npz')['mass'][o['id']])
assert j['answer']['complete'] == (wanted == 20000) and 0 < j['quality'] <= 1
assert abs(j['quality'] - wanted / 20000) < 0.002"
done
expect 0 "$BOUMA" query p.bouma p --limit 100 --where 'mass < 0.25' --box :.5,:,: -o out.npz
[[ $out == *"100 particles of 20000"*"ended by points"* ]] || complain "it said $out"
python "
o = np.load('out.npz')
assert len(o['id']) == 100 and (o['mass'] < .25).all() and (o['position'][:, 0] < .5).all()"
expect 0 "$BOUMA" query p.bouma p --max-bytes 100K --json
printf '%s' "$out" >.json
python "
a = json.load(open('.json'))['answer']
assert 0 < a['bytes'] <= 100 << 10 and a['bytes'] + a['next_bytes'] > 100 << 10
assert a['limit'] == 'bytes' and a['points'] > 0"
# An empty box has no particles, and that is all of them.
expect 0 "$BOUMA" query p.bouma p --limit 5 --box 3:3,:,: --json
[[ $(jq -c '[.count, .answer.complete]' <<<"$out") == '[0,true]' ]] || complain "it said $out"

refuse 2 "the budget is 1 bytes" "$BOUMA" query p.bouma p --max-bytes 1 -o no.npz
refuse 2 "--sample and --limit cannot be combined" "$BOUMA" query p.bouma p --sample 5 --limit 5
refuse 2 "--sample and --max-bytes" "$BOUMA" query p.bouma p --sample 5 --max-bytes 5K

# ---- pictures ----------------------------------------------------------------

expect 0 "$BOUMA" render p.bouma p --limit 2000 --size 64 -o out.png --json
jq -e '.count == 2000 and .answer.points == 2000 and .quality > 0.09 and .quality < 0.11' \
    <<<"$out" >/dev/null || complain "it said $out"
expect 0 "$BOUMA" render p.bouma p/mass --max-bytes 100K --size 64 -o out.png --json
jq -e '.answer.bytes <= 102400 and .answer.limit == "bytes" and .count == .answer.points' \
    <<<"$out" >/dev/null || complain "it said $out"
# All of them make the picture that is drawn without a budget.
expect 0 "$BOUMA" render p.bouma p --size 64 -o all.png
expect 0 "$BOUMA" render p.bouma p --size 64 --limit 1M -o out.png
same all.png out.png
refuse 2 "--limit is for particles" "$BOUMA" render patch.bouma grid/a --limit 5 -o no.png
refuse 2 "the budget is 1 bytes" "$BOUMA" render p.bouma p --max-bytes 1 -o no.png

finish
