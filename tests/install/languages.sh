#!/bin/sh
# Projects in one language each -- C, C++, Fortran -- use an installed bouma,
# with CMake and with pkg-config, on a machine that has none of the things it was
# built with; and static libraries, MPI, and what cannot be found is told.
#
#   languages.sh PREFIX MPI_C_COMPILER
#
# MPI_C_COMPILER is empty for a build without MPI.
set -eu
prefix=$1
mpicc=$2
libdir=$(dirname "$(find "$prefix" -name libbouma.so)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

say() {
    echo "install: $*"
}
fail() {
    echo "install: FAILED: $*"
    failed=1
}

# ---- one program, three times ---------------------------------------------

cat >"$work/main.c" <<'END_OF_FILE'
#include <bouma.h>
#include <stdio.h>
int main(void)
{
    return printf("version %s\n", bouma_version()) < 0;
}
END_OF_FILE
sed 's/stdio.h/cstdio/; s/printf/std::printf/; s/(void)/()/' "$work/main.c" >"$work/main.cpp"
cat >"$work/main.f90" <<'END_OF_FILE'
program main
  use iso_c_binding
  implicit none
  interface
    type(c_ptr) function bouma_version() bind(c)
      import :: c_ptr
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface
  character(c_char), pointer :: text(:)
  type(c_ptr) :: version
  version = bouma_version()
  call c_f_pointer(version, text, [strlen(version)])
  print '(*(a))', 'version ', text
end program
END_OF_FILE
sed 's/bouma\.h/bouma_mpi.h/; s/return printf.*/int (*f)(bouma_dataset **, MPI_Comm, const char *, const bouma_options *) = bouma_dataset_open_mpi;\n    return printf("version %s\\n", f ? bouma_version() : "") < 0;/' \
    "$work/main.c" >"$work/mpi.c"
sed 's/stdio.h/cstdio/; s/printf/std::printf/; s/(void)/()/' "$work/mpi.c" >"$work/mpi.cpp"
cp "$work/main.f90" "$work/mpi.f90"

cat >"$work/hpp.cpp" <<'END_OF_FILE'
#include <bouma.hpp>
#include <cstdio>
int main()
{
    bouma::status status;
    bouma::dataset::open("not there.bouma", {}, &status);
    return std::printf("%s %s\n", status ? "no failure" : "version", bouma_version()) < 0;
}
END_OF_FILE

# ---- CMake ----------------------------------------------------------------

# project LANGUAGE SOURCE COMPONENTS TARGET [OPTION...]: the output of CMake is
# in $work/log.
project() {
    language=$1 source=$2 components=$3 target=$4
    shift 4
    rm -rf "$work/project"
    mkdir "$work/project"
    cp "$work/$source" "$work/project"
    cat >"$work/project/CMakeLists.txt" <<END_OF_FILE
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES $language)
find_package(bouma REQUIRED $components)
add_executable(program $source)
target_link_libraries(program PRIVATE $target)
END_OF_FILE
    cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/log" 2>&1 &&
        cmake --build "$work/project/build" >>"$work/log" 2>&1
}
# works NAME LANGUAGE SOURCE ...
works() {
    name=$1
    shift
    if project "$@" && "$work/project/build/program" 2>&1 | grep -q '^ *version '; then
        say "$name"
    else
        cat "$work/log"
        fail "$name"
    fi
}

# No package but ours, and no pkg-config.
bare="-DCMAKE_DISABLE_FIND_PACKAGE_zfp=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_Threads=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON"
hidden="-Dbouma_zstd_LIBRARY=bouma_zstd_LIBRARY-NOTFOUND -DCMAKE_IGNORE_PATH=$(dirname \
    "$(cc -print-file-name=libzstd.so)")"
gfortran=$(command -v gfortran || true)
for pair in C:c CXX:cpp ${gfortran:+Fortran:f90}; do
    suffix=${pair#*:} language=${pair%:*}
    works "$language alone" "$language" "main.$suffix" "" bouma::bouma $bare -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
    works "$language, static" "$language" "main.$suffix" "COMPONENTS static" bouma::bouma_static
    [ -n "$mpicc" ] || continue
    case $language in
    C) wrapper=-DMPI_C_COMPILER=$mpicc ;;
    CXX) wrapper=-DMPI_CXX_COMPILER=$(echo "$mpicc" | sed 's/mpicc/mpicxx/') ;;
    Fortran) wrapper=-DMPI_Fortran_COMPILER=$(echo "$mpicc" | sed 's/mpicc/mpifort/') ;;
    esac
    [ -x "${wrapper#*=}" ] || continue
    works "$language with MPI" "$language" "mpi.$suffix" "COMPONENTS mpi" bouma::mpi $bare "$wrapper"
    works "$language with MPI, static" "$language" "mpi.$suffix" "COMPONENTS mpi static" bouma::mpi_static "$wrapper"
