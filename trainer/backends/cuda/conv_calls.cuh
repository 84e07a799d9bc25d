#pragma once
// cuDNN's three sets of names for one thing, as one set each; and descriptors as text and sizes.

#include <cudnn.h>

#include <cstddef>
#include <string>

#include "formats/error.h"
#include "trainer/backends/cuda/conv_choice.cuh"

namespace feedrate::cuda {

struct ConvBuffers {
  void* x;
  void* filter;
  void* y;
  void* workspace;
};

inline constexpr float conv_one = 1;
inline constexpr float conv_zero = 0;

struct ForwardCalls {
  using Performance = cudnnConvolutionFwdAlgoPerf_t;
  using Algorithm = cudnnConvolutionFwdAlgo_t;
  static constexpr const char* what = "convolution";
  static cudnnStatus_t max_count(cudnnHandle_t cudnn, int* n) {
    return cudnnGetConvolutionForwardAlgorithmMaxCount(cudnn, n);
  }
  static cudnnStatus_t ask(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, int n, int* found,
                           Performance* results) {
    return cudnnGetConvolutionForwardAlgorithm_v7(cudnn, t.x, t.filter, convolution, t.y, n, found,
                                                  results);
  }
  static cudnnStatus_t bytes(cudnnHandle_t cudnn, const ConvTensors& t,
                             cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                             std::size_t* need) {
    return cudnnGetConvolutionForwardWorkspaceSize(cudnn, t.x, t.filter, convolution, t.y,
                                                   algorithm, need);
  }
  static cudnnStatus_t run(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                           const ConvBuffers& at, std::size_t workspace) {
    return cudnnConvolutionForward(cudnn, &conv_one, t.x, at.x, t.filter, at.filter, convolution,
                                   algorithm, at.workspace, workspace, &conv_zero, t.y, at.y);
  }
};

struct DataCalls {
  using Performance = cudnnConvolutionBwdDataAlgoPerf_t;
  using Algorithm = cudnnConvolutionBwdDataAlgo_t;
  static constexpr const char* what = "gradient of a convolution's input";
  static cudnnStatus_t max_count(cudnnHandle_t cudnn, int* n) {
    return cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnn, n);
  }
  static cudnnStatus_t ask(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, int n, int* found,
                           Performance* results) {
    return cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnn, t.filter, t.y, convolution, t.x, n,
                                                       found, results);
  }
  static cudnnStatus_t bytes(cudnnHandle_t cudnn, const ConvTensors& t,
                             cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                             std::size_t* need) {
    return cudnnGetConvolutionBackwardDataWorkspaceSize(cudnn, t.filter, t.y, convolution, t.x,
                                                        algorithm, need);
  }
  static cudnnStatus_t run(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                           const ConvBuffers& at, std::size_t workspace) {
    return cudnnConvolutionBackwardData(cudnn, &conv_one, t.filter, at.filter, t.y, at.y,
                                        convolution, algorithm, at.workspace, workspace, &conv_zero,
                                        t.x, at.x);
  }
};

struct FilterCalls {
  using Performance = cudnnConvolutionBwdFilterAlgoPerf_t;
  using Algorithm = cudnnConvolutionBwdFilterAlgo_t;
  static constexpr const char* what = "gradient of a convolution's filters";
  static cudnnStatus_t max_count(cudnnHandle_t cudnn, int* n) {
    return cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnn, n);
  }
  static cudnnStatus_t ask(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, int n, int* found,
                           Performance* results) {
    return cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnn, t.x, t.y, convolution, t.filter, n,
                                                         found, results);
  }
  static cudnnStatus_t bytes(cudnnHandle_t cudnn, const ConvTensors& t,
                             cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                             std::size_t* need) {
    return cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnn, t.x, t.y, convolution, t.filter,
                                                          algorithm, need);
  }
  static cudnnStatus_t run(cudnnHandle_t cudnn, const ConvTensors& t,
                           cudnnConvolutionDescriptor_t convolution, Algorithm algorithm,
                           const ConvBuffers& at, std::size_t workspace) {
    return cudnnConvolutionBackwardFilter(cudnn, &conv_one, t.x, at.x, t.y, at.y, convolution,
                                          algorithm, at.workspace, workspace, &conv_zero, t.filter,
                                          at.filter);
  }
};

inline std::size_t bytes_of(cudnnTensorDescriptor_t tensor) {
  std::size_t bytes = 0;
  check(cudnnGetTensorSizeInBytes(tensor, &bytes), "cudnnGetTensorSizeInBytes");
  return bytes;
}

inline std::size_t bytes_of(cudnnFilterDescriptor_t filter) {
  std::size_t bytes = 0;
  check(cudnnGetFilterSizeInBytes(filter, &bytes), "cudnnGetFilterSizeInBytes");
  return bytes;
}

/// Type, sizes and strides: "type 0 64x3x224x224 by 150528,50176,224,1".
inline std::string tensor_text(cudnnTensorDescriptor_t tensor) {
  cudnnDataType_t type{};
  int n = 0, c = 0, h = 0, w = 0, by_n = 0, by_c = 0, by_h = 0, by_w = 0;
  check(cudnnGetTensor4dDescriptor(tensor, &type, &n, &c, &h, &w, &by_n, &by_c, &by_h, &by_w),
        "cudnnGetTensor4dDescriptor");
  return join("type ", static_cast<int>(type), " ", n, "x", c, "x", h, "x", w, " by ", by_n, ",",
              by_c, ",", by_h, ",", by_w);
}

inline std::string filter_text(cudnnFilterDescriptor_t filter) {
  cudnnDataType_t type{};
  cudnnTensorFormat_t format{};
  int k = 0, c = 0, h = 0, w = 0;
  check(cudnnGetFilter4dDescriptor(filter, &type, &format, &k, &c, &h, &w),
        "cudnnGetFilter4dDescriptor");
  return join("type ", static_cast<int>(type), " format ", static_cast<int>(format), " ", k, "x", c,
              "x", h, "x", w);
}

}  // namespace feedrate::cuda
