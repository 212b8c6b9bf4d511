#!/bin/bash
# bench.sh -- sizes of a dataset, and buffers of these sizes through all pipelines.
source "$(dirname "$0")/common.bash"
do_not_sync
BOUMA_MPI=$(cd "$OLDPWD" && realpath "${BOUMA_MPI:-/none}")
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}

on()
{
    local ranks=$1
    shift
    # shellcheck disable=SC2086  # MPIRUN is a command with arguments
    timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
}

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

# ---- size-grid ---------------------------------------------------------------

# Noise in one half of x, nothing in the other; patches lie across all borders.
python "
r = np.random.default_rng(3)
a = np.zeros((20, 30, 40), 'f4')
a[:, :, :20] = r.random((20, 30, 20))
np.save('a.npy', a)
np.save('b.npy', r.random((20, 30, 40)))
np.savez('p.npz', position=r.random((500, 3)).astype('f4') ** 2, mass=r.random(500))"
expect 0 "$BOUMA" import a.npy b.npy --into run.bouma --patch 16 --files 3
expect 0 "$BOUMA" import p.npz --particles dust --into run.bouma --step 1
expect 0 "$BOUMA" size-grid run.bouma --step 0 --ranks 2,2,3 -o sizes.json
[[ $out == "sizes.json: 2 variables, "*" on 2,2,3 ranks" ]] || complain "$out"
expect 0 "$BOUMA" info run.bouma --step 0 --json
object "
s = json.load(open('sizes.json'))
assert s['format'] == 'bouma-size-grid' and s['ranks'] == [3, 2, 2]
assert [v['name'] for v in s['variables']] == ['grid/a', 'grid/b']
stored = {'grid/' + v['name']: v['stored_bytes']
          for v in o['steps'][0]['objects'][0]['variables']}
for v in s['variables']:
    assert len(v['bytes']) == 12 and sum(v['bytes']) == stored[v['name']]
a = s['variables'][0]['bytes']
assert all(a[3 * i] > 4 * a[3 * i + 2] for i in range(4))  # x runs fastest"
expect 0 "$BOUMA" size-grid run.bouma --ranks 2 --json -o particles.json
object "
s = json.load(open('particles.json'))
assert o['step'] == 1 and o['ranks'] == [2, 1, 1] and o['variables'] == 2
for v in s['variables']:  # more than half of the squares are below the middle
    assert 0.6 < v['bytes'][0] / sum(v['bytes']) < 0.8
assert o['bytes'] == sum(sum(v['bytes']) for v in s['variables'])"
expect 0 "$BOUMA" size-grid run.bouma grid/b --step 0 --ranks 1,1 -o -
object "assert len(o['variables']) == 1 and len(o['variables'][0]['bytes']) == 1"
refuse 2 "say where" "$BOUMA" size-grid run.bouma
refuse 2 "is not as 1,2,4 (NZ,NY,NX" "$BOUMA" size-grid run.bouma --ranks 4x2 -o x.json
refuse 2 "there can be" "$BOUMA" size-grid run.bouma --ranks 5000,5000 -o x.json
refuse 2 "standard output" "$BOUMA" size-grid run.bouma --json -o -
refuse 2 "no step 7" "$BOUMA" size-grid run.bouma --step 7 -o x.json
[[ ! -e x.json ]] || complain "a file of a failed call"

# ---- bench, one process ------------------------------------------------------

mkdir target
quick=(--repetitions 2 --warm-up 0 --verify)
expect 0 "$BOUMA" bench io target "${quick[@]}" --bytes 5000 --variables 3 --json -o b.png
object "
assert o['ranks'] == 1 and o['bytes'] == 5000 and o['verified'] and o['load'] == 'uniform'
assert [(r['pipeline'], r['operation']) for r in o['results']] == [
    (p, k) for p in ('file-per-process', 'count', 'running', 'optimal')
    for k in ('write', 'read')]
for r in o['results']:
    assert r['ranks'] == r['files'] == 1 and r['bytes'] == r['largest_file'] == 5000
    assert len(r['times']) == 2 and min(r['times']) > 0
    assert abs(r['seconds'] - sum(r['times']) / 2) < 1e-9
    assert abs(r['spread'] - (max(r['times']) - min(r['times']))) < 1e-9"
