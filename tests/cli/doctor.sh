#!/bin/bash
# doctor.sh -- what the installation has, and what is wrong with it or with a dataset.
source "$(dirname "$0")/common.bash"

expect 0 "$BOUMA" doctor
version=$("$BOUMA" --version | head -n 1)
[[ $out == "version       $version"$'\n'*codecs*zstd*interp*options*none*file_system*'no problems' ]] ||
    complain "$out"
mkdir here
expect 0 "$BOUMA" doctor here --json
jq -e '.path == "here" and .writable and .problems == [] and .free >= 0 and .processes == 1 and
    (.codecs | index("zstd")) != null and .options == {} and (has("steps") | not)' <<<"$out" >/dev/null ||
    complain "$out"

# The environment: what it sets, and its mistakes.
export BOUMA_OPTIONS='files=3;order=chunk;threads=5;memory_limit=64M'
expect 0 "$BOUMA" doctor --json
jq -e '.options == {"files": "3", "order": "chunk", "threads": "5", "memory_limit": "67108864"} and
    .threads == 5 and .memory == 67108864' <<<"$out" >/dev/null || complain "$out"
expect 0 "$BOUMA" doctor
[[ $out == *'files=3; order=chunk; memory_limit=67108864; threads=5'$'\n'* ]] || complain "$out"
BOUMA_OPTIONS='fils=3' expect 1 "$BOUMA" doctor
[[ $out == *'problem       BOUMA_OPTIONS: there is no option "fils"'*'1 problem' ]] || complain "$out"
BOUMA_OPTIONS='order=sideways' expect 1 "$BOUMA" doctor --json
jq -e '.problems | length == 1 and (.[0] | contains("sideways"))' <<<"$out" >/dev/null || complain "$out"

# A limit of the system.
(ulimit -n 100 && "$BOUMA" doctor) >limited || complain "$(cat limited)"
grep -q "^open_files *at most 100$" limited || complain "$(cat limited)"
grep -q "^suggestion .*'ulimit -n'" limited || complain "$(cat limited)"

# A dataset: sound, with leftovers, damaged.
do_not_sync
python "np.save('a.npy', np.arange(4096.0).reshape(64, 64))"
for step in 0 1 2; do
    expect 0 "$BOUMA" import a.npy --into run.bouma --step $step --patch 8 --files 20
done
expect 0 "$BOUMA" doctor run.bouma
[[ $out == *'steps         3'*'no problems' && $out != *leftovers* ]] || complain "$out"
[[ $out == *"suggestion    step 2 has 20 files of "*"fewer are faster"* ]] || complain "$out"
cp -r run.bouma/steps/00000001 run.bouma/steps/00000007
rm run.bouma/steps/00000007/manifest
expect 0 "$BOUMA" doctor run.bouma
[[ $out == *'note '*'step 7 is incomplete'*'leftovers do no harm'*'no problems' ]] || complain "$out"
rm run.bouma/steps/00000002/manifest
expect 1 "$BOUMA" doctor run.bouma --json
jq -e '(.findings | map(.severity) | sort) == ["damage", "note"] and
    (.problems | length == 1 and (.[0] | contains("bouma repair run.bouma")))' <<<"$out" >/dev/null ||
    complain "$out"

refuse 2 'cannot look at nowhere' "$BOUMA" doctor nowhere
refuse 2 'cannot look at nowhere' "$BOUMA" doctor nowhere --json
refuse 2 'unexpected argument' "$BOUMA" doctor here there
finish
