#!/bin/sh
# Install a build and use it from outside, as another project would: with CMake,
# with pkg-config, shared and static. And what is installed is clean: names,
# data, headers.
#
#   run.sh BUILD_DIRECTORY
#
# Programs with MPI are run on two ranks with $MPIRUN, by default mpirun beside
# the compiler that the build was configured with.
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
failed=0

say() {
    echo "install: $*"
}
fail() {
    echo "install: FAILED: $*"
    failed=1
}

say "cmake --install"
cmake --install "$build" --prefix "$prefix" >"$work/log" || {
    cat "$work/log"
    exit 1
}
libdir=$(dirname "$(find "$prefix" -name libbouma.so)")
mpi=
[ -e "$libdir/libbouma_mpi.so" ] && mpi=1

# The build's own MPI and sanitizers must be used again.
cached() {
    sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}
mpicc=$(cached MPI_C_COMPILER)
sanitize=$(cached BOUMA_SANITIZE)
flags="-std=c11"
[ -z "$sanitize" ] || flags="$flags -fsanitize=$sanitize"
if [ -z "${MPIRUN:-}" ] && [ -n "$mpi" ]; then
    case $(readlink -f "$mpicc") in
    *mpich*) MPIRUN="$(command -v mpiexec.mpich || command -v mpiexec)" ;;
    *) MPIRUN="$(command -v mpirun.openmpi || command -v mpirun) --oversubscribe" ;;
    esac
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export ASAN_OPTIONS=detect_leaks=0

# run NAME PROGRAM [launcher]: it must succeed and say "the same".
run() {
    name=$1
    shift
    rm -rf "$work/q.bouma"
    if (cd "$work" && timeout 1800 "$@" q.bouma) >"$work/out" 2>&1 &&
        grep -q '^.*the same' "$work/out" &&
        ! grep -q 'NOT' "$work/out"; then
        say "$name runs"
    else
        cat "$work/out"
        fail "$name"
    fi
}

# ---- CMake ----------------------------------------------------------------

mkdir "$work/cmake"
cp "$root/examples/quickstart_serial.c" "$root/examples/quickstart.c" \
    "$work/cmake"
{
    cat <<'END'
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES C)
find_package(bouma REQUIRED COMPONENTS static)
add_executable(serial quickstart_serial.c)
target_link_libraries(serial PRIVATE bouma::bouma)
add_executable(serial_static quickstart_serial.c)
target_link_libraries(serial_static PRIVATE bouma::bouma_static)
END
    [ -z "$mpi" ] || cat <<'END'
add_executable(parallel quickstart.c)
target_link_libraries(parallel PRIVATE bouma::mpi)
add_executable(parallel_static quickstart.c)
target_link_libraries(parallel_static PRIVATE bouma::mpi_static)
END
} >"$work/cmake/CMakeLists.txt"
if cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" \
    ${mpi:+-DMPI_C_COMPILER="$mpicc"} \
    ${sanitize:+-DCMAKE_C_FLAGS=-fsanitize="$sanitize"} >"$work/log" 2>&1 &&
    cmake --build "$work/cmake/build" >>"$work/log" 2>&1; then
    run "serial with find_package" "$work/cmake/build/serial"
    run "serial with find_package, static" "$work/cmake/build/serial_static"
    if [ -n "$mpi" ]; then
        run "parallel with find_package" $MPIRUN -n 2 "$work/cmake/build/parallel"
        run "parallel with find_package, static" $MPIRUN -n 2 \
            "$work/cmake/build/parallel_static"
    fi
else
    cat "$work/log"
    fail "a project that uses find_package(bouma)"
fi

# ---- pkg-config -----------------------------------------------------------

export PKG_CONFIG_PATH="$libdir/pkgconfig"
# use PACKAGE SOURCE COMPILER OUTPUT: shared and static.
use() {
    $3 $flags "$root/examples/$2" $(pkg-config --cflags --libs "$1") \
        -Wl,-rpath,"$libdir" -o "$work/$4" || fail "pkg-config $1"
    # Static: the archive of this library instead of the shared one.
    $3 $flags "$root/examples/$2" $(pkg-config --cflags --static --libs "$1" |
        sed "s,-lbouma_mpi,$libdir/libbouma_mpi.a,; s,-lbouma,$libdir/libbouma.a,") \
        -o "$work/$4_static" || fail "pkg-config --static $1"
}
use bouma quickstart_serial.c "${CC:-cc}" pc_serial
run "serial with pkg-config" "$work/pc_serial"
run "serial with pkg-config, static" "$work/pc_serial_static"
if [ -n "$mpi" ]; then
    use bouma-mpi quickstart.c "$mpicc" pc_parallel
    run "parallel with pkg-config" $MPIRUN -n 2 "$work/pc_parallel"
    run "parallel with pkg-config, static" $MPIRUN -n 2 \
        "$work/pc_parallel_static"
