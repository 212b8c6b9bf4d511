# The viewer of 'bouma serve': ${viewer_files} is C with all that a browser loads. It is
# built by node, with packages that './dev build' or 'npm ci' puts into viewer/.

find_program(BOUMA_NODE node)
if(BOUMA_NODE AND EXISTS ${PROJECT_SOURCE_DIR}/viewer/node_modules/esbuild)
  set(viewer_files ${PROJECT_BINARY_DIR}/viewer/viewer_files.c)
  file(GLOB viewer_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/viewer/*.mjs ${PROJECT_SOURCE_DIR}/viewer/src/*)
  add_custom_command(OUTPUT ${viewer_files}
    COMMAND ${BOUMA_NODE} ${PROJECT_SOURCE_DIR}/viewer/build.mjs ${viewer_files}
    DEPENDS ${viewer_sources} ${PROJECT_SOURCE_DIR}/tools/bouma/colours.c
      ${PROJECT_SOURCE_DIR}/viewer/package-lock.json
    COMMENT "Bundling the viewer" VERBATIM)
else()
  message(STATUS "bouma: viewer/node_modules is not there, so the viewer is "
    "not built (npm ci --prefix viewer)")
  set(viewer_files ${PROJECT_SOURCE_DIR}/viewer/no_viewer.c)
endif()
