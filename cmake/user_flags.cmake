# What a user's flags say stays so. Compilers follow the last of several flags,
# and CMake puts those of the build type after CMAKE_C_FLAGS (and CFLAGS): so
# those that are only CMake's default give way.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

foreach(kind DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
  string(STRIP "${CMAKE_C_FLAGS_${kind}_INIT}" default)
  if(NOT CMAKE_C_FLAGS_${kind} STREQUAL default)
    continue() # a user chose them
  endif()
  set(flags " ${default} ")
  if(kind STREQUAL "RELWITHDEBINFO")
    string(REPLACE " -O2 " " -O3 " flags "${flags}")
  endif()
  foreach(which "-O[^ ]*" "-g[0-9]?|-ggdb[^ ]*|-gdwarf[^ ]*" "-[DU]NDEBUG[^ ]*")
    if(" ${CMAKE_C_FLAGS} " MATCHES " (${which}) ")
      string(REGEX REPLACE " (${which}) " " " flags "${flags}")
    endif()
  endforeach()
  string(STRIP "${flags}" CMAKE_C_FLAGS_${kind})
endforeach()
