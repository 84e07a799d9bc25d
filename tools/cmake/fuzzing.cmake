# The harnesses of tests/fuzz: fuzz_<parser> from every <parser>_fuzz.cpp.
# With FEEDRATE_FUZZ they link libFuzzer, for tests/fuzz/run.sh. Otherwise a small driver replays the
# corpus and mutates it for a second, as a test in every build.
find_package(GTest CONFIG REQUIRED)
file(GLOB harnesses CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)

# CONFIGURE_DEPENDS, since a harness gets its corpus only after its first long run.
file(GLOB corpora CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/*)

add_library(fuzz_engine OBJECT
  ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz.cpp
  ${CMAKE_SOURCE_DIR}/tests/fuzz/$<IF:$<BOOL:${FEEDRATE_FUZZ}>,libfuzzer,driver>.cpp)
target_link_libraries(fuzz_engine PRIVATE feedrate_flags feedrate_formats)
add_custom_target(fuzzers)

foreach(harness ${harnesses})
  get_filename_component(parser ${harness} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" parser ${parser})
  add_executable(fuzz_${parser} ${harness})
  set_target_properties(fuzz_${parser} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  # Everything that tests/support needs to make seeds.
  target_link_libraries(fuzz_${parser} PRIVATE feedrate_flags fuzz_engine feedrate_converters
                                               GTest::gtest PNG::PNG JPEG::JPEG WebP::webp
                                               LibArchive::LibArchive ZLIB::ZLIB)
  # The code under test is optimised; the harness need not be.
  target_compile_options(fuzz_${parser} PRIVATE $<$<CONFIG:Release>:-O1>)
  add_dependencies(fuzzers fuzz_${parser})
  if(FEEDRATE_FUZZ)
    target_link_options(fuzz_${parser} PRIVATE -fsanitize=fuzzer)
    continue()
  endif()
  set(corpus ${corpora})
  list(FILTER corpus INCLUDE REGEX "/${parser}$")
  add_test(NAME fuzz/${parser} COMMAND fuzz_${parser} ${corpus})
  set_tests_properties(fuzz/${parser} PROPERTIES LABELS hostile TIMEOUT 300)
endforeach()
