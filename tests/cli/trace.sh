#!/bin/bash
# trace.sh -- BOUMA_TRACE: what each process did when, as JSON that Perfetto
# reads. The trace is sound, tells of all bytes, and never fails a command.
source "$(dirname "$0")/common.bash"

cat >check_trace.py <<'END'
import json, os, sys
path, ranks = sys.argv[1], int(sys.argv[2])
trace = json.load(open(path))
assert trace['otherData']['ranks'] == ranks, trace['otherData']
events = trace['traceEvents']
assert {e['ph'] for e in events} == {'M', 'X'}
assert {e['pid'] for e in events} == set(range(ranks))
tracks = {(e['pid'], e['tid']) for e in events if e['name'] == 'thread_name'}
spans = [e for e in events if e['ph'] == 'X']
assert {(e['pid'], e['tid']) for e in spans} <= tracks
open_spans = {}
for e in spans:  # in order on each track; each inside the last or behind it
    begin, end = round(1e3 * e['ts']), round(1e3 * (e['ts'] + e['dur']))
    stack = open_spans.setdefault((e['pid'], e['tid']), [])
    while stack and stack[-1] <= begin:
        stack.pop()
    assert not stack or end <= stack[-1], e
    stack.append(end)
    assert begin >= 0 and end >= begin, e
names = {(e['pid'], e['name']) for e in spans}
for rank in range(ranks):
    for name in sys.argv[3].split(','):
        assert (rank, name) in names, (rank, name)
if len(sys.argv) > 4:
    folder, written = sys.argv[4], {}
    for e in spans:
        if e['name'] == 'write':
            file = e['args']['file']
            written[file] = written.get(file, 0) + e['args']['bytes']
    step = os.path.join(folder, 'steps', sorted(os.listdir(folder + '/steps'))[0])
    for file in os.listdir(step):
        if file != 'manifest':
            name = os.path.relpath(os.path.join(step, file), folder)
            assert written[name] == os.path.getsize(os.path.join(step, file)), name
END

check()
{
    "$PYTHON" check_trace.py "$@" 2>.why || complain "$1: $(<.why)"
}

python "np.save('rho.npy', np.arange(40*50*60, dtype='f4').reshape(40, 50, 60))"

# Off: no file.
expect 0 "$BOUMA" import rho.npy --into off.bouma
[[ ! -e t.json ]] || complain "there is a trace that nobody asked for"

BOUMA_TRACE=t.json expect 0 "$BOUMA" import rho.npy --into a.bouma
check t.json 1 describe,plan,distribute,"shape grids",assign,ship,store,commit,"write step","encode chunk" a.bouma
# The sums, as text, JSON and a picture.
expect 0 "$BOUMA" trace t.json
grep -q '^stage  *shape grids  *1 ' <<<"$out" || complain "no sum of a stage: $out"
! grep -q '^file' <("$BOUMA" trace t.json --kind stage) || complain "--kind is ignored"
expect 0 "$BOUMA" trace t.json --json
echo "$out" >out.txt
"$PYTHON" -c "
import json
sums = {(e['kind'], e['name']): e for e in json.load(open('out.txt'))['events']}
spans = [e for e in json.load(open('t.json'))['traceEvents'] if e['ph'] == 'X']
for (kind, name), e in sums.items():
    own = [s for s in spans if (s['cat'], s['name']) == (kind, name)]
    assert e['events'] == len(own), e
    assert abs(e['slowest'] - 1e-6 * sum(s['dur'] for s in own)) < 1e-6, e
    assert e['bytes'] == sum(s['args'].get('bytes', 0) for s in own if 'args' in s), e
assert sum(e['events'] for e in sums.values()) == len(spans)" 2>.why || complain "sums: $(<.why)"
expect 0 "$BOUMA" trace t.json -o t.png
[[ $(head -c 4 t.png | tail -c 3) == PNG ]] || complain "no picture"
refuse 1 'not a trace written by bouma' "$BOUMA" trace rho.npy
refuse 2 'No such file' "$BOUMA" trace nothing.json
refuse 2 'kind' "$BOUMA" trace t.json --kind walk
sed 's/"dur":/"dur":-/' t.json >hurt.json
refuse 1 'is damaged' "$BOUMA" trace hurt.json
sed 's/"pid":0/"pid":99999999999/' t.json >hurt.json
refuse 1 'is damaged' "$BOUMA" trace hurt.json

