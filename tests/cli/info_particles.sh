#!/bin/bash
# info_particles.sh -- what info tells of the files of particles.
source "$(dirname "$0")/common.bash"

python "
np.savez('same.npz', position=np.zeros((6000, 3), 'f4'), id=np.arange(6000))"

# How particles were assigned to files is told, beside what grids would be.
for assign in "" split kdtree aug single; do
    # shellcheck disable=SC2086  # an option, or none
    expect 0 "$BOUMA" import same.npz --particles p --into by.bouma --replace \
        --step 1 ${assign:+--assign $assign}
    expect 0 "$BOUMA" info by.bouma
    grep -q "^ *1 file, assign=${assign:-split}, largest" <<<"$out" ||
        complain "info printed: $out"
    expect 0 "$BOUMA" info by.bouma --json
    printf '%s' "$out" >.json
    python "
o = json.load(open('.json'))['steps'][0]['objects'][0]
assert o['assign'] == '${assign:-split}', o['assign']"
done

# No plane divides particles that are all at one point.
if [[ -n ${BOUMA_MPI:-} && -x $BOUMA_MPI ]]; then
    # shellcheck disable=SC2086  # a command and its options
    expect 0 $MPIRUN -n 4 "$BOUMA_MPI" import same.npz --particles p \
        --into same.bouma --assign kdtree --files 3
    expect 0 "$BOUMA" info same.bouma --tree
    grep -q '^ *by the order of ranks: 6000 particles$' <<<"$out" ||
        complain "info --tree printed: $out"
fi
finish
