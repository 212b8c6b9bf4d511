#!/usr/bin/env bash
# run_headers.sh BUILD -- the examples in the comments of the headers, each as the
# body of a program with the status 'rc': compiled without warnings, and run, in one
# directory, so that one may read what another has written. An example begins after
# a line "Example:" and has five blanks in front of each line.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for header in write read check file plan store; do
    {
        printf '#include <bouma.h>\n#include <stdio.h>\n\nint main(void)\n{\n'
        awk '/^ \* Example:/ { inside = 1; next }
             inside && /^ \*     / { print substr($0, 4); any = 1; next }
             inside && /^ \*$/ { print ""; next }
             inside { inside = 0 }
             END { exit !any }' "$source/include/bouma_$header.h" ||
            { echo "bouma_$header.h has no example" >&2; exit 1; }
        printf '    return rc != 0;\n}\n'
    } >"$header.c"
    ${CC:-cc} -std=c11 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$source/include" \
        -o "$header" "$header.c" -L"$build" -lbouma -Wl,-rpath,"$build"
    echo "== bouma_$header.h"
    "./$header"
done
