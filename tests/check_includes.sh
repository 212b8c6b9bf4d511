#!/bin/sh
# The order of folders in src/: each includes only itself and those before it.
# Only the files for MPI include mpi.h. Reals become text, and text reals, only in
# base/plain_text.c, which minds the locale. With a library (libbouma.a) as argument:
# all its global names begin with bouma_ or bm_.
#
#   check_includes.sh [LIBRARY...]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folders='base plan machine codec comm store engine layout dataset write read check api'
failed=0

cd "$root/src"
for folder in *; do
    case " $folders " in
    *" $folder "*) ;;
    *)
        echo "src/$folder: is not in the list of folders"
        failed=1
        ;;
    esac
done

allowed=
for folder in $folders; do
    [ -d "$folder" ] || continue
    allowed="$allowed $folder"
    # file:line:#include "folder/name.h"; public headers have no folder.
    wrong=$(grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
        "$folder"/*.[ch] | awk -v allowed="$allowed" '
        BEGIN { n = split(allowed, a, " "); for (i = 1; i <= n; i++) ok[a[i]] }
        {
            split($0, quoted, "\"")
            if (quoted[2] ~ /^bouma(_[a-z]+)?\.h$/) next
            folder = quoted[2]; sub("/.*", "", folder)
            if (quoted[2] !~ /\// || !(folder in ok)) print "src/" $0
        }')
    if [ -n "$wrong" ]; then
        echo "$wrong"
        failed=1
    fi
done

# bouma_mpi.h brings mpi.h along.
cd "$root"
wrong=$(grep -HnE '#[[:space:]]*include[[:space:]]*[<"](mpi|bouma_mpi)\.h' \
    src/*/*.[ch] include/*.h |
    grep -vE '^(src/comm/comm_mpi(_make|_settle|_together)?\.[ch]|src/api/api_mpi\.c|include/bouma_mpi\.h):' ||
    true)
if [ -n "$wrong" ]; then
    echo "$wrong"
    failed=1
fi

wrong=$(grep -HnE '\<(v[a-z]*printf|strto(d|f|ld)|ato[fld])[[:space:]]*\(|[^_a-z]snprintf\(.*%[-+ #0-9.*]*[aefgAEFG]' \
    src/*/*.[ch] | grep -v '^src/base/plain_text\.c:' || true)
if [ -n "$wrong" ]; then
    echo "$wrong"
    failed=1
fi

for library in "$@"; do
    wrong=$(nm -A --defined-only --extern-only "$library" |
        awk '$NF !~ /^(bouma_|bm_)/ && NF > 2')
    if [ -n "$wrong" ]; then
        echo "$wrong"
        failed=1
    fi
done
exit $failed
