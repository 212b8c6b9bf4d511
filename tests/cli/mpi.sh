#!/bin/bash
# mpi.sh -- bouma-mpi on several ranks gives what bouma gives on one.
source "$(dirname "$0")/common.bash"
BOUMA_MPI=$(cd "$OLDPWD" && realpath \
    "${BOUMA_MPI:?say which program: BOUMA_MPI=path/to/bouma-mpi}")
MPIRUN=${MPIRUN:-mpirun --oversubscribe --allow-run-as-root}

# on RANKS ARGUMENTS...: run bouma-mpi on that many.
on()
{
    local ranks=$1
    shift
    # shellcheck disable=SC2086  # MPIRUN is a command with arguments
    timeout 1800 $MPIRUN -n "$ranks" "$BOUMA_MPI" "$@"
}

python "
r = np.random.default_rng(6)
np.save('a.npy', r.random((45, 50, 37)).astype('f4'))
np.save('f.npy', np.asfortranarray(r.integers(0, 99, (45, 50, 37)).astype('>i4')))
np.save('v.npy', np.asfortranarray(r.random((20, 30, 25, 3))).astype('>f8'))
np.save('line.npy', np.arange(2.0))"

for ranks in 1 3; do
    ds=run$ranks.bouma
    expect 0 on $ranks import a.npy f.npy --into $ds --patch 16 --files 2
    [[ $(wc -l <<<"$out") -eq 1 ]] || complain "more than one rank printed: $out"
    expect 0 on $ranks import v.npy --components 3 --into $ds
    expect 0 on $ranks import line.npy --into $ds # fewer layers than ranks
    cp -r $ds more.bouma
    expect 0 on $ranks add a.npy --into more.bouma --step 0 --var added
    expect 0 on $ranks read more.bouma grid/added --step 0 -o serial.npy
    equal serial.npy "np.load('a.npy')"
    expect 0 "$BOUMA" verify more.bouma deep
    rm -r more.bouma
    cp -r $ds more.bouma
    expect 0 on $ranks delete-step more.bouma 0
    expect 0 "$BOUMA" verify more.bouma deep
    [[ $(ls more.bouma/steps | wc -l) -eq 2 ]] || complain "$(ls more.bouma/steps)"
    rm -r more.bouma
    expect 0 "$BOUMA" verify $ds deep
    [[ $ranks -eq 1 ]] && continue # it is compared below
    for var in a f v line; do
        step=0
        [[ $var == v ]] && step=1
        [[ $var == line ]] && step=2
        expect 0 "$BOUMA" read $ds grid/$var --step $step -o serial.npy
        equal serial.npy "np.load('$var.npy')"
        for level in 0 2; do
            [[ $var == line && $level == 2 ]] && continue
            expect 0 "$BOUMA" read $ds grid/$var --step $step --level $level \
                -o serial.npy
            expect 0 on 3 read $ds grid/$var --step $step --level $level \
                -o parallel.npy
            same serial.npy parallel.npy
        done
    done
    expect 0 "$BOUMA" read $ds grid/a --step 0 --box 3:40,5:,:-3 -o serial.raw
    expect 0 on 3 read $ds grid/a --step 0 --box 3:40,5:,:-3 -o parallel.raw
    same serial.raw parallel.raw
    on 3 read $ds grid/a --step 0 --box 3:40,5:,:-3 -o - >stream.raw
    same serial.raw stream.raw
    expect 0 "$BOUMA" read $ds grid/a --step 0 --level 1 -o serial.npy
    expect 0 on 3 read $ds grid/a --step 0 --limit 20K -o parallel.npy
    same serial.npy parallel.npy
    for view in --slice=y=20 --slice=z=40 --project=mean --project=max; do
        expect 0 "$BOUMA" render $ds grid/a --step 0 --level 1 $view -o serial.png
        expect 0 on 3 render $ds grid/a --step 0 --level 1 $view -o parallel.png
        [[ $(wc -l <<<"$out") -eq 1 ]] || complain "render printed: $out"
        same serial.png parallel.png
    done
    expect 0 on 3 verify $ds
    expect 0 on 3 info $ds --json
    jq -e '.steps | length == 3' <<<"$out" >/dev/null || complain "info: $out"
    expect 0 on 3 repair $ds
done

# Three processes drain what one has written.
expect 0 on 3 drain run1.bouma drained.bouma
[[ $(wc -l <<<"$out") -eq 1 && $out == *"3 steps drained"* ]] ||
    complain "drain printed: $out"
expect 0 "$BOUMA" verify drained.bouma deep
expect 2 on 3 drain nothing.bouma drained.bouma
[[ $err == *'there is no such dataset'* ]] || complain "drain said: $err"

# A plan is made once.
expect 0 on 3 plan --ranks 9 --shape 90,90 -o parallel.png
[[ $(wc -l <<<"$out") -eq 9 ]] || complain "plan printed: $out"
expect 0 "$BOUMA" plan --ranks 9 --shape 90,90 -o serial.png
same serial.png parallel.png

# The data of the two datasets is the same, whoever wrote it.
values='[.steps[].objects[].variables[] | [.name, .raw_bytes, .ranges]]'
[[ $("$BOUMA" info run1.bouma --json | jq -c "$values") == \
    "$("$BOUMA" info run3.bouma --json | jq -c "$values")" ]] ||
    complain "the datasets differ"

