#!/bin/sh
# Add the datasets to tests/golden/v1 that it does not have: make.sh LIBBOUMA.A
# [LIBRARIES], such as -lhwloc if it was built with that. Golden files are never
# rewritten. What the writer writes otherwise today, in the same format, stays
# as golden_is_old(): it is read. A new dataset beside it has the new bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=c11 -D_GNU_SOURCE ${CFLAGS:-} -I"$here/../../include" \
    -I"$here/../../src" -I"$here/../helpers" "$here/make_golden.c" "$here/golden_sets.c" \
    "$here/golden_particles.c" "$here/golden_offsets.c" "$here/golden_sheets.c" \
    "$library" "$@" -lzstd -lzfp -lpthread -lm \
    -o "$work/make_golden"
mkdir -p "$here/v1"
"$work/make_golden" "$here/v1"
# Who wrote them is nobody's business.
find "$here/v1" -path '*/epochs/*' -name owner -exec sh -c ': >"$1"' _ {} \;
find "$here/v1" -type f -printf "%s\n" | awk "{ s += \$1 } END { print s, \"bytes\" }"
