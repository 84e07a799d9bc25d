# libfeedrate.so, the C interface: exports the functions of tools/bindings/c/feedrate.h and nothing else.
file(GLOB c_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/bindings/c/*.cpp)
set(c_exports ${CMAKE_SOURCE_DIR}/tools/bindings/c/feedrate.map)
add_library(feedrate_c SHARED ${c_sources})
add_library(Feedrate::c ALIAS feedrate_c)
set_target_properties(feedrate_c PROPERTIES OUTPUT_NAME feedrate EXPORT_NAME c
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${c_exports} INSTALL_RPATH $ORIGIN)
target_include_directories(feedrate_c PUBLIC
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(feedrate_c PRIVATE feedrate_flags feedrate_loader)
target_link_options(feedrate_c PRIVATE -Wl,--as-needed -Wl,--version-script=${c_exports})

# Included by the same name in the build tree and where it is installed.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include/feedrate)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tools/bindings/c/feedrate.h ${CMAKE_BINARY_DIR}/include/feedrate/feedrate.h
  SYMBOLIC)