[[ $(head -c 4 b.png | tail -c 3) == PNG ]] || complain "no picture"
[[ -z $(ls target) ]] || complain "left behind: $(ls target)"
expect 0 "$BOUMA" bench io target --no-read --repetitions 1 --load hacc --pipeline count
[[ $out == *"load hacc: 927.7 KiB"*WRITE* && $out != *" READ "* ]] || complain "$out"

# What is in the files follows from the formula that is documented in content.c.
expect 0 "$BOUMA" bench io target "${quick[@]}" --bytes 1003 --variables 2 --keep
python "
import glob, sys
def mix(x):
    M = (1 << 64) - 1
    x = (x + 0x9e3779b97f4a7c15) & M
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & M
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & M
    return x ^ x >> 31
def content(rank, variable, n):
    key = mix(rank << 24 ^ variable)
    words = (mix((key + i * 0x9e3779b97f4a7c15) & ((1 << 64) - 1)) for i in range(n // 8 + 1))
    return b''.join(w.to_bytes(8, sys.byteorder) for w in words)[:n]
files = sorted(glob.glob('target/bouma-bench/*/*'))
assert len(files) == 4, files
for f in files:
    assert open(f, 'rb').read() == content(0, 0, 502) + content(0, 1, 501), f"
refuse 2 "exists already" "$BOUMA" bench io target
[[ $(ls target/bouma-bench/*/* | wc -l) -eq 4 ]] || complain "files were touched"
rm -r target/bouma-bench

# ---- bench write -------------------------------------------------------------

expect 0 "$BOUMA" bench write target "${quick[@]}" --bytes 4000 --planning local
refuse 2 "planning" "$BOUMA" bench write target "${quick[@]}" --bytes 4000 --planning local --place cost
refuse 2 "planning" "$BOUMA" bench io target "${quick[@]}" --bytes 4000 --planning local

expect 0 "$BOUMA" bench write target "${quick[@]}" --block 20,10,30 --tolerance 1e-3 --load s3d --variables 3 \
    --json -o b.png
object "
assert o['ranks'] == 1 and o['bytes'] == 20 * 10 * 30 * 3 * 4 and o['verified']
write, read = o['results']
assert (write['operation'], read['operation']) == ('write', 'read')
assert 0 < write['stored_bytes'] < o['bytes'] and write['files'] == 1
assert set(write['phases']) >= {'describe', 'plan', 'distribute', 'shape', 'ship', 'store', 'commit'}"
[[ -z $(ls target) ]] || complain "left behind: $(ls target)"
expect 0 "$BOUMA" bench write target "${quick[@]}" --load boiler --bytes 68K --files 1 --codec raw
[[ $out == *"load boiler: 68.0 KiB"*phases:*commit* ]] || complain "$out"
expect 0 "$BOUMA" bench write target "${quick[@]}" --bytes 4000 --layout hz --hz-template ranks --keep
expect 0 "$BOUMA" verify target/bouma-bench/steps/run.bouma deep
expect 0 "$BOUMA" info target/bouma-bench/steps/run.bouma --json
object "
steps = o['steps']  # that of the last repetition
assert len(steps) == 1 and steps[0]['objects'][0]['layout'] == 'hz'
assert steps[0]['objects'][0]['shape'] == [10, 10, 10]"
rm -r target/bouma-bench
for by in '--files node' '--files node:2' '--assign per-node'; do
    # shellcheck disable=SC2086
    expect 0 "$BOUMA" bench write target "${quick[@]}" --bytes 4000 $by
done
refuse 2 "whole number" "$BOUMA" bench io target --files node
refuse 2 "node:1 to" "$BOUMA" bench write target --files node:x
refuse 2 'is for `bench io`' "$BOUMA" bench write target --sizes sizes.json
refuse 2 'is for `bench io`' "$BOUMA" bench write target --pipeline count
refuse 2 'is for `bench write`' "$BOUMA" bench io target --codec raw
refuse 2 'is for `bench write`' "$BOUMA" bench io target --assign optimal
refuse 2 "neither a grid nor particles" "$BOUMA" bench write target --load random
refuse 2 "is for grids" "$BOUMA" bench write target --load dam --patch 16
refuse 2 "for grids" "$BOUMA" bench write target --assign kdtree
refuse 2 "cannot be combined" "$BOUMA" bench write target --block 8,8,8 --bytes 8
refuse 2 "has 3 axes" "$BOUMA" bench write target --block 8,8
refuse 2 "can be checked" "$BOUMA" bench write target --load dam --tolerance 1 --verify
refuse 1 "no memory for the" "$BOUMA" bench write target --block 1048576,1048576,1
[[ -z $(ls target) ]] || complain "left behind: $(ls target)"

refuse 2 "no benchmark 'oi'" "$BOUMA" bench oi target
refuse 2 "there is no directory" "$BOUMA" bench io not/there
refuse 2 "MPI; run bouma-mpi" "$BOUMA" bench io target --pipeline collective
refuse 2 "given twice" "$BOUMA" bench io target --pipeline count --pipeline count
refuse 2 "there is none" "$BOUMA" bench io target --pipeline cuont
refuse 2 "cannot be combined" "$BOUMA" bench io target --verify --no-read
refuse 2 "cannot be combined" "$BOUMA" bench io target --sizes sizes.json --seed 1
refuse 2 "is no series" "$BOUMA" bench io target --time 0.5
refuse 2 "from 0 to 1" "$BOUMA" bench io target --load dam --time 2
refuse 2 "has its own" "$BOUMA" bench io target --load hacc --variables 2
refuse 2 "but 1 run" "$BOUMA" bench io target --ranks 1,1,2
refuse 2 "just 1 ranks" "$BOUMA" bench io target --files 2
refuse 1 "no memory for the" "$BOUMA" bench io target --bytes 1P
echo '{"format": "bouma-size-grid", "ranks": [2, 1, 1], "variables": []}' >bad.json
refuse 1 "bad.json: there are no variables" "$BOUMA" bench io target --sizes bad.json
# A disk that takes no more: a file may have 8 KiB.
limited()
{
    (
        trap '' XFSZ
        ulimit -f 8
        "$@"
    )
}
for pipeline in file-per-process optimal; do
    run limited "$BOUMA" bench io target --bytes 1M --pipeline $pipeline
    [[ $status -eq 1 && $err == *bouma-bench* ]] || complain "$status: $err"
done
[[ -z $(ls target) ]] || complain "left behind: $(ls target)"

# ---- bench, several ----------------------------------------------------------

if [[ -x $BOUMA_MPI ]]; then
    for ranks in 1 3 8; do
        expect 0 on $ranks bench io target --sizes sizes.json --repetitions 1 \
            --warm-up 0 --verify --files $(((ranks + 1) / 2)) --json
        object "
assert o['ranks'] == $ranks and o['verified'] and o['variables'] == 2
names = [r['pipeline'] for r in o['results']]
assert set(names) >= {'file-per-process', 'collective', 'group-collective', 'count', 'running', 'optimal'}
files = {r['pipeline']: r['files'] for r in o['results']}
assert files['file-per-process'] == $ranks and files['collective'] == 1
for p in 'group-collective', 'count', 'running', 'optimal':
    assert files[p] == ($ranks + 1) // 2
largest = {r['pipeline']: r['largest_file'] for r in o['results']}
assert largest['optimal'] <= min(largest['count'], largest['running'])
assert largest['collective'] == o['bytes']"
        [[ -z $(ls target) ]] || complain "left behind: $(ls target)"
    done
    for load in s3d boiler; do
        expect 0 on 3 bench write target --load $load --bytes 40K --repetitions 1 --warm-up 0 --verify \
            --files 2 --json
        object "
assert o['ranks'] == 3 and o['verified'] and o['load'] == '$load'
assert [r['files'] for r in o['results']] == [2, 2]"
        [[ -z $(ls target) ]] || complain "left behind: $(ls target)"
    done
    # On the ranks of the size grid, the sizes are those of the file.
    expect 0 on 12 bench io target --sizes sizes.json --ranks 2,2,3 --no-read --repetitions 1 \
        --warm-up 0 --pipeline file-per-process --json
    object "
s = json.load(open('sizes.json'))
ranks = [sum(b) for b in zip(*(v['bytes'] for v in s['variables']))]
assert o['bytes'] == sum(ranks) and o['largest_rank'] == max(ranks)"
    # One rank alone has too much to hold.
    echo '{"format": "bouma-size-grid", "ranks": [3, 1, 1], "variables": [
        {"name": "T", "bytes": [5, 9007199254740992, 5]}]}' >huge.json
    run on 3 bench io target --sizes huge.json
    [[ $status -eq 1 && $err == *"that rank 1 has"* ]] || complain "$status: $err"
    [[ -z $(ls target) ]] || complain "left behind: $(ls target)"
fi
finish
