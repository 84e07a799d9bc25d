# One test executable for each folder under tests/. A test's suite name starts with its label:
# UnitIdx, HostileIdx, ConformanceFormats … so labels need no second list. (The full name of a
# parameterised suite starts with the instantiation's: leave that empty, or start it with a label.)
find_package(GTest CONFIG REQUIRED)
include(GoogleTest)

set(FEEDRATE_TEST_LABELS Unit Conformance Hostile Commands Interop Cuda Slow)
file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.cpp)
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/support/places.cpp PROPERTIES
  COMPILE_DEFINITIONS FEEDRATE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

function(test_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*_test.cpp)
  list(FILTER sources EXCLUDE REGEX "/trainer/(cudnn|cuda_emulation)/") # programs of their own
  if(NOT sources)
    return()
  endif()
  keep_own_instructions(sources)
  compile_together(sources ${sources})
  add_executable(test_${name} ${sources} ${support})
  target_link_libraries(test_${name} PRIVATE feedrate_flags ${ARGN} GTest::gtest_main fmt::fmt
                                             nlohmann_json::nlohmann_json)
  # The code under test is optimised; the tests themselves are compiled once and run once.
  # What they expect is computed as what they test (folder.cmake).
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1> -ffp-contract=off)
  foreach(label ${FEEDRATE_TEST_LABELS})
    string(TOLOWER ${label} lower)
    gtest_discover_tests(test_${name} TEST_FILTER "${label}*" TEST_LIST ${name}_${lower}
      TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${lower} TIMEOUT 900)
  endforeach()
  # A test without a label would silently never run.
  list(JOIN FEEDRATE_TEST_LABELS "*:" labelled)
  add_test(NAME ${name}/every_test_has_a_label
    COMMAND test_${name} --gtest_list_tests "--gtest_filter=-${labelled}*")
  set_tests_properties(${name}/every_test_has_a_label PROPERTIES
    LABELS unit FAIL_REGULAR_EXPRESSION "\n  ")
endfunction()

test_folder(formats feedrate_formats LMDB::LMDB PNG::PNG JPEG::JPEG WebP::webp ZLIB::ZLIB)
test_folder(converters feedrate_converters feedrate_loader LibArchive::LibArchive JPEG::JPEG TBB::tbb)
test_folder(loader feedrate_loader)
if(TARGET feedrate_cpu)
  test_folder(trainer feedrate_cpu_parts ZLIB::ZLIB)
  # A plug-in of another version, to be refused.
  add_library(feedrate_old MODULE tests/support/old_backend.c)
  add_dependencies(test_trainer feedrate_cpu feedrate_old)
endif()
test_folder(tools feedrate_tools feedrate_c LibArchive::LibArchive)
# What has instructions of its own on x86-64, as it is elsewhere: by GCC's vectors alone.
if(FEEDRATE_X86)
  add_executable(test_portable formats/codecs/jpeg/jpeg_scan_bytes.cpp formats/codecs/png/png_filter.cpp
    formats/codecs/png/run_deflate.cpp tests/formats/base/lanes_test.cpp
    tests/formats/codecs/jpeg/jpeg_scan_bytes_test.cpp tests/formats/codecs/png/png_filter_test.cpp
    tests/formats/codecs/png/run_deflate_test.cpp ${support})
  target_compile_options(test_portable PRIVATE -UFEEDRATE_X86 -DFEEDRATE_X86=0 -O1)
  target_link_libraries(test_portable PRIVATE feedrate_flags feedrate_formats GTest::gtest_main fmt::fmt ZLIB::ZLIB)
  gtest_discover_tests(test_portable TEST_PREFIX portable/ DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS unit TIMEOUT 300)
endif()

# Once more as on processors with fewer instructions: what passes here passes there. Those of `baseline`
# are what other architectures run.
if(FEEDRATE_X86)
  foreach(name formats loader)
    foreach(most baseline avx2)
      add_test(NAME ${name}/isa/${most} COMMAND test_${name}
        "--gtest_filter=UnitPng*:UnitRunDeflate*:UnitJpeg*:UnitPacked*:UnitResize*:UnitPlanes*:UnitPixel*:UnitTone*:UnitChecksum*:UnitRender*:UnitAugment*:UnitParity*:UnitDecodePart*:Conformance*:InteropJpeg*")
      set_tests_properties(${name}/isa/${most} PROPERTIES
        LABELS isa TIMEOUT 900 ENVIRONMENT FEEDRATE_INSTRUCTIONS=${most})
    endforeach()
  endforeach()
