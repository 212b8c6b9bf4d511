#!/bin/bash
# plan_loads.sh -- plans of particles, and of ranks that hold different loads.
source "$(dirname "$0")/common.bash"

# python "..." sees the output of the last command as o.
object()
{
    printf '%s' "$out" >.json
    python "o = json.load(open('.json'))
$1"
}

# Particles, in equal shares.
expect 0 "$BOUMA" plan --ranks 64 --particles 1M
# The last line has the seconds.
diff <(sed '$s/ *in .*//' <<<"$out") - <<'END' || complain "plan said: $out"
ranks    64, in 4 x 4 x 4 blocks
set      1048576 particles, 16.0 MiB raw, 16.0 MiB stored
a rank   16384 to 16384 particles, mean 1.638e+04
shipped  15.5 MiB, to the writers of files, in 62 messages and 4 rounds
files    4, written by 4 ranks; assign=split place=spread
sizes    4.0 MiB to 4.0 MiB, mean 4.0 MiB; largest over mean 1.000
planned
END

# Clusters, by every scheme: those that cut ranks have files alike.
expect 0 "$BOUMA" plan --ranks 512 --particles 4M --clustered --files 16 \
    --type f64 --components 4 --compare --json
object "
s = {p['assign']: p for p in o['schemes']}
assert len(s) == len(o['schemes']) == 8, s.keys()
for p in s.values():
    assert p['particles'] == 2**22 and p['raw_bytes'] == 2**22 * 56
    assert p['stored_bytes'] == p['raw_bytes'] and 'patches' not in p
    r = p['particles_per_rank']
    assert r['min'] * 100 < r['max'] and r['mean'] == 2**13
assert s['split']['files'] == s['kdtree']['files'] == 16
assert s['split']['balance'] < 1.2 < s['kdtree']['balance']
assert s['kdtree']['balance'] < s['count']['balance']
assert s['single']['files'] == 1 and s['per-rank']['files'] == 512"

# A table of counts; with a number of particles it tells their proportions.
printf '10, 20\n30\n0\n' >counts.txt
expect 0 "$BOUMA" plan --ranks 4 --counts counts.txt --assign per-rank --json
object "
assert o['particles'] == 60 and o['files'] == 3, o
assert o['particles_per_rank'] == {'min': 0, 'mean': 15.0, 'max': 30}
assert (o['smallest_file'], o['largest_file']) == (160, 480)"
expect 0 "$BOUMA" plan --ranks 4 --counts counts.txt --particles 600 --json
object "assert o['particles'] == 600 and o['particles_per_rank']['max'] == 300"
expect 1 "$BOUMA" plan --ranks 5 --counts counts.txt
[[ $err == *"no number of particles for rank 4 of 5"* ]] || complain "$err"
expect 1 "$BOUMA" plan --ranks 3 --counts counts.txt
[[ $err == *"more than 3 numbers"* ]] || complain "$err"
for bad in '1 2 x 4' '1 2 -3 4' '1 2 3.5 4' '1 2 3 4x' '99999999999999999999 1 1 1' '0 0 0 0'; do
    echo "$bad" >bad.txt
    expect 1 "$BOUMA" plan --ranks 4 --counts bad.txt
done
expect 2 "$BOUMA" plan --ranks 4 --counts missing.txt

# Sizes of a small grid of ranks, for the same ranks and for more of them.
cat >sizes.json <<'END'
{"format": "bouma-size-grid", "ranks": [2, 1, 1], "variables": [
 {"name": "T", "bytes": [1000000, 2000000]},
 {"name": "p", "bytes": [0, 1000000]}]}
END
expect 0 "$BOUMA" plan --ranks 2 --blocks 1,1,2 --shape 64,64,128 \
    --sizes sizes.json --assign per-rank --json
object "
assert o['files'] == 2
assert 0 <= o['smallest_file'] - 1000000 < 1000, o
assert 0 <= o['largest_file'] - 3000000 < 1000, o"
expect 0 "$BOUMA" plan --ranks 4 --blocks 1,1,4 --shape 64,64,256 \
    --sizes sizes.json --json
object "assert 0 <= o['stored_bytes'] - 8000000 < 4000, o"
echo '{"format": "bouma-size-grid", "ranks": [2, 1, 1]}' >bad.json
expect 1 "$BOUMA" plan --ranks 2 --shape 64,64,64 --sizes bad.json
[[ $err == *"bad.json: there are no variables"* ]] || complain "$err"

# What does not go together.
expect 2 "$BOUMA" plan --ranks 4
expect 2 "$BOUMA" plan --ranks 4 --shape 64,64 --clustered
expect 2 "$BOUMA" plan --ranks 4 --shape 64,64 --assign kdtree
expect 2 "$BOUMA" plan --ranks 4 --particles 0
expect 2 "$BOUMA" plan --ranks 4 --particles 9 --sizes sizes.json
expect 2 "$BOUMA" plan --ranks 4 --counts counts.txt --clustered
expect 2 "$BOUMA" plan --ranks 4 --shape 64,64 --sizes sizes.json --vary 2
for option in '--patch 8' '--layout hz' '--vary 2' '--distribute none' '-o out.png'; do
    # shellcheck disable=SC2086
    expect 2 "$BOUMA" plan --ranks 4 --particles 9 $option
done
finish
