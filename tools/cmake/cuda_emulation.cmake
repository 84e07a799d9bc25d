# A second build of the CUDA plug-in that runs on the CPU: its kernels compiled as C++, CUDA's
# libraries replaced by plain loops (tests/support/cuda_emulation). With CUDA's headers but without a
# device, tests run every line of the plug-in except the libraries'.
set(emulation ${CMAKE_SOURCE_DIR}/tests/support/cuda_emulation)
foreach(source ${cuda_sources})
  if(source MATCHES "\\.cu$")
    # A generated .cpp file, since a .cu file has one language for all targets.
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${source})
    set(wrapper ${CMAKE_BINARY_DIR}/cuda_emulation/${relative}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} @ONLY CONTENT
      "#include \"tests/support/cuda_emulation/kernel_language.h\"\n#include \"${relative}\"\n")
    list(APPEND emulated_kernels ${wrapper})
  else()
    list(APPEND emulated_hosts ${source})
  endif()
endforeach()
file(GLOB emulation_sources CONFIGURE_DEPENDS ${emulation}/*.cpp)
compile_together(emulated_hosts ${emulated_hosts})
add_library(feedrate_cuda_emulated MODULE ${emulated_hosts} ${emulated_kernels} ${emulation_sources})
set_target_properties(feedrate_cuda_emulated PROPERTIES CXX_VISIBILITY_PRESET hidden)
# Tests call these directly to check that they refuse what CUDA refuses.
set_source_files_properties(${emulation}/nccl.cpp ${emulation}/runtime.cpp ${emulation}/streams.cpp
  PROPERTIES COMPILE_OPTIONS -fvisibility=default)
target_include_directories(feedrate_cuda_emulated SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR}
                                                                 ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(feedrate_cuda_emulated PRIVATE feedrate_flags feedrate_trainer)
# Its CUDA is its own, even where a process has NVIDIA's: PyTorch's shows all its libraries.
target_link_options(feedrate_cuda_emulated PRIVATE -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,-z,defs
  -Wl,-Bsymbolic)

# Whether the emulated device shows races that are planted.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/trainer/cuda_emulation/*.cpp)
add_executable(test_cuda_emulation ${sources} ${emulation}/blocks.cpp ${emulation}/fibers.cpp
  ${emulation}/runtime.cpp ${emulation}/streams.cpp)
target_include_directories(test_cuda_emulation PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(test_cuda_emulation SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(test_cuda_emulation PRIVATE feedrate_flags GTest::gtest_main)
gtest_discover_tests(test_cuda_emulation TEST_PREFIX "trainer/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
  PROPERTIES LABELS unit)
