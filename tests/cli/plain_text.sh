#!/bin/bash
# plain_text.sh -- the main commands without --json and pictures, so with any
# build; and what a build without jansson or libpng says if it is asked for them.
source "$(dirname "$0")/common.bash"

expect 0 "$BOUMA" --version
version=$out
[[ $version =~ ^bouma\ [0-9]+\.[0-9]+\.[0-9]+$'\n'built\ with(out)?\  ]] || complain "version: $version"
# lacks LIBRARY: this program was built without it.
lacks()
{
    grep -qE "^built without (.*, )?$1(,|$)" <<<"$version"
}
for library in hwloc jansson libpng lz4 libmicrohttpd; do
    [[ $(grep -cE "^built with(out)? (.*, )?$library(,|$)" <<<"$version") -eq 1 ]] ||
        complain "$library is not named once: $version"
done

python "
r = np.random.default_rng(5)
np.save('rho.npy', r.random((20, 30, 40)).astype('f4'))
np.savez('p.npz', position=r.random((3000, 3)).astype('f4'), mass=np.arange(3000.0))"

# The same commands in text, whatever was left out.
expect 0 "$BOUMA" import rho.npy --into run.bouma --patch 16 --step 0
expect 0 "$BOUMA" import p.npz --particles atoms --into run.bouma --step 1
expect 0 "$BOUMA" info run.bouma --step 0
[[ $out == *rho*f32* ]] || complain "info: $out"
# What a file says does not reach the terminal as commands.
expect 0 "$BOUMA" import rho.npy --into odd.bouma --unit $'K\e[31m' --length-unit $'m\a'
expect 0 "$BOUMA" info odd.bouma
[[ $out == *'K?[31m'* && $out != *[$'\e\a']* ]] || complain "info: $out"
expect 0 "$BOUMA" info run.bouma --step 1
[[ $out == *atoms*mass*f64* ]] || complain "info: $out"
expect 0 "$BOUMA" read run.bouma grid/rho --step 0 -o out.npy
same out.npy rho.npy
expect 0 "$BOUMA" query run.bouma atoms --where 'mass < 10' -o out.csv
[[ $(wc -l <out.csv) -eq 11 ]] || complain "query: $(wc -l <out.csv) lines"
expect 0 "$BOUMA" verify run.bouma
expect 0 "$BOUMA" repair run.bouma
expect 0 "$BOUMA" plan --shape 64,64,64 --ranks 8
[[ $out == *files* ]] || complain "plan: $out"
expect 0 "$BOUMA" plan --shape 64,64,64 --ranks 8 --compare
expect 0 "$BOUMA" drain run.bouma copy.bouma
expect 0 "$BOUMA" truncate run.bouma --after 0
expect 0 "$BOUMA" completion bash
expect 0 "$BOUMA" help
expect 0 "$BOUMA" help info
refuse 2 'no such file' "$BOUMA" info none.bouma

# What needs a library is done, or names it.
if lacks jansson; then
    for call in "info run.bouma" "--version" "help" "plan --shape 8,8 --ranks 2" "nonsense"; do
        refuse 2 'built without jansson' "$BOUMA" $call --json
    done
else
    expect 0 "$BOUMA" info run.bouma --json
    [[ $out == '{'*'}' ]] || complain "info --json: $out"
fi
draw()
{
    if lacks libpng; then
        refuse 2 'built without libpng' "$BOUMA" "$@" -o out.png
        [[ ! -e out.png ]] || complain "$1 left out.png"
    else
        expect 0 "$BOUMA" "$@" -o out.png
        [[ -s out.png ]] || complain "$1 made no out.png"
    fi
    rm -f out.png
}
draw render copy.bouma grid/rho --step 0
draw render copy.bouma atoms --step 1
draw plan --shape 64,64 --ranks 4
# hbm is not on most machines, with hwloc or without.
run env BOUMA_OPTIONS=tier=hbm "$BOUMA" import rho.npy --into hbm.bouma
if lacks hwloc && [[ $status -ne 0 && $err != *"built without hwloc"* ]]; then
    complain "hbm without hwloc: $err"
fi
finish