# Forged ones: told in one line, or summed up; never more.
forged()
{
    "$PYTHON" - "$1" <<'END'
import sys
text = open('t.json').read()
first = text.index('{"ph":"X"')
def line(pid=0, name='b', ts='1', dur='1', rest='}'):
    return '{"ph":"X","pid":%s,"tid":0,"cat":"stage","name":"%s","ts":%s,"dur":%s%s,\n' % (pid, name, ts, dur, rest)
def with_line(*args, **kw):
    return text[:first] + line(*args, **kw) + text[first:]
forged = {
    'empty': '', 'cut': text[:first + 40], 'no_end': text[:text.rindex(',\n{') + 2],
    'more': text + 'more', 'binary': '{"otherData":{"writer":"bouma"\n' + '\0\xff\n' * 99,
    'nan': with_line(ts='nan'), 'inf': with_line(dur='inf'), 'far': with_line(ts='1e300'),
    'negative': with_line(ts='-1'), 'less': with_line(pid='-1'), 'bytes': with_line(rest=',"args":{"bytes":-1}}'),
    'many': with_line(rest=',"args":{"bytes":99999999999999999999}}'),
    'long': with_line(rest=',"args":{"file":"' + 'x' * 9999 + '","bytes":7}}'),
    'name': with_line(name='x' * 40), 'control': with_line(name='\x1b[31mred'),
    'back': text.replace('\n]}', ',\n' + line(5) + line(4).rstrip(',\n') + '\n]}'),
    'kinds': text[:first] + ''.join(line(name='k%d' % i) for i in range(300)) + text[first:],
    'last': text.replace('\n]}', ',\n' + line(2**24 - 1).rstrip(',\n') + '\n]}'),
    'zero': text[:first] + line(ts='0', dur='0').rstrip(',\n') + '\n]}\n'}
open('forged.json', 'w', encoding='latin-1').write(forged[sys.argv[1]])
END
}
forged empty
refuse 1 'not a trace written by bouma' "$BOUMA" trace forged.json
for kind in cut no_end more binary nan inf far negative less bytes many long name control back; do
    forged $kind
    refuse 1 'is damaged' "$BOUMA" trace forged.json
done
forged kinds
refuse 1 'more than 256 kinds' "$BOUMA" trace forged.json
for kind in last zero; do
    forged $kind
    expect 0 "$BOUMA" trace forged.json -o forged.png
done
refuse 1 '.' "$BOUMA" trace .

# Another process replaces it; the option is the same as the variable.
BOUMA_TRACE=t.json expect 0 "$BOUMA" read a.bouma grid/rho -o out.npy
check t.json 1 "read boxes of all",fetch,"decode chunk",read
BOUMA_OPTIONS=trace=o.json expect 0 "$BOUMA" info a.bouma
check o.json 1 "open step",read
[[ ! -e t-2.json ]] || complain "a trace of another process was kept"

BOUMA_TRACE=v.json expect 0 "$BOUMA" verify a.bouma
check v.json 1 read
rm v.json

# What is no trace is not replaced; the command does its work and tells.
cp rho.npy mine.npy
BOUMA_TRACE=mine.npy expect 0 "$BOUMA" read a.bouma grid/rho -o again.npy
[[ $err == *"mine.npy: the trace was not written"* ]] || complain "stderr: $err"
cmp -s rho.npy mine.npy || complain "a file that is no trace was replaced"
cmp -s out.npy again.npy || complain "another array was read"
BOUMA_TRACE=no/where.json expect 0 "$BOUMA" import rho.npy --into b.bouma
[[ $err == *"no/where.json: the trace could not be written"* ]] || complain "stderr: $err"

if [[ -n ${BOUMA_MPI:-} && -n ${MPIRUN:-} ]]; then
    BOUMA_TRACE=m.json expect 0 $MPIRUN -n 3 "$BOUMA_MPI" import rho.npy --into m.bouma
    check m.json 3 describe,plan,ship,store,commit,reduce m.bouma
    BOUMA_TRACE=m.json expect 0 $MPIRUN -n 2 "$BOUMA_MPI" read m.bouma grid/rho -o m.npy
    check m.json 2 "open step",reduce

    BOUMA_TRACE=v.json expect 0 $MPIRUN -n 2 "$BOUMA_MPI" verify m.bouma
    check v.json 2 reduce
    BOUMA_TRACE=no/where.json expect 0 $MPIRUN -n 2 "$BOUMA_MPI" verify m.bouma
    [[ $out$err == *"no/where.json: the trace could not be written"* ]] || complain "verify: $out $err"
    # Draining is not traced, whoever opens what for it.
    mkdir near
    BOUMA_OPTIONS=persist=1,local=$PWD/near expect 0 "$BOUMA" import rho.npy --into p.bouma
    BOUMA_TRACE=p.json expect 0 $MPIRUN -n 2 "$BOUMA_MPI" drain near/p.bouma p.bouma --remove
    [[ -z $(ls p*.json 2>/dev/null) ]] || complain "a drain was traced: $(ls p*.json)"

    # Of one rank only: all are told, and none waits for the others.
    cat >on_one.sh <<'END'
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ "$rank" = "$1" ] && export BOUMA_TRACE=one.json
shift
exec "$@"
END
    # on_one RANK COMMAND TEXT: bouma-mpi on two ranks fails, and says TEXT.
    on_one()
    {
        # shellcheck disable=SC2086  # words
        run timeout 60 $MPIRUN -n 2 sh on_one.sh "$1" "$BOUMA_MPI" $2
        [[ $status -ne 0 && $status -ne 124 && $err == *"$3"* ]] ||
            complain "trace on rank $1, $2: $status: $err"
    }
    on_one 0 "read m.bouma grid/rho -o one.npy" "'trace'"
    on_one 1 "read m.bouma grid/rho -o one.npy" "'trace'"
    on_one 0 "query m.bouma grid" "'trace'"
    on_one 1 "render m.bouma grid/rho -o one.png" "'trace'"
    on_one 0 "verify m.bouma" "'trace'"
    on_one 0 "read m.bouma grid/rho -o one.what" "one.what"
fi
finish
