#!/bin/bash
# json_output.sh -- every command prints one JSON object, with the keys that
# are promised.
source "$(dirname "$0")/common.bash"

python "
a = np.arange(40 * 30 * 20, dtype='f4').reshape(40, 30, 20)
a[0, 0, 0] = np.nan
np.save('rho.npy', a)
np.save('big.npy', np.array([-2**63, 2**63 - 1]))
np.save('large.npy', np.array([2**63 - 1, 2**63, 2**64 - 1], dtype='u8'))
np.save('v.npy', np.arange(48, dtype='u8').reshape(4, 4, 3))"

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
assert isinstance(o, dict)
$1"
}

expect 0 "$BOUMA" import rho.npy --into run.bouma --step 3 --time 0.5 --files 2 \
    --patch 16 --attr code=solver --attr cells=24000 --attr dt=0.125 \
    --attr size=4K --unit K --origin 1,2,3 --spacing 0.5 --length-unit m --json
object "
assert o['created'] is True and o['step'] == 3 and o['time'] == 0.5
assert o['shape'] == [40, 30, 20] and o['variables'] == ['rho']
assert o['raw_bytes'] == 96000 and o['stored_bytes'] > 0 and o['files'] == 2
assert set(o['phases']) == {'describe', 'plan', 'distribute', 'shape', 'ship',
                            'store', 'commit'}"
expect 0 "$BOUMA" import big.npy --into run.bouma --json
object "assert o['created'] is False and o['step'] == 4 and o['time'] == 4"
expect 0 "$BOUMA" import v.npy --components 3 --into run.bouma --codec raw
# Of integers beyond 2^63 no digit is lost; texts that look odd stay as they are.
expect 0 "$BOUMA" import large.npy --into large.bouma \
    --attr seed=18446744073709551615 --attr limit=9223372036854775808 \
    --attr beyond=18446744073709551616 --attr most=9223372036854775807 \
    --attr odd='{"\u0001": "7"}' --attr odder=$'\x01": "8'
expect 0 "$BOUMA" info large.bouma --json
object "
s = o['steps'][0]
assert s['objects'][0]['variables'][0]['ranges'] == [
    {'min': 2**63 - 1, 'max': 2**64 - 1, 'nans': 0}]
a = s['attributes']
assert (a['seed'], a['limit'], a['most']) == (2**64 - 1, 2**63, 2**63 - 1)
assert all(isinstance(a[k], int) for k in ('seed', 'limit', 'most'))
assert a['beyond'] == 2.0**64
assert a['odd'] == '{\"\\\\u0001\": \"7\"}' and a['odder'] == '\x01\": \"8', a"
expect 0 "$BOUMA" info large.bouma
[[ $out == *"seed = 18446744073709551615"* &&
    $out == *"9223372036854775807 to 18446744073709551615"* ]] ||
    complain "info said: $out"


expect 0 "$BOUMA" info run.bouma --json
object "
assert isinstance(o['format_version'], str) and o['notes'] == []
assert [s['step'] for s in o['steps']] == [3, 4, 5]
for s in o['steps']:
    for key in 'time bytes files largest_file mean_file objects'.split():
        assert key in s, key
    assert s['ranks'] == 1 and 1 <= s['most_patches'] <= s['chunks'], s
    assert s['moved_messages'] == 0 and s['shipped_messages'] == 0
    assert 0 < s['mean_encode'] <= s['slowest_encode']
    assert s['predicted'] is False and s['misfits'] == 0
s = o['steps'][0]
assert set(s['phases']) == {'describe', 'plan', 'distribute', 'shape', 'ship',
                            'store'} # the commit is not over then
files = [os.path.getsize(os.path.join(folder, f))
         for folder, _, names in os.walk('run.bouma/steps/00000003')
         for f in names]
assert s['bytes'] == sum(files), (s['bytes'], files)
assert s['files'] == 2 and sum(s['file_bytes']) == s['stored_bytes']
assert s['largest_file'] == max(s['file_bytes'])
assert s['attributes'] == {'code': 'solver', 'cells': 24000, 'dt': 0.125,
                           'size': '4K'}
g = s['objects'][0]
assert (g['name'], g['kind'], g['layout']) == ('grid', 'grid', 'patch')
assert g['shape'] == [40, 30, 20] and g['patch'] == [16, 16, 16]
assert g['origin'] == [1, 2, 3] and g['spacing'] == [0.5] * 3
assert g['unit'] == 'm'
v = g['variables'][0]
assert (v['name'], v['type'], v['codec'], v['unit']) == ('rho', 'f32', 'zstd', 'K')
assert v['raw_bytes'] == 96000 and 0 < v['stored_bytes'] < 96000
assert v['max_error'] == 0 and v['levels'] == g['levels'] >= 3
assert v['ranges'] == [{'min': 1, 'max': 23999, 'nans': 1}]
v = o['steps'][1]['objects'][0]['variables'][0]
assert v['ranges'] == [{'min': -2**63, 'max': 2**63 - 1, 'nans': 0}]
v = o['steps'][2]['objects'][0]['variables'][0]
assert v['codec'] == 'raw' and v['components'] == 3 and len(v['ranges']) == 3
assert v['ranges'][2] == {'min': 2, 'max': 47, 'nans': 0}"

