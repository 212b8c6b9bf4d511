#!/bin/bash
# probe.sh -- a machine is measured, and its machine file can be read.
source "$(dirname "$0")/common.bash"
BOUMA_MPI=$(cd "$OLDPWD" && realpath "${BOUMA_MPI:-/none}")

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

mkdir target local
small=(--tries 1 --bytes 64K)
expect 0 "$BOUMA" probe "${small[@]}"
[[ $out == "1 rank on 1 node, in "*memory* ]] || complain "said: $out"
[[ $out != *storage* && $out != *network* ]] || complain "said: $out"

expect 0 "$BOUMA" probe "${small[@]}" --target target --local local --json \
    -o here.machine
object "
assert o['ranks'] == o['nodes'] == 1 and o['file'] == 'here.machine'
assert o['network'] is None and o['seconds'] > 0
assert o['windows'] is o['messages'] is o['transport'] is None
for what in 'dram', 'local', 'target':
    assert o[what]['latency'] > 0 and o[what]['bandwidth'] > 0"
[[ -z $(find target local -type f) ]] || complain "files are left behind"
[[ $(sed -n 2p here.machine) == "machine 1" ]] || complain "$(<here.machine)"
grep -q '^tier dram latency .* bandwidth .*B/s' here.machine || complain "dram"
grep -q '^tier local .* path "local"$' here.machine || complain "local"
grep -q '^target latency ' here.machine || complain "target"
! grep -q '^network' here.machine || complain "network of one process"
! grep -q 'transport' here.machine || complain "transport of one process"

expect 0 "$BOUMA" probe "${small[@]}" -o -
[[ $out == "# Measured by 1 rank on 1 node"*"machine 1"*"tier dram"* ]] ||
    complain "said: $out"

expect 0 "$BOUMA" probe "${small[@]}" --work --json -o work.machine
object "
w = o['work']
assert all(rate > 0 for rate in w.values())
for name in 'copy', 'sort', 'forward', 'zstd encode', 'zstd decode_list', 'interp decode', 'quantise encode_list':
    assert name in w, name
assert 'raw encode' not in w and 'quantise encode' not in w"
grep -q '^work sort rate .*B/s$' work.machine || complain "sort"
grep -q '^codec interp encode .*B/s decode .*B/s$' work.machine || complain "interp"
expect 0 "$BOUMA" plan --shape 64,64,64 --ranks 8 --machine work.machine
! grep -q '^work\|^codec' here.machine || complain "work that was not asked for"

refuse 2 "no such file" "$BOUMA" probe "${small[@]}" --target not/there
refuse 2 "1 to 100" "$BOUMA" probe --tries 101
refuse 2 "whole number" "$BOUMA" probe --bytes lots
refuse 2 "must have 1 to" "$BOUMA" probe --local ""
refuse 2 "cannot be written" "$BOUMA" probe --local 'a"b'

if [[ -x $BOUMA_MPI ]]; then
    # shellcheck disable=SC2086  # MPIRUN is a command with arguments
    for ranks in 2 5; do
        expect 0 timeout 1800 $MPIRUN -n $ranks "$BOUMA_MPI" probe \
            "${small[@]}" --target target -o many.machine --json
        object "
assert o['ranks'] == $ranks and o['nodes'] == 1
assert o['network']['latency'] > 0 and o['network']['bandwidth'] > 0
w, m = o['windows']['bandwidth'], o['messages']['bandwidth']
assert w > 0 and m > 0
assert o['transport'] == ('windows' if w >= m else 'messages')
lines = open('many.machine').read().split('\n')
assert 'transport ' + o['transport'] in lines
assert lines[1].startswith('# One rank gathers ')"
        grep -q '^network latency .* bandwidth' many.machine || complain "network"
    done
    expect 0 "$BOUMA" plan --ranks 8 --shape 64,64 --place cost \
        --machine many.machine
    # shellcheck disable=SC2086
    expect 0 timeout 1800 $MPIRUN -n 2 "$BOUMA_MPI" probe "${small[@]}"
    [[ $out == *"gathering by windows"*"gathering by messages"* ]] ||
        complain "said: $out"
    # shellcheck disable=SC2086
    run timeout 1800 $MPIRUN -n 3 "$BOUMA_MPI" probe --target not/there
    [[ $status -ne 0 && $err == *"no such file"* ]] || complain "said: $err"
fi
finish
