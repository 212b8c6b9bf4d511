#!/usr/bin/env bash
# musl.sh -- the library and the command line compile with another C library,
# musl. Debian has zstd, zfp and the others for glibc only, so nothing is linked.
#
# Needs the packages of a build, and musl-tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-musl
if ! command -v musl-gcc >/dev/null; then
    echo "skipped: musl-tools is not installed"
    exit 77
fi

# Of the system's headers, those of the libraries and of the kernel.
mkdir -p "$build/include"
include=/usr/include
multiarch=$include/$(gcc -print-multiarch)
for header in $include/{zstd.h,zfp.h,zfp,xxhash.h,xxh3.h,hwloc.h,hwloc,jansson.h,png.h,pngconf.h,pnglibconf.h,lz4.h,zlib.h,microhttpd.h,linux,asm-generic} \
    $multiarch/{asm,jansson_config.h,zconf.h,hwloc}; do
    [ ! -e "$header" ] || cp -rfL "$header" "$build/include/"
done
[ -e "$build/include/zconf.h" ] || cp -f $include/zconf.h "$build/include/"
[ -e "$build/include/jansson_config.h" ] || cp -f $include/jansson_config.h "$build/include/"

flags=(-std=c11 -O1 -D_GNU_SOURCE -DBOUMA_BUILDING -DBOUMA_WITH_HWLOC=1 -DBOUMA_WITH_JANSSON=1
       -DBOUMA_WITH_PNG=1 -DBOUMA_WITH_LZ4=1 -DBOUMA_WITH_MICROHTTPD=1 -fno-fast-math -fexcess-precision=fast -fopenmp-simd -Wall -Wextra -Werror
       -Wshadow -Isrc -Iinclude -Itools/bouma -isystem "$build/include")
compile() {
    musl-gcc "${flags[@]}" -c "$1" -o /dev/null || echo "musl: FAILED: $1"
}
export -f compile
files=$(ls src/*/*.c tools/bouma/*.c tools/bouma/serve/*.c | grep -vE '_mpi(_[a-z]+)?\.c$')
for file in $files; do
    echo "$file"
done | xargs -P "$(nproc)" -I{} bash -c 'flags=('"${flags[*]@Q}"'); compile {}' >"$build/log" 2>&1 || true
cat "$build/log"
failed=$(grep -c '^musl: FAILED' "$build/log" || true)
echo "$(($(echo "$files" | wc -l) - failed)) passed, $failed failed"
[ "$failed" = 0 ]