fi
version=$(pkg-config --modversion bouma)
case $(nm -D "$libdir/libbouma.so" | grep -c bouma_version) in
0) fail "libbouma.so has no bouma_version" ;;
esac
# Each name has a version, and the library the name of its ABI.
abi=${version%%.*}
[ "$abi" != 0 ] || abi=${version%.*}
for library in bouma ${mpi:+bouma_mpi}; do
    nm -D --defined-only "$libdir/lib$library.so" | grep -v ' A BOUMA_1' >"$work/names"
    grep -q '@@BOUMA_1.0$' "$work/names" && ! grep -v ' bouma_[a-z0-9_]*@@BOUMA_1\.[0-9]*$' "$work/names" ||
        fail "lib$library.so has names without a version"
    readelf -d "$libdir/lib$library.so" | grep -q "SONAME.*\[lib$library\.so\.$abi\]" ||
        fail "the SONAME of lib$library.so is not that of version $version"
done
grep -q "VERSION_MAJOR ${version%%.*}\$" "$prefix/include/bouma_base.h" ||
    fail "bouma.h is not version $version"

python3 -c "
import json, sys
api = json.load(open(sys.argv[1]))
assert api['version'] == sys.argv[2], api['version']
assert 'bouma_dataset_open' in [f['name'] for f in api['functions']]" \
    "$prefix/share/bouma/api.json" "$version" || fail "share/bouma/api.json"

# ---- Python ---------------------------------------------------------------

package=$(dirname "$(find "$prefix" -path '*/bouma/_api.py')")
if [ -z "$sanitize" ] && "${PYTHON:-/usr/bin/python3}" -c 'import numpy' 2>/dev/null; then
    if (cd "$work" && env -u BOUMA_LIBRARY_PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(dirname "$package")" \
        "${PYTHON:-/usr/bin/python3}" - "$libdir" <<'END'
import sys
import bouma, numpy
with bouma.create("python.bouma") as ds:
    ds.write({"g/v": numpy.arange(64.0)})
assert bouma.open("python.bouma")[0].g.v[::8].sum() == 224
assert bouma._library.serial()._path.startswith(sys.argv[1] + "/"), bouma._library.serial()._path
END
    ); then
        say "the Python package works"
    else
        fail "the Python package"
    fi
    for file in bouma_reader.py python311/sitecustomize.py; do
        [ -f "$prefix/share/bouma/paraview/$file" ] || fail "share/bouma/paraview/$file"
    done
fi

# ---- other languages, and fewer packages -----------------------------------

if [ -z "$sanitize" ]; then
    sh "$root/tests/install/languages.sh" "$prefix" "${mpi:+$mpicc}" || failed=1
fi

# ---- what is in the libraries ---------------------------------------------

for library in "$libdir"/libbouma*.so; do
    wrong=$(nm -D --defined-only "$library" | awk '$2 != "A" && $NF !~ /^bouma_/')
    if [ -n "$wrong" ]; then
        echo "$wrong"
        fail "$library shows names that do not begin with bouma_"
    fi
done
for library in "$libdir"/libbouma*.a; do
    # Data that can be written to is global state. Tables of pointers that only
    # the loader writes to (in .data.rel.ro; of Fortran, __vtab_*) are not.
    objdump -t "$library" | awk '
        / file format / { object = $1 }
        ($4 ~ /^\.(data|bss|tdata|tbss)/ || $3 ~ /^\.(data|bss|tdata|tbss)/) &&
        !/\.data\.rel\.ro/ && $NF !~ /^\./ &&
        $NF !~ /__vtab_|asan|ubsan|\.L|__odr/ { print object, $0 }' >"$work/data"
    if [ -s "$work/data" ] && [ -z "$sanitize" ]; then
        cat "$work/data"
        fail "$library has data that can be changed"
    fi
done

# ---- headers --------------------------------------------------------------

for header in "$prefix"/include/bouma*.h; do
    name=$(basename "$header")
    c=${CC:-cc}
    cxx="${CXX:-c++}"
    if [ "$name" = bouma_mpi.h ]; then
        [ -n "$mpi" ] || continue
        c=$mpicc
        cxx="$cxx $("$mpicc" -show 2>/dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')"
    fi
    echo "#include <$name>" >"$work/h.c"
    cp "$work/h.c" "$work/h.cc"
    $c -std=c11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" \
        -fsyntax-only "$work/h.c" || fail "$name in C"
    # MPI's own header is not ours to warn about.
    $cxx -std=c++11 -Wall -Wextra -Werror \
        -Wno-cast-function-type -I"$prefix/include" -fsyntax-only \
        "$work/h.cc" || fail "$name in C++"
done

[ $failed -eq 0 ] && say "all is well"
exit $failed