# Errors are told once, end all ranks, and leave nothing half-done.
complains()
{
    local wanted=$1 text=$2
    shift 2
    run on 3 "$@"
    [[ $status -eq $wanted && $(grep -c "$text" .err) -eq 1 && -z $out ]] ||
        complain "'$*' gave $status and said: $err"
}
complains 2 "none.npy" import none.npy --into x.bouma
complains 2 "did you mean 'info'" inof run1.bouma
complains 2 "has levels" read run1.bouma grid/a --step 0 --level 30 -o x.npy
complains 2 "cannot write" read run1.bouma grid/a --step 0 -o none/x.npy
complains 2 "cannot write" render run1.bouma grid/a --step 0 -o none/x.png
complains 2 "none.bouma" info none.bouma
[[ -z $(find . -name 'x.*') ]] || complain "something is left behind"
victim=$(find run1.bouma/steps/00000000 -name 'd.*' | head -1)
truncate -s $(($(stat -c %s "$victim") / 2)) "$victim" # its fine levels
run on 3 verify run1.bouma
[[ $status -eq 1 ]] || complain "verify of damage gave $status"
run on 3 read run1.bouma grid/a --step 0 -o x.npy
[[ $status -eq 1 && -z $(find . -name 'x.*') ]] ||
    complain "reading damage gave $status"

# Processes with different commands do not wait for each other.
# apart ARGUMENTS... : process 0 is to write a benchmark, processes 1 and 2 do this.
apart()
{
    # shellcheck disable=SC2086
    timeout 300 $MPIRUN -n 1 "$BOUMA_MPI" bench write . : -n 2 "$BOUMA_MPI" "$@"
}
for other in "bench io ." "info run3.bouma" "bench write . --bad" "" "--version"; do
    # shellcheck disable=SC2086
    run apart $other
    [[ $status -eq 2 ]] || complain "'bench write .' and '$other' gave $status"
    [[ $err == *"process 1 was given 'bouma-mpi${other:+ $other}', process 0 \
'bouma-mpi bench write .' (2 of 3 differ"* ]] || complain "'$other': $err"
done

# The serial program warns when it is not alone.
# shellcheck disable=SC2086
run timeout 1800 $MPIRUN -n 2 "$BOUMA" --version
[[ $(grep -c 'run bouma-mpi instead' .err) -eq 1 ]] || complain "no warning: $err"

# Particles: the same set from any number of ranks, and the same picture of it;
# discs of one pixel count as one, in any order.
python "
r = np.random.default_rng(9)
np.savez('p.npz', position=r.random((5000, 3)), id=np.arange(5000), m=r.random(5000))"
for ranks in 2 5; do
    ds=particles$ranks.bouma
    expect 0 on $ranks import p.npz --particles p --into $ds --file-size 32K
    [[ $(wc -l <<<"$out") -eq 1 ]] || complain "more than one rank printed: $out"
    expect 0 "$BOUMA" verify $ds deep
    expect 0 on 3 query $ds p --where 'm < 0.5' --box :.5,:,: -o out.npz
    [[ $(wc -l <<<"$out") -eq 1 ]] || complain "more than one rank printed: $out"
    python "
a, o = np.load('p.npz'), np.load('out.npz')
k = (a['m'] < .5) & (a['position'][:, 0] < .5)
i = np.argsort(o['id'])
assert all(np.array_equal(o[n][i], a[n][k]) for n in a.files)"
    expect 0 "$BOUMA" query $ds p --where 'm < 0.5' --box :.5,:,: -o serial.npz
    same serial.npz out.npz
    on 3 query $ds p --quality 0.01 -o - >parallel.csv
    expect 0 "$BOUMA" query $ds p --quality 0.01 -o serial.csv
    same serial.csv parallel.csv
    expect 0 on 3 query $ds p
    [[ $out == *"5000 particles of 5000"* ]] || complain "query printed: $out"
    for what in p "p/m --project max"; do
        # shellcheck disable=SC2086
        expect 0 "$BOUMA" render $ds $what --radius 0.5 --size 64 -o serial.png
        # shellcheck disable=SC2086
        expect 0 on 3 render $ds $what --radius 0.5 --size 64 -o parallel.png
        same serial.png parallel.png
    done
    complains 2 "there is no variable 'q'" query $ds p --where 'q < 3'
done
# One rank cannot read its rows, and none goes on.
python "open('late.csv', 'w').write('x,m\\n' + '1,2\\n' * 99 + '3,four\\n')"
complains 1 "late.csv: line 101, column 'm': 'four' is not a number" import \
    late.csv --particles p --into bad.bouma
[[ ! -e bad.bouma ]] || complain "a refused import made a dataset"
# A fraction that one rank sees makes a real number for all.
python "open('mixed.csv', 'w').write('x,m,n\\n' + '1,2,2\\n' * 99 + '3,2.5,-1\\n')"
expect 0 on 3 import mixed.csv --particles p --into mixed.bouma
expect 0 "$BOUMA" query mixed.bouma p -o out.npz
python "o = np.load('out.npz')
assert o['m'].dtype == 'f8' and o['m'].sum() == 200.5 and o['n'].dtype == 'i8' and o['n'].sum() == 197"
finish