done

works "C++ with bouma.hpp" CXX hpp.cpp "" bouma::bouma $bare -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON

# The Fortran modules, if the build has them: with CMake and with pkg-config, and
# compiled from the sources that are installed, as another compiler would.
if [ -n "$gfortran" ] && [ -e "$libdir/libbouma_fortran.a" ]; then
    cat >"$work/module.f90" <<'END_OF_FILE'
program main
  use bouma
  implicit none
  type(bouma_dataset) :: none
  integer :: ierr
  call bouma_dataset_open(none, 'not there.bouma', ierr=ierr)
  call bouma_dataset_free(none)
  if (ierr == BOUMA_ENOTFOUND) print '(2a)', 'version ', bouma_version()
end program
END_OF_FILE
    sed 's/use bouma/use bouma_mpi/; s/program main/program main\n  use mpi_f08/; s/(none, /(none, MPI_COMM_WORLD, /
        s/  call bouma_dataset_open/  call MPI_Init()\n&/; s/^end program/  call MPI_Finalize()\n&/' \
        "$work/module.f90" | sed '1!{s/^end program.*/end program/}' >"$work/module_mpi.f90"
    works "Fortran modules" Fortran module.f90 "COMPONENTS fortran" bouma::fortran $bare \
        -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
    export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
    if "$gfortran" "$work/module.f90" $(pkg-config --cflags --libs bouma-fortran) -Wl,-rpath,"$libdir" \
        -o "$work/pc" && "$work/pc" | grep -q '^version '; then
        say "Fortran modules with pkg-config"
    else
        fail "Fortran modules with pkg-config"
    fi
    (mkdir "$work/own" && cd "$work/own" &&
        "$gfortran" "$prefix"/share/bouma/fortran/bouma_c.f90 "$prefix"/share/bouma/fortran/bouma.f90 \
            "$work/module.f90" $(pkg-config --libs bouma) -Wl,-rpath,"$libdir" -o own && ./own | grep -q '^version ') ||
        fail "Fortran modules from their sources"
    wrapper=$(echo "$mpicc" | sed 's/mpicc/mpifort/')
    if [ -n "$mpicc" ] && [ -x "$wrapper" ] && [ -e "$libdir/libbouma_mpi_fortran.a" ]; then
        works "Fortran modules with MPI" Fortran module_mpi.f90 "COMPONENTS mpi fortran" bouma::mpi_fortran $bare \
            -DMPI_Fortran_COMPILER="$wrapper"
        if "$wrapper" "$work/module_mpi.f90" $(pkg-config --cflags --libs bouma-mpi-fortran) \
            -Wl,-rpath,"$libdir" -o "$work/pc" && "$work/pc" | grep -q '^version '; then
            say "Fortran modules with MPI and pkg-config"
        else
            fail "Fortran modules with MPI and pkg-config"
        fi
    fi
    unset PKG_CONFIG_LIBDIR
fi

# What is missing has a name.
if project C main.c "COMPONENTS static" bouma::bouma_static -DCMAKE_DISABLE_FIND_PACKAGE_zfp=ON $hidden ||
    ! tr '\n' ' ' <"$work/log" | tr -s ' ' | grep -q 'its static libraries need what was not found:.* libzstd'; then
    cat "$work/log"
    fail "static libraries without zstd"
fi
if project C main.c "COMPONENTS color" bouma::bouma ||
    ! tr '\n' ' ' <"$work/log" | tr -s ' ' | grep -q 'it has the components mpi, static and fortran, not color'; then
    cat "$work/log"
    fail "a component that there is not"
fi

# ---- pkg-config, with no .pc file but ours --------------------------------

export PKG_CONFIG_LIBDIR="$libdir/pkgconfig"
unset PKG_CONFIG_PATH
for compiler in "${CC:-cc} main.c" "${CXX:-c++} main.cpp" "${CXX:-c++} hpp.cpp" ${gfortran:+"$gfortran main.f90"}; do
    if ${compiler% *} "$work/${compiler#* }" $(pkg-config --cflags --libs bouma) -Wl,-rpath,"$libdir" -o "$work/pc" &&
        "$work/pc" | grep -q '^ *version '; then
        say "${compiler% *} with pkg-config"
    else
        fail "${compiler% *} with pkg-config"
    fi
done
exit $failed
