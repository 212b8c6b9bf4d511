#!/bin/bash
# info_particles.sh -- what info tells of the files of particles.
source "$(dirname "$0")/common.bash"

python "
np.savez('same.npz', position=np.zeros((6000, 3), 'f4'), id=np.arange(6000))"

# No plane divides particles that are all at one place.
if [[ -n ${BOUMA_MPI:-} && -x $BOUMA_MPI ]]; then
    # shellcheck disable=SC2086  # a command and its options
    expect 0 $MPIRUN -n 4 "$BOUMA_MPI" import same.npz --particles p \
        --into same.bouma --assign kdtree --files 3
    expect 0 "$BOUMA" info same.bouma --tree
    grep -q '^ *by the order of ranks: 6000 particles$' <<<"$out" ||
        complain "info --tree printed: $out"
fi
finish
