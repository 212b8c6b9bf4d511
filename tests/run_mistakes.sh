#!/usr/bin/env bash
# run_mistakes.sh BUILD -- README's program with the mistakes that people make in
# it: each one is told, once, and the program fails; none writes a step without
# data.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
export OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
sed -n '/^```c field.c$/,/^```$/p' "$source/README.md" | sed '1d;$d' >field.c
mpicc=$(sed -n 's/^MPI_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")

# mistake NAME EDIT WORDS: the program, edited with sed, fails and says WORDS.
mistake() {
    sed "$2" field.c >wrong.c
    ! cmp -s field.c wrong.c || { echo "$1: nothing was edited"; exit 1; }
    "$mpicc" -std=c11 wrong.c -o wrong -I"$source/include" -L"$build" \
        -Wl,-rpath,"$build" -lbouma_mpi
    rm -rf run.bouma
    if $MPIRUN -n 2 ./wrong >out 2>&1; then
        echo "$1: succeeds"
        exit 1
    fi
    [ "$(grep -c "$3" out)" = 1 ] || { echo "$1: says"; cat out; exit 1; }
    [ -z "$(ls run.bouma/steps)" ] || { echo "$1: wrote a step"; exit 1; }
    echo "$1: $(grep "$3" out)"
}

mistake "no size" 's/kind = {.size = sizeof(kind), /kind = {/' "'size' is not set"
mistake "no tolerance" 's/BOUMA_TYPE_F32}/BOUMA_TYPE_F32, .codec = BOUMA_CODEC_INTERP}/' \
    'tolerance'
mistake "a slash in a name" 's,"flow",\"flow/x\",' "'/'"
mistake "no time" 's/0.1 \* step/0.0 \/ (rank ? 0 : 1)/' "its time is"
mistake "outside" 's/&box, &array/(rank ? \&(bouma_box){{0}, {1, 1, 99}} : \&box), \&array/' \
    'is not inside'
mistake "another type" 's/(BOUMA_TYPE_F32, block/(BOUMA_TYPE_F64, block/' \
    'has 262144 bytes; these samples, as f64, need 524288'
mistake "too small" 's/sizeof(block));/sizeof(block) - 1);/' 'has 262143 bytes'
mistake "a variable before its grid" '/bouma_grid_define/{h;d}; /bouma_variable_define/G' \
    'grid "flow" has no variable'
