#!/bin/sh
# Write tests/golden/v1 anew: make.sh LIBBOUMA.A [LIBRARIES], such as -lhwloc if
# it was built with that. Only while format version 1 is not released: after
# that, golden files are never rewritten.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=c11 -D_GNU_SOURCE ${CFLAGS:-} -I"$here/../../include" \
    -I"$here/../../src" "$here/make_golden.c" "$here/golden_sets.c" \
    "$here/golden_particles.c" "$here/golden_placed.c" \
    "$library" "$@" -lzstd -lzfp -lpthread -lm \
    -o "$work/make_golden"
mkdir "$work/v1"
"$work/make_golden" "$work/v1"
rm -rf "$here/v1"
mv "$work/v1" "$here/v1"
# Who wrote them is nobody's business.
find "$here/v1" -path '*/epochs/*' -name owner -exec sh -c ': >"$1"' _ {} \;
find "$here/v1" -type f -printf "%s\n" | awk "{ s += \$1 } END { print s, \"bytes\" }"
