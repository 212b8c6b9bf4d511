#!/bin/sh
# bouma as a part of another project, by add_subdirectory: that project has
# targets with names that are likely, and none of its settings change.
#
#   subproject.sh MPI_C_COMPILER
#
# MPI_C_COMPILER is empty for a build without MPI.
set -eu
mpicc=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/main.c" <<'END_OF_FILE'
#include <bouma.h>
int main(void)
{
    return !bouma_version();
}
END_OF_FILE
echo 'int nothing(void); int nothing(void) { return 0; }' >"$work/m.c"
cat >"$work/CMakeLists.txt" <<END_OF_FILE
cmake_minimum_required(VERSION 3.20)
project(around LANGUAGES C)
# A library m that is not that of the system, and others like it.
foreach(name m dl mpi mpi_static explore sweep bench examples tests)
  add_library(\${name} STATIC m.c)
endforeach()
set(before "\${CMAKE_C_FLAGS}|\${CMAKE_C_FLAGS_RELEASE}|\${CMAKE_C_STANDARD}|\${CMAKE_BUILD_TYPE}")
add_subdirectory($root bouma EXCLUDE_FROM_ALL)
if(NOT before STREQUAL
   "\${CMAKE_C_FLAGS}|\${CMAKE_C_FLAGS_RELEASE}|\${CMAKE_C_STANDARD}|\${CMAKE_BUILD_TYPE}")
  message(FATAL_ERROR "settings were changed")
endif()
foreach(name bouma_tool check_golden example_levels fault_alloc)
  if(TARGET \${name})
    message(FATAL_ERROR "there is a target \${name}")
  endif()
endforeach()
add_executable(shared main.c)
target_link_libraries(shared PRIVATE bouma::bouma)
add_executable(static main.c)
target_link_libraries(static PRIVATE bouma::bouma_static)
if(BOUMA_MPI)
  add_executable(with_mpi main.c)
  target_link_libraries(with_mpi PRIVATE bouma::mpi)
endif()
END_OF_FILE

# Fast arithmetic is the other project's own choice. Here is just looked at how
# it is built; the objects are those of any build, but compiled quickly.
cmake -S "$work" -B "$work/build" -DCMAKE_C_FLAGS=-ffast-math -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBOUMA_MPI="${mpicc:+ON}" ${mpicc:+-DMPI_C_COMPILER="$mpicc"} >"$work/log" 2>&1 || {
    cat "$work/log"
    echo "subproject: FAILED: configuration"
    exit 1
}
if grep '"command".*/src/codec/values.c' "$work/build/compile_commands.json" | grep -q -- '-ffast-math' ||
    ! grep '"command".*/main.c' "$work/build/compile_commands.json" | grep -q -- '-ffast-math'; then
    echo "subproject: FAILED: -ffast-math must be in the commands of the outer project only"
    exit 1
fi
if cmake -S "$root" -B "$work/narrow" -DBOUMA_MPI=OFF -DCMAKE_SIZEOF_VOID_P=4 -DCMAKE_C_FLAGS=-m32 \
    -DCMAKE_C_COMPILER_WORKS=1 -DCMAKE_C_ABI_COMPILED=1 >"$work/log" 2>&1 ||
    ! grep -q 'bouma runs on 64-bit processors only' "$work/log"; then
    cat "$work/log"
    echo "subproject: FAILED: a 32-bit compiler must be refused"
    exit 1
fi
cmake --build "$work/build" -j 2 >"$work/log" 2>&1 || {
    cat "$work/log"
    echo "subproject: FAILED: build"
    exit 1
}
for program in shared static ${mpicc:+with_mpi}; do
    "$work/build/$program"
done
echo "subproject: all is well"
