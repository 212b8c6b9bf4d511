#!/bin/bash
# run_openvisus.sh BUILD -- OpenVisus, another program for IDX datasets, reads what bouma exports, sample for sample at
# every resolution; and bouma imports what OpenVisus writes.
#
# OpenVisus comes from PyPI, once, into BUILD/openvisus. Where that cannot be reached, nothing is tested.
build=$(realpath "${1:?the build directory}")
venv=$build/openvisus
wheels=("OpenVisusNoGui==2.2.149" numpy)
BOUMA=${BOUMA:-$build/bin/bouma}
source "$(dirname "$0")/cli/common.bash"
golden=$(realpath "$tests/../idx")
shared=$(realpath -m "$tests/../../../shared/idx/golden")

# Made under another name: one that was interrupted is made again.
if [[ ! -d $venv ]]; then
    rm -rf "$venv.new"
    if ! { "$PYTHON" -m venv "$venv.new" &&
        "$venv.new/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 "${wheels[@]}" &&
        mv "$venv.new" "$venv"; } >pip.txt 2>&1; then
        echo "skipped: ${wheels[0]} cannot be had from PyPI: $(tail -n 1 pip.txt)"
        exit 77
    fi
fi

openvisus()
{
    # It writes to a log, and looks for its settings, in the home directory.
    HOME=$folder "$venv/bin/python" -B "$tests/../python/openvisus.py" "$@" >openvisus.txt 2>&1 ||
        complain "OpenVisus: $(grep -v '^ *$' openvisus.txt | tail -n 20)"
    tail -n 1 openvisus.txt
}

# ---- what bouma exports ------------------------------------------------------

# Ways to go from an IDX dataset through bouma to another one. Each is a function of X.idx and of a name, NAME.idx, for
# the new one. It may stay inside the dataset of bouma: then it says where, in $exported.
by_patches()
{
    expect 0 "$BOUMA" import "$1" --into "$2.bouma" --patch 8
    expect 0 "$BOUMA" export "$2.bouma" -o "$2.idx"
}
by_rows()
{
    expect 0 "$BOUMA" import "$1" --into "$2.bouma" --layout hz
    expect 0 "$BOUMA" export "$2.bouma" -o "$2.idx" --codec zip --block-bits 7 --blocks-per-file 5
}
by_curve()
{
    expect 0 "$BOUMA" import "$1" --into "$2.bouma" --layout hz --hz-order hz
    expect 0 "$BOUMA" export "$2.bouma" -o "$2.idx" --codec lz4 --block-bits 9 --blocks-per-file 4
}
in_place()
{
    expect 0 "$BOUMA" import "$1" --into "$2.bouma" --layout hz --idx
    exported=$2.bouma/idx/grid.idx
}
ways=(by_patches by_rows by_curve)
if "$BOUMA" import --help | grep -q -- '--idx '; then
    ways+=(in_place)
fi

pairs=()
# through X.idx: all ways.
through()
{
    local way exported
    for way in "${ways[@]}"; do
        exported=./$way.$(basename "$(dirname "$1")").idx
        $way "$1" "${exported%.idx}"
        pairs+=("$exported=$1")
    done
}
for path in "$golden"/*/*.idx; do
    through "$path"
done
if [[ -d $shared ]]; then
    for path in "$shared"/*/*.idx; do
        [[ -d $golden/$(basename "$(dirname "$path")") ]] || through "$path"
    done
else
    echo "the larger datasets are not here: skipped"
fi
# By zfp: every bit, and a tolerance, where bouma and OpenVisus find the same.
python "
a = np.indices((40, 37, 53)).sum(0)
np.save('f4.npy', np.sin(a / 9).astype('f4'))
np.save('f8.npy', np.sin(a / 9))
np.save('i4.npy', a.astype('i4'))
holes = np.sin(a / 9).astype('f4')
holes[3, 4, 5], holes[30, 20, 11] = np.nan, -np.inf
np.save('holes.npy', holes)
np.save('flat.npy', np.sin(a / 9)[0].astype('f4'))"
for name in f4 f8 i4 holes flat; do
    expect 0 "$BOUMA" import $name.npy --into zfp_$name.bouma
    expect 0 "$BOUMA" export zfp_$name.bouma -o zfp_$name.idx --codec zfp --block-bits 9 --blocks-per-file 7
    expect 0 "$BOUMA" export zfp_$name.bouma -o raw_$name.idx
    pairs+=("zfp_$name.idx=raw_$name.idx")
    [[ $name == i4 ]] && continue
    expect 0 "$BOUMA" export zfp_$name.bouma -o near_$name.idx --codec zfp --tolerance 0.003 --block-bits 9
    expect 0 "$BOUMA" import near_$name.idx --into near_$name.bouma
    expect 0 "$BOUMA" export near_$name.bouma -o near_raw_$name.idx
    pairs+=("near_$name.idx=near_raw_$name.idx")
done
openvisus "${pairs[@]}"

# ---- what OpenVisus writes ---------------------------------------------------

mkdir written
openvisus --write written
count=0
for path in written/*.idx; do
    rm -rf x.bouma
    expect 0 "$BOUMA" import "$path" --into x.bouma
    [[ -z $err ]] || complain "import of $path said: $err"
    for truth in "${path%.idx}".*.npy; do
        name=${truth#"${path%.idx}."} # FIELD.tSTEP.npy
        step=${name#*.t}
        expect 0 "$BOUMA" read x.bouma "grid/${name%%.*}" --step "${step%.npy}" -o out.npy
        equal out.npy "np.load('$truth')"
        count=$((count + 1))
    done
done
[[ $count -ge 18 ]] || complain "OpenVisus wrote only $count fields"
finish
