# folder(NAME USES <folders below> LINKS <libraries>): a static library of every .cpp under NAME/.
# Headers include no third-party header, so LINKS stay private to the folder.

include(instructions)
include(units)

add_library(feedrate_flags INTERFACE)
target_compile_definitions(feedrate_flags INTERFACE FEEDRATE_VERSION="${PROJECT_VERSION}" FEEDRATE_X86=${FEEDRATE_X86})
target_compile_options(feedrate_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${FEEDRATE_WERROR}>>:-Werror>)
if(FEEDRATE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  target_link_options(feedrate_flags INTERFACE -Wodr -Wlto-type-mismatch -Werror)
endif()
if(FEEDRATE_SANITIZE)
  # Works in gdb and is still fast enough to run every test. With sanitizers, GCC 12 wrongly reports
  # <regex> of its own standard library as uninitialised.
  target_compile_options(feedrate_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=undefined -O1
                                                  -Wno-maybe-uninitialized)
  target_link_options(feedrate_flags INTERFACE -fsanitize=address,undefined)
endif()
if(FEEDRATE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "FEEDRATE_FUZZ needs Clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  target_compile_options(feedrate_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -O1 -g
                                                  -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=undefined)
  target_link_options(feedrate_flags INTERFACE -fsanitize=address,undefined)
endif()

function(folder name)
  cmake_parse_arguments(ARG "" "" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  # The program, the C and Python interfaces and the plug-ins are separate targets.
  list(FILTER sources EXCLUDE REGEX
    "/program/cli/main\\.cpp$|/tools/bindings/|/trainer/backends/(cpu|cuda)/|/communicators/mpi/")
  keep_own_instructions(sources)
  compile_together(sources ${sources})
  add_library(feedrate_${name} STATIC ${sources})
  add_library(Feedrate::${name} ALIAS feedrate_${name})
  set_target_properties(feedrate_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(feedrate_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/feedrate>)
  target_compile_features(feedrate_${name} PUBLIC cxx_std_20)
  # The same pixels, draws and files on every machine, to the last bit: processors whose baseline has
  # fused multiply-add, as all of ARM's do, would round a * b + c once instead of twice.
  target_compile_options(feedrate_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  list(TRANSFORM ARG_USES PREPEND feedrate_)
  target_link_libraries(feedrate_${name} PUBLIC ${ARG_USES} PRIVATE $<BUILD_INTERFACE:feedrate_flags> ${ARG_LINKS})
endfunction()
