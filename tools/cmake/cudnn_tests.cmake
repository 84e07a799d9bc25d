# Tests (tests/trainer/cudnn) that ask the real cuDNN what the plug-in asks before it runs, for GPUs
# that are only described. They need the library, but no device.
set(backend ${CMAKE_SOURCE_DIR}/trainer/backends/cuda)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/trainer/cudnn/*.cpp)
add_executable(test_cudnn ${sources} ${backend}/layout.cpp ${backend}/context.cpp
  ${backend}/products/conv_engine.cpp ${backend}/products/conv_graph.cpp
  ${backend}/products/graph_descriptor.cpp)
target_include_directories(test_cudnn SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(test_cudnn PRIVATE feedrate_flags feedrate_trainer GTest::gtest_main
  nlohmann_json::nlohmann_json ${CUDNN_LIBRARY} ${CUBLASLT_LIBRARY} CUDA::cudart_static)
target_link_options(test_cudnn PRIVATE -Wl,--wrap=cudnnBackendSetAttribute)
# cuDNN offers the engines that it compiles at run time only where it can load the driver's library;
# for offers, the toolkit's stub will do.
find_library(FEEDRATE_CUDA_STUB cuda HINTS ${CUDAToolkit_LIBRARY_DIR}/stubs /usr/local/cuda/lib64/stubs
  NO_DEFAULT_PATH)
set(cudnn_test_environment)
if(FEEDRATE_CUDA_STUB)
  set(stub ${CMAKE_BINARY_DIR}/cuda_stub)
  file(MAKE_DIRECTORY ${stub})
  file(CREATE_LINK ${FEEDRATE_CUDA_STUB} ${stub}/libcuda.so.1 SYMBOLIC)
  set(cudnn_test_environment ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_append:${stub})
endif()
gtest_discover_tests(test_cudnn TEST_PREFIX "trainer/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
  PROPERTIES LABELS conformance TIMEOUT 600 ${cudnn_test_environment})
