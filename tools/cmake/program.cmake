# The one binary. It finds backends beside itself, so none of their libraries is needed to start it.
set(generated ${CMAKE_BINARY_DIR}/generated)

# What `--version` and every measured row say about this build. Each build reads the commit anew.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type_upper}}" build_flags)
string(JOIN ", " build_libraries
  "LMDB ${lmdb_VERSION}" "libpng ${PNG_VERSION_STRING}" "libwebp ${webp_VERSION}" "zlib ${ZLIB_VERSION_STRING}"
  "FreeType ${FREETYPE_VERSION_STRING}" "fontconfig ${Fontconfig_VERSION}" "libarchive ${LibArchive_VERSION}"
  "oneTBB ${TBB_VERSION}" "OpenSSL ${OPENSSL_VERSION}" "libcurl ${CURL_VERSION_STRING}"
  "fmt ${fmt_VERSION}" "nlohmann-json ${nlohmann_json_VERSION}" "CLI11 ${CLI11_VERSION}"
  "pugixml ${pugixml_VERSION}" "spdlog ${spdlog_VERSION}")
configure_file(tools/cmake/build_info.cpp.in ${generated}/build_info.cpp @ONLY)
add_custom_target(feedrate_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DHEADER=${generated}/commit.h
          -P ${CMAKE_SOURCE_DIR}/tools/cmake/commit.cmake
  BYPRODUCTS ${generated}/commit.h COMMENT "Asking for the commit")
add_dependencies(feedrate_tools feedrate_commit)
target_sources(feedrate_tools PRIVATE ${generated}/build_info.cpp)
target_include_directories(feedrate_tools PRIVATE ${generated})

# The report's page and its charts' style sheet are embedded in the binary.
embed(feedrate_tools page_html ${CMAKE_SOURCE_DIR}/tools/lab/report/write/page.html)
embed(feedrate_tools page_css ${CMAKE_SOURCE_DIR}/tools/lab/report/write/page.css)

# So is the probe of `feedrate diagnose`: one file of Python, kept in parts.
foreach(part probe_times probe_batches probe_loops probe_sweep probe_swap probe_start)
  embed(feedrate_tools ${part} ${CMAKE_SOURCE_DIR}/tools/lab/diagnose/${part}.py)
endforeach()

add_executable(feedrate tools/program/cli/main.cpp)
if(TARGET feedrate_cpu)
  add_dependencies(feedrate feedrate_cpu)
endif()
target_link_libraries(feedrate PRIVATE feedrate_flags feedrate_tools CLI11::CLI11 fmt::fmt)

# It prints its own manual pages, shell completions and the description of its JSON, whenever it is linked.
set(printed ${CMAKE_BINARY_DIR}/printed)
add_custom_command(TARGET feedrate POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory ${printed}
  COMMAND feedrate man --out ${printed}/man1
  COMMAND feedrate completion bash > ${printed}/feedrate
  COMMAND feedrate completion zsh > ${printed}/_feedrate
  COMMAND feedrate completion fish > ${printed}/feedrate.fish
  COMMAND feedrate schema > ${printed}/schema.json
  COMMAND feedrate schema --markdown > ${printed}/tables.md
  COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/tools/JSON.md ${printed}/tables.md > ${printed}/JSON.md
  COMMENT "Printing manual pages, shell completions and the schema" VERBATIM)

# In the build tree, the program finds the adapters of other frameworks here.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tools/lab/peers ${CMAKE_BINARY_DIR}/peers SYMBOLIC)
