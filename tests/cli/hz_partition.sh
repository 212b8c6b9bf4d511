#!/bin/bash
# hz_partition.sh -- partitions of grids in HZ order: what goes in comes out, in
# both index spaces, on one process and on several.
source "$(dirname "$0")/common.bash"
[[ -n ${BOUMA_MPI:-} ]] && BOUMA_MPI=$(cd "$OLDPWD" && realpath "$BOUMA_MPI" 2>/dev/null)
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}
[[ -x ${BOUMA_MPI:-} ]] && ranks=(1 4) || ranks=(1)

on()
{
    local ranks=$1
    shift
    if [[ $ranks -eq 1 ]]; then
        "$BOUMA" "$@"
    else
        # shellcheck disable=SC2086  # MPIRUN is a command with arguments
        timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
    fi
}

python "
r = np.random.default_rng(4)
np.save('cube.npy', r.random((20, 13, 9)).astype('f4'))
np.save('plane.npy', r.integers(0, 999, (70, 50)).astype('i4'))"

# ---- calls that make no sense -----------------------------------------------

wrong()
{
    refuse 2 "$1" "$BOUMA" import "${@:2}" --into none.bouma
    [[ $err == "bouma: import: $1" ]] || complain "not all of it: '$err'"
    [[ ! -e none.bouma ]] || complain "something was made: ${*:2}"
}
hz=(--layout hz --hz-block-bits 5)
wrong '--hz-partitions needs --layout hz' cube.npy --hz-partitions 4
wrong '--hz-index needs --layout hz' cube.npy --hz-index local
wrong '--hz-partitions 0: must be a whole number of at least 1' cube.npy "${hz[@]}" --hz-partitions 0
wrong '--hz-partitions 131072: 65536 is the most' cube.npy "${hz[@]}" --hz-partitions 131072
wrong '--hz-partitions 6: must be a power of two' cube.npy "${hz[@]}" --hz-partitions 6 --hz-index local
wrong '--hz-partitions 6: must be a power of two' cube.npy "${hz[@]}" --hz-partitions 6
wrong "grid \"grid\" has no partitions that could have an index each; set 'hz_partitions'" \
    cube.npy "${hz[@]}" --hz-index local
wrong 'grid "grid" has 64 partitions, more than the 2^5 samples of a block' \
    cube.npy "${hz[@]}" --hz-partitions 64 --hz-index local
wrong 'grid "grid" has 8 partitions, more than its 2^2 blocks' \
    cube.npy --layout hz --hz-block-bits 11 --hz-partitions 8 --hz-index local
wrong '--hz-partitions 4: more than the 1 rank that would write them; only --hz-index local allows that' \
    cube.npy "${hz[@]}" --hz-partitions 4

# ---- what goes in comes out --------------------------------------------------

for n in "${ranks[@]}"; do
    for index in global local; do
        [[ $n$index == 1global ]] && continue
        ds=$index$n.bouma
        expect 0 on "$n" import cube.npy --into $ds "${hz[@]}" --hz-blocks-per-file 8 \
            --hz-partitions 4 --hz-index $index
        expect 0 on "$n" import plane.npy --into $ds --step 1 "${hz[@]}" --hz-order hz \
            --hz-partitions 4 --hz-index $index --codec raw
        expect 0 "$BOUMA" verify $ds deep
        expect 0 on "$n" read $ds grid/cube --step 0 -o out.npy
        equal out.npy "np.load('cube.npy')"
        expect 0 "$BOUMA" read $ds grid/cube --step 0 --box 3:17,-5:,2:3 --level 1 -o out.npy
        equal out.npy "np.load('cube.npy')[4:17:2, 8::2, 2:3:2]"
        expect 0 on "$n" read $ds grid/plane --step 1 --level 2 -o out.npy
        equal out.npy "np.load('plane.npy')[::4, ::4]"
    done
done
"$PYTHON" -B "$tests/../python/compare_golden.py" ./*.bouma >.log || complain "$(<.log)"

# ---- files -------------------------------------------------------------------

# In global index space, they are those of a grid without partitions.
count()
{
    "$BOUMA" info "$1" --step 0 --json |
        jq -c '.steps[0] | [.files, .chunks, .objects[0].hz_partitions, .objects[0].hz_index]'
}
expect 0 "$BOUMA" import cube.npy --into plain.bouma "${hz[@]}" --hz-blocks-per-file 8
if [[ ${#ranks[@]} -gt 1 ]]; then
    [[ $(count global4.bouma) == "$(count plain.bouma)" ]] || complain "global: $(count global4.bouma)"
    [[ $(count local4.bouma) == "$(count local1.bouma)" ]] || complain "local: $(count local4.bouma)"
fi
[[ $(count local1.bouma) == *',4,"local"]' ]] || complain "local: $(count local1.bouma)"
expect 0 "$BOUMA" info local1.bouma --step 0
[[ $out == *", 4 partitions, levels 0 to 5"* ]] || complain "info said: $out"
expect 0 "$BOUMA" info plain.bouma
[[ $out != *partitions* ]] || complain "info said: $out"

# A rank that has whole partitions, and shares none of them, is as it should be.
if [[ ${#ranks[@]} -gt 1 ]]; then
    python "np.save('even.npy', np.zeros((16, 16, 16), 'f4'))"
    expect 0 on 2 import even.npy --into two.bouma "${hz[@]}" --hz-template zyxzyxzyxzyx --hz-partitions 4 --hz-index local
    [[ $err != *note* ]] || complain "$err"
    # If partitions share all files, they are of no use.
    global=(import even.npy --into two.bouma "${hz[@]}" --hz-partitions 2)
    expect 0 on 2 "${global[@]}" --hz-blocks-per-file 64
    [[ $err == *"note: --hz-partitions 2 has no effect: all ranks write all files"* ]] || complain "$err"
    expect 0 on 2 "${global[@]}" --hz-blocks-per-file 16
    [[ $err != *note* ]] || complain "$err"
    expect 0 on 4 import even.npy --into two.bouma "${hz[@]}" --hz-template xzyxzyxzyxzy --hz-partitions 2 --hz-index local
    [[ $err == *"note: 2 partitions are written by 1 group of ranks"* ]] || complain "$err"
fi

# Files that are IDX, too.
if [[ ${#ranks[@]} -gt 1 ]]; then
    expect 0 on 4 import cube.npy --into idx.bouma "${hz[@]}" --hz-blocks-per-file 8 --idx --hz-partitions 4
    expect 0 "$BOUMA" verify idx.bouma deep
    expect 0 "$BOUMA" read idx.bouma grid/cube -o out.npy
    equal out.npy "np.load('cube.npy')"
fi

# Coarse levels of the whole grid are in the first file, the rest of a partition
# is in its own.
cp -r local1.bouma first.bouma
find first.bouma/steps -name 'd.*' ! -name 'd.0000.*' -delete
expect 0 "$BOUMA" read first.bouma grid/cube --step 0 --level 3 -o out.npy
equal out.npy "np.load('cube.npy')[::8, ::8, ::8]"
refuse 1 "the file is missing; what is in other files can still be read" \
    "$BOUMA" read first.bouma grid/cube --step 0 -o out.npy

# A manifest is made anew from the files.
rm local1.bouma/steps/00000000/manifest
run "$BOUMA" repair local1.bouma --apply
[[ $status -le 1 ]] || complain "repair gave $status: $err"
expect 0 "$BOUMA" read local1.bouma grid/cube --step 0 -o out.npy
equal out.npy "np.load('cube.npy')"

finish
