# All libraries that the project uses. tools/install-deps.sh installs them on Debian.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(Freetype REQUIRED)
find_package(Fontconfig REQUIRED)
find_package(JPEG REQUIRED) # libjpeg-turbo
find_package(LibArchive REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(CURL REQUIRED)
find_package(TBB CONFIG REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(CLI11 CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(pugixml CONFIG REQUIRED)

# LMDB, OpenBLAS, ISA-L and xxHash ship pkg-config files (LMDB no CMake package at all).
pkg_check_modules(lmdb REQUIRED IMPORTED_TARGET lmdb)
add_library(LMDB::LMDB ALIAS PkgConfig::lmdb)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
add_library(OpenBLAS::OpenBLAS ALIAS PkgConfig::openblas)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
add_library(ISAL::ISAL ALIAS PkgConfig::isal)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
add_library(XXHASH::XXHASH ALIAS PkgConfig::xxhash)

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
