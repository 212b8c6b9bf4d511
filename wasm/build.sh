#!/usr/bin/env bash
# build.sh OUT -- compile the reading part of the library to OUT/bouma.wasm, and
# lay bouma.js and the other files of the package beside it.
# build.sh --sources OUT -- only fetch what is to be fetched.
# build.sh --check OUT -- only tell whether all is there, without fetching.
#
# It takes the sources of src/ as they are. What they need of a system is in
# wasm/; zstd's decoder is compiled from Debian's sources, which are fetched
# once, with their signatures checked, into OUT/zstd (or ZSTD_SOURCE says where
# they are). Exit status 77: a tool is missing, and the last line says which.
#
# FLAGS are added to those of the compiler, and win: FLAGS=-Oz wasm/build.sh OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$here")
only=
case ${1:-} in --sources | --check) only=$1 && shift ;; esac
[ $# = 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

missing() {
    echo "no WebAssembly module is built: $1"
    exit 77
}
for tool in clang-14 wasm-ld-14 llvm-ar-14 ninja; do
    command -v $tool >/dev/null || missing "there is no $tool (./dev wasm installs it)"
done
[ -e /usr/lib/wasm32-wasi/libc.a ] || missing "there is no wasi-libc (./dev wasm installs it)"
ls /usr/lib/llvm-14/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a >/dev/null 2>&1 ||
    missing "there is no libclang-rt-14-dev-wasm32 (./dev wasm installs it)"
[ -e /usr/include/xxhash.h ] || missing "there is no libxxhash-dev (./dev wasm installs it)"

# ---- zstd's sources --------------------------------------------------------

# As apt-get does it for who has deb-src in the lists of this machine, which are
# left alone.
fetch_zstd() {
    local apt=$out/apt
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/zstd"
    cat >"$apt/debian.sources" <<SOURCES
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/debian.sources"
        -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
        -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
    (cd "$apt/zstd" && apt-get "${options[@]}" update &&
        apt-get "${options[@]}" source libzstd) >"$apt/log" 2>&1 ||
        { tail -3 "$apt/log"; return 1; }
    mv "$apt"/zstd/libzstd-*/lib "$out/zstd"
    rm -rf "$apt"
}
zstd=${ZSTD_SOURCE:-$out/zstd}
if [ ! -e "$zstd/decompress/zstd_decompress.c" ]; then
    [ -z "${ZSTD_SOURCE:-}" ] || missing "ZSTD_SOURCE=$zstd has no zstd"
    [ "$only" != --check ] || missing "the sources of zstd are not fetched (./dev wasm does it)"
    command -v dpkg-source >/dev/null || missing "there is no dpkg-dev (./dev wasm installs it)"
    fetch_zstd || missing "Debian's sources of zstd cannot be fetched"
fi
[ -z "$only" ] || exit 0

# ---- what is compiled -------------------------------------------------------

# Headers that wasi-libc lacks, those of the two libraries, then its own; never
# those of this machine.
mkdir -p "$out/include"
cp -u /usr/include/xxhash.h /usr/include/xxh3.h "$out/include"
common="--target=wasm32-wasi -O2 -msimd128 -std=c11 -nostdlibinc"
common+=" -isystem $here/include -isystem $out/include -isystem $zstd"
common+=" -isystem /usr/include/wasm32-wasi -D_GNU_SOURCE -fvisibility=hidden"
common+=" -ffunction-sections -fdata-sections"
ours="-I$tree/src -I$tree/include -I$here -DBOUMA_WITH_HWLOC=0"
ours+=" -Wall -Wextra -Werror -Wshorten-64-to-32 -fno-fast-math -ffp-contract=off"
theirs="-DDEBUGLEVEL=0 -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_ -w"

# Of the library, not: what needs MPI, hwloc, files of POSIX, shared memory or
# threads, and the pipelines for writing and checking. Of the rest the linker
# takes what reading needs.
sources=$(cd "$tree" && ls src/*/*.c |
    grep -vE '_mpi(_together)?\.c|/machine_hwloc\.c|/io_posix\.c|/temp_file\.c|/tier_memory_memkind\.c|/shared\.c|src/check/|src/write/|src/engine/p|/tier_memory\.c')
# Of the server: what answers below /api/v1, and nothing that knows of sockets.
serve=$(cd "$tree" && ls tools/bouma/serve/{api_*,answer,grid_box,json_out,memory_budget}.c \
    tools/bouma/serve/{particle_request,reader,request,route,sample_types,url}.c \
    tools/bouma/{attribute_value,format_text,numbers,number_text}.c)
# The functions that route.h names, and that are not among these.
elsewhere=$(sed -n '/define SERVE_ROUTES/,/^$/p' "$tree/tools/bouma/serve/route.h" | tr -d '\\\n' |
    grep -oE '[a-z0-9_]+\)' | tr -d ')' | grep -v '^api_' | sort -u | sed 's/.*/ELSEWHERE(&)/')
[ "$(cat "$out/include/elsewhere.h" 2>/dev/null)" = "$elsewhere" ] ||
    echo "$elsewhere" >"$out/include/elsewhere.h"
exports=$(grep -oE '\bbw_[a-z_]+\(' "$here/bouma_wasm.h" | tr -d '(' | sort -u |
    sed 's/^/-Wl,--export=/' | tr '\n' ' ')
{
    echo "rule cc"
    echo "  command = clang-14 $common \$flags ${FLAGS:-} -MD -MF \$out.d -c \$in -o \$out"
    echo "  depfile = \$out.d"
    echo "  deps = gcc"
    echo "  description = \$out"
    echo "rule ar"
    echo "  command = rm -f \$out && llvm-ar-14 rcs \$out \$in"
    echo "rule link"
    echo "  command = clang-14 --target=wasm32-wasi -nostartfiles ${FLAGS:-} \$in -o \$out" \
        "-Wl,--no-entry,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576" \
        "-Wl,--export=malloc,--export=free $exports"
    objects=
    for c in $sources; do
        o=o/$(basename "$c" .c).o
        echo "build $o: cc $tree/$c"
        case $c in # what samples go through is fast, the rest small
        src/base/* | src/codec/* | src/layout/*) echo "  flags = $ours" ;;
        *) echo "  flags = $ours -Oz" ;;
        esac
        objects+=" $o"
    done
    echo "build libbouma.a: ar$objects"
    objects=
    for c in $serve; do
        o=o/serve_$(basename "$c" .c).o
        echo "build $o: cc $tree/$c"
        echo "  flags = $ours -I$tree/tools/bouma -Oz"
        objects+=" $o"
    done
    for c in "$here"/*.c; do
        o=o/wasm_$(basename "$c" .c).o
        echo "build $o: cc $c"
        echo "  flags = $ours -I$tree/tools/bouma"
        objects+=" $o"
    done
    for c in "$zstd"/common/*.c "$zstd"/decompress/*.c; do
        o=o/zstd_$(basename "$c" .c).o
        echo "build $o: cc $c"
        echo "  flags = $theirs"
        objects+=" $o"
    done
    echo "build bouma.wasm: link$objects libbouma.a"
} >"$out/build.ninja"
ninja -C "$out" -j "${JOBS:-$(nproc)}" bouma.wasm >"$out/log" || { cat "$out/log"; exit 1; }
cp -u "$here"/*.js "$here"/*.d.ts "$here/package.json" "$out"
