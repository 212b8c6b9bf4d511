#!/bin/bash
# info_all.sh -- of many steps, objects and variables, info shows a screenful.
source "$(dirname "$0")/common.bash"
do_not_sync

python "
for i in range(14):
    np.save('v%02d.npy' % i, np.arange(16.0).reshape(4, 4))"
for step in {0..12}; do
    expect 0 "$BOUMA" import v00.npy --into run.bouma --step "$step"
done
steps=$(printf '%s\n' {0..4} ... {8..12})

# listed: what is in the first column of the table of steps.
listed()
{
    sed -n '/^ *STEP /,/^$/p' <<<"$out" | sed '1d;/^$/d' | awk '{ print $1 }'
}
expect 0 "$BOUMA" info run.bouma
[[ $(listed) == "$steps" && $out == *'...  3 more'* ]] || complain "$out"
expect 0 "$BOUMA" info run.bouma --all
[[ $(listed) == "$(printf '%s\n' {0..12})" && $out != *' more'* ]] || complain "$out"
expect 0 "$BOUMA" info run.bouma --json
jq -e '.steps | length == 13' <<<"$out" >/dev/null || complain "$out"

# Ten steps fit.
expect 0 "$BOUMA" delete-step run.bouma 10:
expect 0 "$BOUMA" info run.bouma
[[ $(listed) == "$(printf '%s\n' {0..9})" && $out != *' more'* ]] || complain "$out"

# Variables of a grid, and grids.
expect 0 "$BOUMA" import v*.npy --into wide.bouma
for grid in a b c d e; do
    expect 0 "$BOUMA" add v00.npy --grid $grid --into wide.bouma --step 0
done
expect 0 "$BOUMA" info wide.bouma
[[ $out == *v09*'... 4 more; --all shows them'* && $out != *v10* ]] || complain "$out"
[[ $out == *'grid c:'*'... 2 more grids and sets of particles; --all shows'* && $out != *'grid d:'* ]] ||
    complain "$out"
expect 0 "$BOUMA" info wide.bouma --all --step 0
[[ $out == *v13*'grid e:'* && $out != *' more'* ]] || complain "$out"
expect 0 "$BOUMA" info wide.bouma --json
jq -e '.steps[0].objects | length == 6 and (.[0].variables | length) == 14' <<<"$out" >/dev/null ||
    complain "$out"
finish
