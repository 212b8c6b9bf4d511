#!/bin/bash
# import_memory.sh -- an import takes memory for the particles once and for a
# file being sorted, whatever a file claims to hold; more than --memory-limit is
# refused before it is taken.
source "$(dirname "$0")/common.bash"

# n particles of 20 bytes, in a compressed file: its members are written as
# given, by a deflate that is quick.
python "
import io, zipfile
def save(path, level, **arrays):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        for name, a in arrays.items():
            f = io.BytesIO()
            np.save(f, a)
            z.writestr(name + '.npy', f.getvalue())
r = np.random.default_rng(3)
n = 8 << 20
tile = r.random((n // 256, 3), dtype='f4')
save('real.npz', 1, position=np.tile(tile, (256, 1)), m=np.arange(n) / 1024)
zeros = np.zeros(4 << 20, 'f4')
save('bomb.npz', 9, x=zeros, y=zeros, z=zeros)
a = np.zeros((64, 64, 64), '>f8')
np.save('swapped.npy', a)"

# peak COMMAND...: as expect 0, with the most bytes of memory it had in $peak.
peak()
{
    "$PYTHON" -c "
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=open('.peak', 'w'))
sys.exit(status)" "$@" >.out 2>.err
    status=$?
    peak=$(<.peak)
    # A sanitizer has memory of its own, for each byte and for what was freed.
    grep -q __asan_init "$BOUMA" && peak=0
}

data=$((20 * 8 << 20))
peak "$BOUMA" import real.npz --particles p --into real.bouma --json
[[ $status -eq 0 ]] || complain "it said: $(<.err)"
python "
o = json.load(open('.out'))
assert o['count'] == 8 << 20 and o['raw_bytes'] == $data, o
assert o['files'] > 1, o"
[[ $peak -lt $((data * 11 / 4)) ]] ||
    complain "$data bytes of particles took $peak bytes of memory"

# The need is known before anything is inflated.
peak "$BOUMA" import bomb.npz --particles p --into bomb.bouma --memory-limit 64M
[[ $status -eq 1 ]] || complain "a large file was imported: $status"
[[ $(<.err) == *"bomb.npz: 4194304 particles of 12 bytes need about "*"may be used; \
raise --memory-limit"* ]] || complain "it said: $(<.err)"
[[ $peak -lt $((40 << 20)) ]] || complain "it took $peak bytes to be refused"
[[ ! -e bomb.bouma ]] || complain "it made a dataset"
expect 0 "$BOUMA" import bomb.npz --particles p --into bomb.bouma \
    --memory-limit 1G

# The environment says it as well; the command line has the last word.
BOUMA_OPTIONS="memory_limit=64M" refuse 1 "at most 64.0 MiB may be used" \
    "$BOUMA" import bomb.npz --particles p --into said.bouma
BOUMA_OPTIONS="memory_limit=1M" expect 0 "$BOUMA" import bomb.npz \
    --particles p --into said.bouma --memory-limit 1G
BOUMA_OPTIONS="file_size=100M" expect 0 "$BOUMA" import real.npz \
    --particles p --into said.bouma
[[ $out == *" in 2 files"* ]] || complain "it said '$out'"

refuse 1 "takes 2.0 MiB of memory, and at most 1.0 MiB may be used" \
    "$BOUMA" import swapped.npy --into swapped.bouma --memory-limit 1M
expect 0 "$BOUMA" import swapped.npy --into swapped.bouma --memory-limit 3M
refuse 2 '--memory-limit is "much"; it can be bytes' "$BOUMA" import \
    swapped.npy --into swapped.bouma --memory-limit much

# A member cannot hold more than deflate can make of its bytes.
python "
b = bytearray(open('bomb.npz', 'rb').read())
at = b.find(b'PK\x01\x02')
b[at + 24:at + 28] = (4096 << 20 >> 1).to_bytes(4, 'little')
open('forged.npz', 'wb').write(b)"
refuse 1 "claims to have 2147483648 bytes" "$BOUMA" import forged.npz \
    --particles p --into forged.bouma
[[ ! -e forged.bouma ]] || complain "it made a dataset"
finish
