# Whether the Fortran modules are built: BOUMA_FORTRAN_FOUND, and for programs with
# MPI BOUMA_MPI_FORTRAN_FOUND. As a part of another project, only if they are asked
# for. With sanitizers they are left out: compilers of two makers do not agree on
# those.
set(BOUMA_FORTRAN_FOUND OFF)
set(BOUMA_MPI_FORTRAN_FOUND OFF)
string(TOUPPER "${BOUMA_FORTRAN}" bouma_choice)
if(bouma_choice MATCHES "^(OFF|NO|FALSE|0)$")
  return()
elseif(bouma_choice STREQUAL "AUTO")
  if(NOT bouma_top_level OR BOUMA_SANITIZE OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(bouma_needed STATUS)
elseif(bouma_choice MATCHES "^(ON|YES|TRUE|1)$")
  set(bouma_needed FATAL_ERROR)
else()
  message(FATAL_ERROR "BOUMA_FORTRAN is AUTO, ON or OFF, not ${BOUMA_FORTRAN}")
endif()

include(CheckLanguage)
check_language(Fortran)
if(NOT CMAKE_Fortran_COMPILER)
  message(${bouma_needed}
    "bouma: no Fortran compiler, so the Fortran modules are not built")
  return()
endif()
if(NOT TARGET bouma_api_json)
  message(${bouma_needed}
    "bouma: no Python, so the Fortran modules are not built")
  return()
endif()
enable_language(Fortran)
set(BOUMA_FORTRAN_FOUND ON)
if(NOT BOUMA_MPI)
  return()
endif()

# The wrapper beside that of C.
if(NOT MPI_Fortran_COMPILER)
  get_filename_component(bouma_wrapper "${MPI_C_COMPILER}" NAME)
  get_filename_component(bouma_wrapper_dir "${MPI_C_COMPILER}" DIRECTORY)
  string(REPLACE "mpicc" "mpifort" bouma_wrapper "${bouma_wrapper}")
  find_program(MPI_Fortran_COMPILER ${bouma_wrapper} HINTS ${bouma_wrapper_dir})
endif()
find_package(MPI QUIET COMPONENTS Fortran)
if(MPI_Fortran_FOUND)
  set(BOUMA_MPI_FORTRAN_FOUND ON)
else()
  message(${bouma_needed}
    "bouma: MPI is not there for Fortran, so the module bouma_mpi is not built")
endif()
