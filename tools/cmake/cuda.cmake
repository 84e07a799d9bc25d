# The CUDA backend: one plug-in, loaded on first use, so that nothing else needs a CUDA library.
# FEEDRATE_CUDA=AUTO builds it where nvcc, cuDNN and cuBLASLt are found, ON requires them, OFF skips it.
if(NOT FEEDRATE_CUDA)
  return()
endif()

function(cuda_absent what)
  if(FEEDRATE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FEEDRATE_CUDA=ON, but ${what} was not found")
  endif()
  message(STATUS "CUDA backend: off (${what} not found)")
endfunction()

include(CheckLanguage)
find_program(FEEDRATE_NVCC nvcc HINTS /usr/local/cuda/bin)
if(FEEDRATE_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${FEEDRATE_NVCC})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  # Machine code for A100 and H100/H200; the driver compiles PTX for anything newer.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  cuda_absent(nvcc)
  return()
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc 13 speaks C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)

find_package(CUDAToolkit REQUIRED)
set(cuda_places /usr/local/cuda ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_ROOT} ${CUDAToolkit_BIN_DIR}/..)
set(cuda_suffixes lib lib64 targets/x86_64-linux/lib lib/x86_64-linux-gnu)
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${cuda_places}
  PATH_SUFFIXES include targets/x86_64-linux/include include/x86_64-linux-gnu)
find_library(CUDNN_LIBRARY cudnn HINTS ${cuda_places} PATH_SUFFIXES ${cuda_suffixes})
find_library(CUBLASLT_LIBRARY cublasLt HINTS ${cuda_places} PATH_SUFFIXES ${cuda_suffixes})
if(NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY)
  cuda_absent(cuDNN)
  return()
elseif(NOT CUBLASLT_LIBRARY)
  cuda_absent(cuBLASLt)
  return()
endif()
message(STATUS "CUDA backend: on (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, ${CUDNN_LIBRARY})")

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/trainer/backends/cuda/*.cpp ${CMAKE_SOURCE_DIR}/trainer/*.cu)
# The weights of resizing are those of the CPU, to the bit.
set_source_files_properties(${CMAKE_SOURCE_DIR}/trainer/backends/cuda/decode/weights.cu
  PROPERTIES COMPILE_OPTIONS --fmad=false)
compile_together(cuda_units ${cuda_sources})
add_library(feedrate_cuda MODULE ${cuda_units})
set_target_properties(feedrate_cuda PROPERTIES
  CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static
  CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
  BUILD_RPATH "$ORIGIN;$ORIGIN/../lib;/usr/local/cuda/lib64;/usr/local/cuda/lib"
  INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib;/usr/local/cuda/lib64;/usr/local/cuda/lib")
# In the wheel feedrate-cuda it lies beside the wheel feedrate's program, in feedrate/bin, and loads the
# libraries of the nvidia-* wheels.
if(SKBUILD)
  set(wheels $ORIGIN/../../nvidia)
  set_target_properties(feedrate_cuda PROPERTIES
    INSTALL_RPATH "${wheels}/cu${CUDAToolkit_VERSION_MAJOR}/lib;${wheels}/cudnn/lib;${wheels}/nccl/lib")
  install(TARGETS feedrate_cuda LIBRARY DESTINATION feedrate/bin
    COMPONENT python_cuda EXCLUDE_FROM_ALL)
  if(FEEDRATE_LICENSES)
    install(CODE "
      set(DIRECTORIES [[${FEEDRATE_LICENSES}]])
      set(INTO feedrate/licenses/cuda)" COMPONENT python_cuda EXCLUDE_FROM_ALL)
    install(SCRIPT tools/cmake/licenses.cmake COMPONENT python_cuda EXCLUDE_FROM_ALL)
  endif()
endif()
target_compile_options(feedrate_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr
    -Xcompiler=-Wall,-Wextra,-Wshadow>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${FEEDRATE_WERROR}>>:--Werror=all-warnings
    -Xcompiler=-Werror>)
target_include_directories(feedrate_cuda SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(feedrate_cuda PRIVATE feedrate_flags feedrate_trainer
  ${CUDNN_LIBRARY} ${CUBLASLT_LIBRARY} CUDA::cudart_static)
# It links parts of `trainer` but exports no symbols of them, since the program has its own copies.
target_link_options(feedrate_cuda PRIVATE -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,-z,defs)
