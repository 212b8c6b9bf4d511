#!/bin/bash
# help_and_completion.sh -- help starts with examples, and the tables are all
# there is to know about options.
source "$(dirname "$0")/common.bash"

expect 0 "$BOUMA" --version
[[ $out =~ ^bouma\ [0-9]+\.[0-9]+\.[0-9]+$'\n'built\ with\ hwloc,\ jansson,\ libpng,\ lz4,\ libmicrohttpd$'\n'library:\ mpi\ no,\ hwloc\ [0-9] ]] ||
    complain "version: $out"
for call in help --help -h; do
    expect 0 "$BOUMA" $call
    [[ $out == *Commands:* ]] || complain "$call said: $out"
done

for command in import info read query render export verify repair truncate drain plan probe completion help; do
    expect 0 "$BOUMA" help $command
    help=$out
    [[ $(sed -n 3p <<<"$help") == Examples: ]] ||
        complain "the help of $command does not start with examples"
    expect 0 "$BOUMA" $command --help
    [[ $out == "$help" ]] || complain "help $command is not $command --help"
    # Everything that is offered is told.
    for option in $("$BOUMA" help $command --json |
        jq -r '.commands[0].options[].name'); do
        [[ $help == *"--$option"* ]] || complain "$command: no help on --$option"
    done
done
refuse 2 "did you mean 'info'" "$BOUMA" help inffo

# No command has two options of one name, and what the library offers to those who
# write steps is there: each a flag, with the words that it takes.
expect 0 "$BOUMA" help --json
twice=$(jq -r '.commands[] | .name as $c | [.options[].name] | group_by(.)[] |
    select(length > 1) | "\($c) --\(.[0])"' <<<"$out")
[[ -z $twice ]] || complain "twice: $twice"
missing=$(jq -r '[.commands[] | select(.name == "import") | .options[].field] as $f |
    .options[].name | select(. as $n | $f | index($n) | not)' <<<"$out")
[[ $missing == writers ]] || complain "import has no option for: $missing"
[[ $(jq -r '.commands[] | select(.name == "import") | .options[] |
    select(.name == "file-size") | .field + " " + .argument' <<<"$out") == \
    "file_size BYTES" ]] || complain "--file-size"

# complete WORDS...: what bash offers for the last word.
complete_with()
{
    bash -c '
        source <("$0" completion bash)
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _bouma
        echo "${COMPREPLY[*]}"' "$BOUMA" "$@"
}
[[ $(complete_with bouma im) == import ]] || complain "im"
[[ $(complete_with bouma render --project me) == mean ]] || complain "me"
[[ $(complete_with bouma read x --le) == --level ]] || complain "--le"
[[ $(complete_with bouma import --codec zs) == zstd ]] || complain "z"
[[ $(complete_with bouma query x p --wh) == --where ]] || complain "--wh"
[[ $(complete_with bouma import --position-type f3) == f32 ]] || complain "f3"
[[ $(complete_with bouma verify x q) == quick ]] || complain "q"
[[ $(complete_with bouma import --into x --assi) == --assign ]] || complain "--assi"
[[ $(complete_with bouma import --tier h) == hbm ]] || complain "h"
[[ $(complete_with bouma plan --buffer-) == --buffer-bytes ]] || complain "--buffer-"

# Nothing is drawn or colored when nobody looks.
python "np.save('a.npy', np.arange(1000.0))"
expect 0 "$BOUMA" import a.npy --into run.bouma
[[ -z $err ]] || complain "import said: $err"
expect 0 "$BOUMA" info run.bouma
[[ $out != *$'\033'* ]] || complain "info is colored"

# On a terminal it is, unless NO_COLOR is set.
colored()
{
    TERM=xterm script -qec "$1 $BOUMA info run.bouma" /dev/null </dev/null |
        grep -c $'\033'
}
[[ $(colored env) -gt 0 ]] || complain "no colors on a terminal"
[[ $(colored "env NO_COLOR=1") -eq 0 ]] || complain "NO_COLOR is ignored"
finish
