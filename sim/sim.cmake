# Included by CMakeLists.txt. The library and programs of MPI on simulated machines: see README.md. SimGrid's
# SMPI loads programs that are shared libraries.
find_program(BOUMA_SMPIRUN smpirun)
find_path(BOUMA_SMPI_INCLUDE mpi.h PATH_SUFFIXES smpi NO_CMAKE_SYSTEM_PATH
  PATHS /usr/include /usr/local/include)
find_library(BOUMA_SIMGRID simgrid)
if(NOT BOUMA_SMPIRUN OR NOT BOUMA_SMPI_INCLUDE OR NOT BOUMA_SIMGRID)
  message(FATAL_ERROR "BOUMA_SIM needs SimGrid (Debian: libsimgrid-dev)")
endif()
enable_language(CXX)
set(sim_dir ${PROJECT_SOURCE_DIR}/sim)

# What a simulated machine has of its own instead.
set(sim_library_sources ${core_sources})
list(FILTER sim_library_sources EXCLUDE REGEX "/comm/shared\\.c|/store/io_posix\\.c")
# What moves bytes is counted by copies.h.
set(sim_moving_sources ${sim_library_sources})
list(FILTER sim_moving_sources INCLUDE REGEX
  "src/(comm|store|engine|write|read)/")
list(REMOVE_ITEM sim_library_sources ${sim_moving_sources})
# Its memory may be folded.
set(sim_port_sources ${sim_moving_sources})
list(FILTER sim_port_sources INCLUDE REGEX "/comm/port\\.c")
list(REMOVE_ITEM sim_moving_sources ${sim_port_sources})
add_library(bouma_sim_library OBJECT ${sim_library_sources}
  ${PROJECT_SOURCE_DIR}/src/api/api_mpi.c)
add_library(bouma_sim_moving OBJECT ${sim_moving_sources})
add_library(bouma_sim_port OBJECT ${sim_port_sources})
foreach(target bouma_sim_library bouma_sim_moving bouma_sim_port)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${target} SYSTEM PRIVATE ${BOUMA_SMPI_INCLUDE})
  target_compile_definitions(${target} PRIVATE BOUMA_BUILDING)
  target_compile_options(${target} PRIVATE
    "SHELL:-include ${sim_dir}/threads.h")
  target_link_libraries(${target} PRIVATE bouma_flags PkgConfig::zstd
    zfp::zfp PkgConfig::xxhash ${hwloc_target})
endforeach()
target_compile_options(bouma_sim_moving PRIVATE
  "SHELL:-include ${sim_dir}/copies.h")
target_compile_options(bouma_sim_port PRIVATE
  "SHELL:-include ${sim_dir}/copies.h"
  "SHELL:-include ${sim_dir}/fold_port.h")

# Functions of the library that take time, see work_seams.c, or memory, see fold_seams.c.
set(sim_seams bm_codec_find bm_values_encode bm_values_decode bm_tree_build
  bm_gather bm_patch_take bm_patch_take_dense bm_patch_merge bm_patch_give
  bm_grid_hz_take bm_grid_hz_give bm_hz_pack bm_hz_unpack bm_subbands_forward
  bm_subbands_inverse bm_lattice_pack bm_lattice_unpack bm_hash_chunk
  bm_tier_memory_new)
list(TRANSFORM sim_seams PREPEND "LINKER:--wrap=")

add_library(bouma_sim_machine OBJECT ${sim_dir}/rank.cpp ${sim_dir}/threads.cpp
  ${sim_dir}/courier.cpp ${sim_dir}/machine.cpp ${sim_dir}/comm_sim.cpp
  ${sim_dir}/meeting.cpp ${sim_dir}/shared_sim.cpp ${sim_dir}/storage.cpp
  ${sim_dir}/mpi_together.cpp ${sim_dir}/mpi_file.cpp ${sim_dir}/comm_id.cpp
  ${sim_dir}/contents.cpp ${sim_dir}/work.cpp ${sim_dir}/work_seams.c ${sim_dir}/rates.c
  ${sim_dir}/fold.cpp ${sim_dir}/fold_seams.c)
add_library(bouma_sim_check OBJECT ${sim_dir}/check.cpp
  ${sim_dir}/check_work.c)
foreach(target bouma_sim_machine bouma_sim_check)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${target} SYSTEM PRIVATE ${BOUMA_SMPI_INCLUDE})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE -Wall -Wextra
    $<$<BOOL:${BOUMA_WERROR}>:-Werror>)
endforeach()

add_library(bouma_sim_platform MODULE ${sim_dir}/platform.cpp
  ${sim_dir}/machine.cpp)
set_target_properties(bouma_sim_platform PROPERTIES PREFIX ""
  OUTPUT_NAME platform CXX_STANDARD 17
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
target_link_libraries(bouma_sim_platform PRIVATE ${BOUMA_SIMGRID})

# bouma_sim_program(NAME SOURCES...): a program of MPI, for smpirun.
function(bouma_sim_program name)
  add_library(sim_${name} MODULE ${ARGN}
    $<TARGET_OBJECTS:bouma_sim_library> $<TARGET_OBJECTS:bouma_sim_moving>
    $<TARGET_OBJECTS:bouma_sim_port> $<TARGET_OBJECTS:bouma_sim_machine>)
  target_link_options(sim_${name} PRIVATE ${sim_seams})
  set_target_properties(sim_${name} PROPERTIES PREFIX "" SUFFIX ""
    OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
  target_include_directories(sim_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/examples)
  target_include_directories(sim_${name} SYSTEM PRIVATE ${BOUMA_SMPI_INCLUDE})
  target_compile_options(sim_${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${BOUMA_SMPI_INCLUDE}/smpi_helpers.h>"
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${sim_dir}/threads.h>"
    "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${sim_dir}/mpi_sim.h>")
  target_link_libraries(sim_${name} PRIVATE bouma_flags PkgConfig::zstd
    zfp::zfp ${hwloc_target} Threads::Threads ${BOUMA_SIMGRID}
    ${system_libraries})
endfunction()

bouma_sim_program(steps ${sim_dir}/steps.c)
bouma_sim_program(check $<TARGET_OBJECTS:bouma_sim_check>)
# The command line, for its benchmark.
bouma_sim_program(bouma-mpi ${tool_sources} ${bench_mpi_sources}
  ${PROJECT_SOURCE_DIR}/tools/bouma/session_mpi.c ${sim_dir}/fold_content.c)
target_link_options(sim_bouma-mpi PRIVATE LINKER:--wrap=content_new
  LINKER:--wrap=content_free LINKER:--wrap=content_fill)
target_include_directories(sim_bouma-mpi PRIVATE ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/tools/bouma ${PROJECT_SOURCE_DIR}/tools/bouma/bench)
target_compile_definitions(sim_bouma-mpi PRIVATE BOUMA_WITH_HDF5=0
  BOUMA_WITH_PNETCDF=0)
target_link_libraries(sim_bouma-mpi PRIVATE bouma_tool_libraries)
add_custom_target(sim DEPENDS bouma_sim_platform sim_steps sim_check
  sim_bouma-mpi)
