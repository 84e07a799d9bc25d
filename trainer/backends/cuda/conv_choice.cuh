#pragma once
// Which of cuDNN's algorithms a convolution runs by: of the deterministic ones the fastest,
// measured on the device once for each shape and kept (algorithm_cache.cuh). Where nothing can be
// kept, the one that cuDNN itself would take: a choice by the clock would differ from run to run.

#include <cudnn.h>

#include <cstddef>

#include "trainer/backends/cuda/op.cuh"

namespace feedrate::cuda {

using Convolution = Owned<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;

struct ConvTensors {
  cudnnTensorDescriptor_t x;
  cudnnFilterDescriptor_t filter;
  cudnnTensorDescriptor_t y;
};

/// One of forward, backward of data and backward of filter, with the algorithm chosen for it. Each
/// has a descriptor of its own, since the kind of arithmetic belongs to the algorithm.
template <class Algorithm>
struct ConvDirection {
  Convolution convolution;
  Algorithm algorithm{};
  std::size_t workspace = 0;
};

struct ConvChoice {
  ConvDirection<cudnnConvolutionFwdAlgo_t> forward;
  ConvDirection<cudnnConvolutionBwdDataAlgo_t> data;
  ConvDirection<cudnnConvolutionBwdFilterAlgo_t> filters;
};

/// Throws Error when cuDNN has no deterministic algorithm that needs at most workspace_limit.
ConvChoice choose_convolution(const OpSite& site, const ConvTensors& tensors);

}  // namespace feedrate::cuda
