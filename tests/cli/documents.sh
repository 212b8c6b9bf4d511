#!/bin/bash
# documents.sh -- the lists in the documents are those of the program, and the manual
# page tells of every command.
source "$(dirname "$0")/common.bash"
docs=$(dirname "$0")/../../docs

"$PYTHON" "$docs/tables.py" "$BOUMA" --check >stale.txt || complain "$(cat stale.txt)"

# A list that is out of date is found, and written anew.
cp -r "$docs" copy
sed -i '/^- `order` =/d' copy/guide/tuning.md
"$PYTHON" copy/tables.py "$BOUMA" --check >stale.txt && complain "a missing line is not found"
grep -q 'docs/guide/tuning.md: is out of date' stale.txt || complain "$(cat stale.txt)"
"$PYTHON" copy/tables.py "$BOUMA" >stale.txt || complain "$(cat stale.txt)"
cmp copy/guide/tuning.md "$docs/guide/tuning.md" || complain "not as it was"

for command in $("$BOUMA" help --json | jq -r '.commands[].name'); do
    sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' "$docs/man/bouma.1" |
        grep -q "^\.BI* \"*bouma $command" || complain "the manual page does not tell of $command"
done
finish
