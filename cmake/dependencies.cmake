# What bouma is built with, found the same way here and in an installed copy.
find_package(PkgConfig REQUIRED)
if(NOT TARGET PkgConfig::zstd)
  pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
endif()
if(NOT BOUMA_INSTALLED)
  pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
endif()
