# The CPU backend: one plug-in, loaded on first use, so that nothing else needs oneDNN and OpenBLAS.
# FEEDRATE_CPU=OFF leaves it out: the program then loads and converts, but does not train.
if(NOT FEEDRATE_CPU OR FEEDRATE_FUZZ)
  return()
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
add_library(OpenBLAS::OpenBLAS ALIAS PkgConfig::openblas)

# oneDNN is the system's, or that of the prefix FEEDRATE_ONEDNN. Debian's CMake file of it requires
# OpenCL's headers, which Feedrate does not use.
if(NOT FEEDRATE_ONEDNN STREQUAL FEEDRATE_ONEDNN_SEARCHED) # not found yet, or another was found
  unset(DNNL_INCLUDE_DIR CACHE)
  unset(DNNL_LIBRARY CACHE)
  set(FEEDRATE_ONEDNN_SEARCHED "${FEEDRATE_ONEDNN}" CACHE INTERNAL "where DNNL_* were looked for")
endif()
if(FEEDRATE_ONEDNN AND NOT FEEDRATE_ONEDNN STREQUAL "SYSTEM")
  file(REAL_PATH "${FEEDRATE_ONEDNN}" onednn_prefix BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  set(onednn_place HINTS ${onednn_prefix} PATH_SUFFIXES include lib NO_DEFAULT_PATH)
endif()
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp ${onednn_place} REQUIRED)
find_library(DNNL_LIBRARY dnnl ${onednn_place} REQUIRED)
# It states no version either; the header does.
file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h dnnl_lines REGEX "VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" dnnl_lines "${dnnl_lines}")
string(REPLACE ";" "." dnnl_version "${dnnl_lines}")
if(dnnl_version VERSION_LESS 2.6)
  message(FATAL_ERROR "oneDNN ${dnnl_version} in ${DNNL_INCLUDE_DIR} is too old; 2.6 or newer is needed")
endif()
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES
  IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})

# A root that may set errno is no vector instruction.
set_source_files_properties(trainer/backends/cpu/update.cpp trainer/backends/cpu/layers/lrn.cpp
  PROPERTIES COMPILE_OPTIONS -fno-math-errno)
file(GLOB_RECURSE cpu_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/trainer/backends/cpu/*.cpp)
set(cpu_entry ${CMAKE_SOURCE_DIR}/trainer/backends/cpu/backend.cpp)
list(REMOVE_ITEM cpu_sources ${cpu_entry})
compile_together(cpu_units ${cpu_sources})
# Tests and micro-benchmarks link its parts.
add_library(feedrate_cpu_parts OBJECT ${cpu_units})
set_target_properties(feedrate_cpu_parts PROPERTIES CXX_VISIBILITY_PRESET hidden)
target_link_libraries(feedrate_cpu_parts PUBLIC feedrate_flags feedrate_trainer DNNL::dnnl OpenBLAS::OpenBLAS
                                                OpenMP::OpenMP_CXX fmt::fmt)
add_library(feedrate_cpu MODULE ${cpu_entry})
set_target_properties(feedrate_cpu PROPERTIES CXX_VISIBILITY_PRESET hidden)
target_link_libraries(feedrate_cpu PRIVATE feedrate_cpu_parts)
if(onednn_prefix) # where the system does not look
  get_filename_component(onednn_libraries ${DNNL_LIBRARY} DIRECTORY)
endif()
# DT_RPATH, not RUNPATH: it also applies to the dependencies of the libraries that a package carries.
set_target_properties(feedrate_cpu PROPERTIES INSTALL_RPATH "$ORIGIN;${onednn_libraries}")
target_link_options(feedrate_cpu PRIVATE -Wl,--disable-new-dtags)
# It links parts of `trainer` but exports no symbols of them, since the program has its own copies.
target_link_options(feedrate_cpu PRIVATE -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,-z,defs)
