# Arithmetic that is part of the format must give the same numbers to the last
# bit on any machine, and NaN and denormal numbers must be what they are. So
# what a user's flags allow a compiler to do with floating-point numbers is
# forbidden again, for all that is built here and nothing else.
include(CheckCCompilerFlag)

# Programs and (with gcc before 13) libraries that are linked with these flags
# make denormal numbers zero in the whole process.
foreach(kind "" _DEBUG _RELEASE _RELWITHDEBINFO _MINSIZEREL)
  foreach(flags CMAKE_C_FLAGS CMAKE_EXE_LINKER_FLAGS CMAKE_SHARED_LINKER_FLAGS)
    string(REGEX REPLACE "(^| )-Ofast( |$)" "\\1-O3\\2" strict
      "${${flags}${kind}}")
    string(REGEX REPLACE
      "(^| )-(ffast-math|funsafe-math-optimizations)( |$)" " " strict
      "${strict}")
    if(NOT strict STREQUAL "${${flags}${kind}}")
      message(STATUS "bouma: ${flags}${kind} without fast arithmetic, which "
        "would change the format")
      set(${flags}${kind} "${strict}")
    endif()
  endforeach()
endforeach()

# They come last on a command line. src/base/strict_math.h checks that they do.
set(strict_math_flags -fno-fast-math -ffp-contract=off)
# On s390x, "standard" would compute with float as if it were double.
check_c_compiler_flag(-fexcess-precision=fast BOUMA_HAVE_EXCESS_PRECISION)
if(BOUMA_HAVE_EXCESS_PRECISION)
  list(APPEND strict_math_flags -fexcess-precision=fast)
endif()
