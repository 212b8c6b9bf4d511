#!/bin/sh
# Documents name files and tests that are there: docs/architecture.md, docs/engine.md
# and docs/decisions, for those who change the code, and the pages that answer
# questions of users. README.md lists every page of docs, and the guide's
# README.md every chapter.
#
# A name is what stands between back quotes, in an indented block or in a link, and
# ends as files do: pipe.c, write/ship.c, src/plan/cost.c; with * something must
# match. `test_x` is a test. Names with an x where one is to be chosen (codec_x.c)
# are left out, and so are headers of the system.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find README.md CONTRIBUTING.md CHANGELOG.md docs include src tools tests examples bench cmake bindings wasm \
    -type f >"$work/files"

# Lines "document name".
for document in docs/architecture.md docs/engine.md docs/decisions/*.md \
    docs/guide/README.md docs/faq.md docs/from_*.md docs/glossary.md docs/performance.md \
    docs/security.md docs/tuning.md README.md CONTRIBUTING.md; do
    {
        grep -oE '`[^`]+`' "$document" | grep -v '<' || true
        grep -E '^    ' "$document" || true
        grep -oE '\]\([^)#:]+' "$document" || true
    } | {
        grep -oE '[A-Za-z0-9_./*-]+\.(c|h|sh|py|txt|md)\b|`test_[a-z0-9_]+`' ||
            true
    } | sort -u | sed "s|^|$document |"
done >"$work/names"
# Every decision and every page is on a list, and every folder of src on the map.
for file in docs/decisions/[0-9]*.md; do
    grep -qF "($(basename "$file"))" docs/decisions/README.md ||
        echo "docs/decisions/README.md: does not list $file"
done >"$work/wrong"
for page in docs/*.md; do
    grep -qF "]($page)" README.md || echo "README.md: does not list $page"
done >>"$work/wrong"
for chapter in docs/guide/*.md; do
    grep -qF "($(basename "$chapter"))" docs/guide/README.md || [ "$chapter" = docs/guide/README.md ] ||
        echo "docs/guide/README.md: does not list $chapter"
done >>"$work/wrong"
for folder in src/*/; do
    grep -qF "\`$folder\`" docs/architecture.md ||
        echo "docs/architecture.md: does not have $folder"
done >>"$work/wrong"

awk '
    NR == FNR { files = files "\n" $0; next }
    {
        name = $2
        if (name ~ /(^|[\/_])x\.c$/)
            next
        if (name ~ /^`/)
            name = substr(name, 2, length(name) - 2) ".c"
        sub(/^(\.\.\/)+/, "", name)
        gsub(/\./, "\\.", name)
        gsub(/\*/, "[^/\n]*", name)
        if ((files "\n") !~ ("[\n/]" name "\n"))
            print $1 ": there is no " $2
    }' "$work/files" "$work/names" >>"$work/wrong"
cat "$work/wrong"
[ ! -s "$work/wrong" ]
