# The viewer of 'bouma serve': ${viewer_files} is C with all that a browser loads. It is
# built by node, with packages that './dev build' or 'npm ci' puts into viewer/. Where the
# reader for browsers can be built, it is a part of it: 'bouma serve --static' needs it.

find_program(BOUMA_NODE node)
if(BOUMA_NODE AND EXISTS ${PROJECT_SOURCE_DIR}/viewer/node_modules/esbuild)
  set(wasm_directory ${PROJECT_BINARY_DIR}/wasm)
  execute_process(COMMAND bash ${PROJECT_SOURCE_DIR}/wasm/build.sh --check
    ${wasm_directory} RESULT_VARIABLE wasm_missing OUTPUT_VARIABLE wasm_text
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(wasm_missing)
    message(STATUS "bouma: ${wasm_text}")
    set(viewer_wasm)
  else()
    set(viewer_wasm ${wasm_directory}/bouma.wasm)
    file(GLOB wasm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.[ch]
      ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/wasm/*.[ch]
      ${PROJECT_SOURCE_DIR}/wasm/include/*.h ${PROJECT_SOURCE_DIR}/wasm/include/sys/*.h
      ${PROJECT_SOURCE_DIR}/tools/bouma/*.h ${PROJECT_SOURCE_DIR}/tools/bouma/serve/*.[ch]
      ${PROJECT_SOURCE_DIR}/tools/bouma/number*.c)
    add_custom_command(OUTPUT ${viewer_wasm}
      COMMAND bash ${PROJECT_SOURCE_DIR}/wasm/build.sh ${wasm_directory}
      DEPENDS ${wasm_sources} ${PROJECT_SOURCE_DIR}/wasm/build.sh
      COMMENT "Building the reader for browsers" VERBATIM)
  endif()
  set(viewer_files ${PROJECT_BINARY_DIR}/viewer/viewer_files.c)
  file(GLOB viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/wasm/bouma.js
    ${PROJECT_SOURCE_DIR}/viewer/*.mjs ${PROJECT_SOURCE_DIR}/viewer/src/*)
  add_custom_command(OUTPUT ${viewer_files}
    COMMAND ${BOUMA_NODE} ${PROJECT_SOURCE_DIR}/viewer/build.mjs ${viewer_files}
      ${viewer_wasm}
    DEPENDS ${viewer_sources} ${PROJECT_SOURCE_DIR}/tools/bouma/colours.c
      ${PROJECT_SOURCE_DIR}/viewer/package-lock.json ${viewer_wasm}
    COMMENT "Bundling the viewer" VERBATIM)
else()
  message(STATUS "bouma: viewer/node_modules is not there, so the viewer is "
    "not built (npm ci --prefix viewer)")
  set(viewer_files ${PROJECT_SOURCE_DIR}/viewer/no_viewer.c)
endif()