expect 0 "$BOUMA" info run.bouma --step 4 --json
object "assert [s['step'] for s in o['steps']] == [4]"

expect 0 "$BOUMA" read run.bouma grid/rho --step 3 --level 1 \
    --box 5:25,:,-4: -o out.npy --json
object "
assert o['bytes_read'] > 0 and o['files_opened'] > 0 and o['seconds'] > 0
assert o['shape'] == [10, 15, 2] and o['first'] == [6, 0, 16]
assert o['origin'] == [4, 2, 11] and o['spacing'] == [1, 1, 1]
assert o['level'] == 1 and o['type'] == 'f32' and o['dtype'] == '<f4'"
expect 0 "$BOUMA" read run.bouma grid/v --step 5 -o out.npy --json
object "assert o['shape'] == [4, 4, 3]"

for depth in '' quick meta full deep; do
    # shellcheck disable=SC2086  # an empty depth is no argument
    expect 0 "$BOUMA" verify run.bouma $depth --json
    object "assert o['sound'] is True and o['damages'] == 0 and o['steps'] == 3
assert o['findings'] == []"
done
expect 0 "$BOUMA" repair run.bouma --json
object "assert o['applied'] is False and o['actions'] == 0 == o['hopeless']"

expect 0 "$BOUMA" --version --json
object "assert o['version'] and o['libraries'] == {'hwloc': True, 'jansson': True, 'libpng': True, 'lz4': True, 'libmicrohttpd': True}
assert o['build']['mpi'] == 'no' and o['build']['zfp'][0].isdigit() and o['build']['compiler']"
expect 0 "$BOUMA" help --json
object "assert 'import' in [c['name'] for c in o['commands']]"
expect 0 "$BOUMA" completion bash --json
object "assert 'complete' in o['script']"

# Errors leave standard output alone, and are objects in lines of standard error.
# failure STATUS EXIT TEXT COMMAND...: that is what the last line says.
failure()
{
    local name=$1 status=$2 text=$3
    shift 3
    refuse "$status" "$text" "$@" --json
    python "
e = json.loads(open('.err').read())['error']
assert (e['status'], e['exit']) == ('$name', $status), e
assert '$text' in e['message'], e"
}
failure ENOTFOUND 2 'no variable' "$BOUMA" read run.bouma grid/x -o out.npy
failure ENOTFOUND 2 'no step 7' "$BOUMA" info run.bouma --step 7
failure ENOTFOUND 2 'none.bouma' "$BOUMA" info none.bouma
failure ENOTFOUND 2 'cannot read' "$BOUMA" import none.npy --into x.bouma
failure EINVAL 2 'no command' "$BOUMA" zzz
failure EINVAL 2 'no option --wrong' "$BOUMA" info run.bouma --wrong
failure EEXISTS 2 'step 3 exists' "$BOUMA" import rho.npy --step 3 --into run.bouma
printf 'x,y\n1,2\n' >short.csv
cp short.csv twice.csv
sed -i 1s/y/x/ twice.csv
failure EFORMAT 1 'two columns' "$BOUMA" import twice.csv --particles p \
    --into x.bouma
# So are notes.
expect 0 "$BOUMA" import rho.npy --patch 1024 --into run.bouma --json
python "
n = json.loads(open('.err').read())['note']
assert n['command'] == 'import' and 'is larger than the grid' in n['message'], n"

# What is not finite is text; null is what is not there.
python "
a = np.arange(64, dtype='f8')
a[3], a[5] = np.inf, -np.inf
np.save('wide.npy', a)
np.save('nan.npy', a * np.nan)
open('wide.csv', 'w').write('x,y,m\\n1,2,inf\\n3,4,nan\\n')"
expect 0 "$BOUMA" import wide.npy nan.npy --into wide.bouma --attr limit=inf
expect 0 "$BOUMA" import wide.csv --particles p --into wide.bouma --attr limit=inf
expect 0 "$BOUMA" info wide.bouma --json
object "
g, p = o['steps'][0]['objects'][0], o['steps'][1]['objects'][0]
wide, nan = g['variables']
assert wide['ranges'] == [{'min': '-inf', 'max': 'inf', 'nans': 0}], wide
assert float(wide['ranges'][0]['min']) == -np.inf
assert nan['ranges'] == [{'min': None, 'max': None, 'nans': 64}], nan
assert p['attributes'][0]['range'] == ['inf', 'inf'], p
# One meaning for each key of an object, whatever its kind.
assert [v['name'] for v in p['variables']] == ['position', 'm']
assert p['variables'][1:] == p['attributes'] and p['variables'][0] == p['position']
assert p['remarks'] == g['remarks'] == {} and 'attributes' not in g"
expect 0 "$BOUMA" query wide.bouma p --json
object "
m = [v for v in o['variables'] if v['name'] == 'm'][0]
assert m['ranges'] == [{'min': 'inf', 'max': 'inf', 'nans': 1}], m"
finish
