# What bouma is built with. Targets that a project around this one must see, too,
# are global.
find_package(PkgConfig REQUIRED)
function(bouma_find name module)
  if(NOT TARGET PkgConfig::${name})
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  endif()
endfunction()

# The same for a package that has targets.
macro(bouma_find_target target)
  if(NOT TARGET ${target})
    find_package(${ARGN} REQUIRED)
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL ON)
  endif()
endmacro()

bouma_find(zstd libzstd)
bouma_find(hwloc hwloc>=2.3)
bouma_find(xxhash libxxhash)
if(BOUMA_TOOLS)
  bouma_find(jansson jansson)
  bouma_find(png libpng)
  bouma_find(zlib zlib)
endif()
# zfp's package ends configuration where the compiler has no OpenMP, as clang
# may; the library itself can do without.
find_package(OpenMP QUIET COMPONENTS C)
if(OpenMP_C_FOUND)
  bouma_find_target(zfp::zfp zfp 1.0)
elseif(NOT TARGET zfp::zfp)
  find_path(BOUMA_ZFP_INCLUDE zfp/version.h REQUIRED)
  find_library(BOUMA_ZFP_LIBRARY zfp REQUIRED)
  add_library(zfp::zfp UNKNOWN IMPORTED GLOBAL)
  set_target_properties(zfp::zfp PROPERTIES
    IMPORTED_LOCATION ${BOUMA_ZFP_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${BOUMA_ZFP_INCLUDE})
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
bouma_find_target(Threads::Threads Threads)
if(BOUMA_MPI)
  bouma_find_target(MPI::MPI_C MPI COMPONENTS C)
endif()
