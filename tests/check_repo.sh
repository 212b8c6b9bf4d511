#!/usr/bin/env bash
# check_repo.sh -- nothing is tracked that does not belong into a repository: no file
# above 1 MiB, no program, object file or dump, and no other binary file but golden
# files, IDX datasets, corpora of the fuzz targets and pictures.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
if ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "not a git checkout: skipped"
    exit 77
fi
limit=1048576
failed=0
complain() {
    echo "$1"
    failed=1
}

while read -r bytes file; do
    [ "$bytes" -le $limit ] || complain "$file: $bytes bytes, more than $limit"
done < <(git ls-files -z | xargs -0 -r stat -c '%s %n' -- 2>/dev/null)

# Binary is what has a NUL byte.
while IFS= read -r -d '' file; do
    [ -f "$file" ] || continue
    case $(head -c 8 "$file" | LC_ALL=C tr -c '[:alnum:]<>!' .) in
    .ELF* | '!<arch>'*) complain "$file: a program, an object file or a dump" ;;
    *)
        case $file in
        tests/golden/* | tests/idx/* | tests/fuzz/corpus/* | docs/pictures/*.png) ;;
        *) complain "$file: a binary file" ;;
        esac
        ;;
    esac
done < <(git ls-files -z | xargs -0 -r grep -lZ -P -a '\x00' -- 2>/dev/null)
exit $failed
