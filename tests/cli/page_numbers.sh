#!/bin/bash
# page_numbers.sh -- numbers that the pages of docs/ state: what a tolerance saves,
# what a coarse level opens, what a placement saves, and how text of strangers is
# printed.
source "$(dirname "$0")/common.bash"
do_not_sync

# near VALUE WANTED: within 5 %, as zstd and zfp have versions.
near()
{
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.95 * b && a < 1.05 * b) }' ||
        complain "a page says $2, but it is $1"
}

python "
z, y, x = np.mgrid[0:100, 0:120, 0:90].astype(np.float32)
np.save('swirl.npy', np.sin(x / 9) * np.cos(y / 11) + z / 100)"

# ---- docs/guide/tolerances.md, hz.md, performance.md: sizes -------------------

# ratio WHAT WANTED OPTION...: that of a step, or of a variable without tables.
ratio()
{
    local what=$1 wanted=$2
    shift 2
    expect 0 "$BOUMA" import swirl.npy --into ratio.bouma --clobber "$@"
    expect 0 "$BOUMA" info ratio.bouma --json
    near "$(jq "$what" <<<"$out")" "$wanted"
}
ratio .steps[0].ratio 207 --tolerance 1e-3
ratio .steps[0].ratio 54 --tolerance 1e-3 --layout hz
ratio .steps[0].ratio 88 --tolerance 1e-3 --codec wavelet
ratio .steps[0].ratio 8.13 --tolerance 1e-3 --codec wavelet --layout hz
ratio .steps[0].objects[0].variables[0].ratio 408 --relative 1e-3

# ---- hz.md: files that a level opens, and files with samples of a rank --------

expect 0 "$BOUMA" import swirl.npy --into order.bouma --layout hz --hz-block-bits 12 \
    --hz-blocks-per-file 64
expect 0 "$BOUMA" info order.bouma --json
[[ $(jq ".steps[0].files" <<<"$out") == 8 ]] || complain "not 8 files: $out"
for level in 1 2 3 4 5 6 7; do
    expect 0 "$BOUMA" read order.bouma grid/swirl --level $level -o x.npy --json
    [[ $(jq .files_opened <<<"$out") == 4 ]] || complain "level $level: $out"
done

# samples TEMPLATE FILES: each rank has samples in so many of 256 files.
samples()
{
    expect 0 "$BOUMA" plan --ranks 512 --shape 256,256,256 --layout hz --hz-block-bits 12 \
        --hz-blocks-per-file 16 --hz-template "$1" --json
    [[ $(jq -c '[.files, .files_per_rank.min, .files_per_rank.max]' <<<"$out") == "[256,$2,$2]" ]] ||
        complain "$1: $out"
}
samples ranks 9
samples zzzzzzzzyyyyyyyyxxxxxxxx 32

# ---- placement.md, performance.md: byte-hops over those of spread -------------

hops()
{
    expect 0 "$BOUMA" plan --ranks 512 --shape 512,512,512 --machine torus:8x8x8 --json "$@"
    jq .byte_hops <<<"$out"
}
while read -r files vary local cost; do
    spread=$(hops --files "$files" --vary "$vary" --place spread)
    for place in local cost; do
        bytes=$(hops --files "$files" --vary "$vary" --place $place)
        near "$(awk "BEGIN { print $bytes / $spread }")" "${!place}"
    done
done <<'END'
16 1 0.48 0.48
64 1 0.29 0.29
256 1 0.095 0.095
16 20 0.55 0.47
64 20 0.37 0.30
END

# ---- security.md: control characters of units and attributes are not printed --

expect 0 "$BOUMA" import swirl.npy --into red.bouma --unit $'m\e[31m\x7f'
expect 0 "$BOUMA" info red.bouma
[[ $out == *"m?[31m?"* && $out != *$'\e'* ]] || complain "info said: $out"

finish