endif()
if(TARGET test_trainer)
  # Parity, gradients and determinism once more with the instructions of other processors, so that
  # what passes here passes there. Only a few quick networks, because all of this runs once for
  # each set of instructions.
  set(isa_tests InteropPyTorch.ten_steps_of_lenet_* InteropOptimizers.* InteropSmallImages/*.*/mlp_*
    InteropSmallImages/*.*/lstm_* InteropImagenet/*.*/alexnet_caffe__67_*
    ConformanceOps.the_cpu_* ConformanceDeterminism.* UnitBf16.*)
  list(JOIN isa_tests ":" isa_tests)
  set(isa_script ${CMAKE_SOURCE_DIR}/tests/trainer/isa.sh)
  execute_process(COMMAND ${isa_script} list OUTPUT_VARIABLE isa_settings OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" isa_settings "${isa_settings}")
  foreach(setting IN LISTS isa_settings)
    add_test(NAME trainer/isa/${setting}
      COMMAND ${isa_script} ${setting} $<TARGET_FILE:test_trainer> --gtest_filter=${isa_tests})
    set_tests_properties(trainer/isa/${setting} PROPERTIES LABELS isa SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
endif()
if(TARGET feedrate_cuda AND TARGET test_trainer)
  include(cuda_emulation)
  add_dependencies(test_trainer feedrate_cuda feedrate_cuda_emulated)
  add_dependencies(test_tools feedrate_cuda_emulated)
  if(NOT FEEDRATE_SANITIZE) # cuDNN never frees some of what it allocates for a plan
    include(cudnn_tests)
  endif()
endif()
# The C interface, by a program in C.
file(GLOB c_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tools/bindings/c/*.c)
add_executable(test_c ${c_tests})
set_target_properties(test_c PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(test_c PRIVATE -Wall -Wextra -Wconversion -pedantic -Werror)
target_link_libraries(test_c PRIVATE feedrate_c Threads::Threads)
if(FEEDRATE_SANITIZE)
  target_link_options(test_c PRIVATE -fsanitize=address,undefined)
endif()
add_test(NAME tools/c_interface
  COMMAND ${CMAKE_SOURCE_DIR}/tests/tools/bindings/c/run.sh $<TARGET_FILE:test_c> $<TARGET_FILE:feedrate>
          $<TARGET_FILE:feedrate_c>)
set_tests_properties(tools/c_interface PROPERTIES LABELS unit TIMEOUT 300)

if(TARGET test_tools)
  # Fake driver libraries, so that telemetry is tested without a GPU.
  add_library(fake_nvml MODULE tests/support/fake_nvml/fake_nvml.cpp)
  add_library(fake_old_nvml MODULE tests/support/fake_nvml/fake_nvml.cpp)
  target_compile_definitions(fake_old_nvml PRIVATE FEEDRATE_OLD_DRIVER)
  foreach(library fake_nvml fake_old_nvml)
    target_link_libraries(${library} PRIVATE feedrate_flags)
  endforeach()
  add_dependencies(test_tools feedrate fake_nvml fake_old_nvml)
endif()

add_test(NAME readme/every_line_runs
  COMMAND ${CMAKE_SOURCE_DIR}/tests/readme/run.sh $<TARGET_FILE:feedrate> ${CMAKE_SOURCE_DIR})
set_tests_properties(readme/every_line_runs PROPERTIES LABELS commands TIMEOUT 300)

# A Slurm of its own: several daemons and jobs, so it runs alone.
add_test(NAME cluster/slurm
  COMMAND ${CMAKE_SOURCE_DIR}/tests/cluster/run.sh $<TARGET_FILE:feedrate> ${CMAKE_SOURCE_DIR})
set_tests_properties(cluster/slurm PROPERTIES
  LABELS commands TIMEOUT 300 SKIP_RETURN_CODE 77 RUN_SERIAL ON)

# The check of a GPU, where there is none: what it makes of what it sees, and its bundle.
find_program(PYTHON3 python3)
if(PYTHON3 AND TARGET fake_nvml)
  add_test(NAME peers/energy_of_a_gpu
    COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tests/tools/lab/peers/gpu_energy_test.py
      ${CMAKE_SOURCE_DIR} $<TARGET_FILE:fake_nvml> $<TARGET_FILE:fake_old_nvml>)
  set_tests_properties(peers/energy_of_a_gpu PROPERTIES LABELS unit TIMEOUT 60)
endif()
if(PYTHON3)
  foreach(part judge suites keep order emulated)
    add_test(NAME gpu_check/${part}
      COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tests/gpu_check/${part}_test.py ${CMAKE_SOURCE_DIR})
    set_tests_properties(gpu_check/${part} PROPERTIES LABELS commands TIMEOUT 300
      ENVIRONMENT "FEEDRATE_PROGRAM=$<TARGET_FILE:feedrate>")
  endforeach()
endif()
# Random options of every command against an independent reading: a minute, or an hour with
# FEEDRATE_LONG_TESTS=1. Inputs and digests are made by Python's standard library alone.
if(PYTHON3)
  add_test(NAME product/random_options_agree_with_another_reading
    COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tests/product/product_test.py $<TARGET_FILE:feedrate>)
  set_tests_properties(product/random_options_agree_with_another_reading PROPERTIES
    LABELS commands TIMEOUT 4500)
endif()
if(PYTHON3 AND TARGET feedrate_cuda AND NOT FEEDRATE_SANITIZE)
  add_test(NAME gpu_check/its_bundle_runs_in_an_empty_root
    COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu_check/run.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(gpu_check/its_bundle_runs_in_an_empty_root PROPERTIES
    LABELS cuda TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

if(NOT FEEDRATE_SANITIZE)
  add_test(NAME docker/steps_run
    COMMAND ${CMAKE_SOURCE_DIR}/tests/docker/run.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(docker/steps_run PROPERTIES
    LABELS commands TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()

if(NOT FEEDRATE_SANITIZE) # users of the package would have to link the sanitizers too
  add_test(NAME package/installs_moves_and_is_removed
    COMMAND ${CMAKE_SOURCE_DIR}/tests/package/run.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(package/installs_moves_and_is_removed PROPERTIES
    LABELS commands TIMEOUT 300)
endif()

add_test(NAME package/version_needs COMMAND ${CMAKE_SOURCE_DIR}/tests/package/version_needs_test.sh)
set_tests_properties(package/version_needs PROPERTIES LABELS commands TIMEOUT 60)
add_test(NAME package/lists_of_debian COMMAND ${CMAKE_SOURCE_DIR}/tests/package/debian_test.sh)
set_tests_properties(package/lists_of_debian PROPERTIES LABELS commands TIMEOUT 60)
if(TARGET feedrate_cpu AND NOT FEEDRATE_SANITIZE) # it trains many times
  add_test(NAME package/losses
    COMMAND ${CMAKE_SOURCE_DIR}/tests/package/losses_test.sh $<TARGET_FILE:feedrate>)
  set_tests_properties(package/losses PROPERTIES LABELS commands TIMEOUT 200)
endif()

# Micro-benchmarks: bench_<name> from each tests/<folder>/<name>_bench.cpp. Run by hand, not by CTest.
function(bench_folder name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*_bench.cpp)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^.*/([^/]+)_bench\\.cpp$" "bench_\\1" bench ${source})
    string(REGEX REPLACE "_bench\\.cpp$" "_*.cpp" parts ${source})
    file(GLOB parts CONFIGURE_DEPENDS ${parts}) # where it is long: <name>_limit.cpp, …
    list(FILTER parts EXCLUDE REGEX "_(bench|test)\\.cpp$")
    add_executable(${bench} ${source} ${parts} ${support})
    target_link_libraries(${bench} PRIVATE feedrate_flags ${ARGN} fmt::fmt)
  endforeach()
endfunction()

bench_folder(formats feedrate_formats PNG::PNG JPEG::JPEG)
bench_folder(loader feedrate_loader)
if(TARGET feedrate_cpu)
  bench_folder(trainer feedrate_cpu_parts)
endif()
add_test(NAME package/recipe_names_the_version
  COMMAND grep -qx "  version: ${PROJECT_VERSION}" ${CMAKE_SOURCE_DIR}/samples/conda/recipe.yaml)
set_tests_properties(package/recipe_names_the_version PROPERTIES LABELS commands TIMEOUT 10)
