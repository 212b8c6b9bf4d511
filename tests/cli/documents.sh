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

# Pages are wrapped at 100 columns, except for code, tables and headings; links stay whole.
long=$(printf 'word %.0s' {1..19})
cat >page.md <<END
# $long$long
$long a [link of words](to/a/page.md) and \`some code\` and $long 2026. $long

- $long item
  and $long
1. a short one

    $long$long

| $long$long |

\`\`\`sh
$long$long
\`\`\`
END
cp page.md before.md
"$PYTHON" "$docs/wrap.py" --check page.md >wrong.txt && complain "long lines are not found"
grep -q '^page.md: has lines of more than 100 columns' wrong.txt || complain "$(cat wrong.txt)"
"$PYTHON" "$docs/wrap.py" page.md
"$PYTHON" "$docs/wrap.py" --check page.md || complain "not wrapped"
"$PYTHON" - <<'END' || complain "$(cat page.md)"
before, after = open("before.md").read(), open("page.md").read()
assert before.split() == after.split()
assert "[link of words](to/a/page.md)" in after and "`some code`" in after
for line in before.split("\n"):
    if line[:1] in ("#", "|") or line.startswith("    ") or line.startswith("1."):
        assert line in after.split("\n"), line
lines = after.split("\n")
assert after.split("```")[1] == before.split("```")[1]
text = lines[1 : lines.index("")]
assert max(map(len, text)) <= 100 and not any(line.startswith("2026.") for line in text), text
assert all(line.startswith(("- ", "  ")) for line in lines[lines.index("") + 1 :][:3])
END

for command in $("$BOUMA" help --json | jq -r '.commands[].name'); do
    sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' "$docs/man/bouma.1" |
        grep -q "^\.BI* \"*bouma $command" || complain "the manual page does not tell of $command"
done
finish
