// The part of cuDNN that we call, in the plainest loops, refusing what the real one would refuse.
// Of the algorithms it offers, the first and last two do not keep our promises; of the other two,
// the clock says which is the faster.

#include <cudnn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "numbers.h"
#include "queue.h"

/// What a tensor's values are and in which order they lie.
struct Values {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  bool operator==(const Values&) const = default;
  bool known() const {
    const bool narrow = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
    const bool ordered = format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC;
    return (narrow || type == CUDNN_DATA_FLOAT) && ordered;
  }
  feedrate::emulation::Number number() const {
    using feedrate::emulation::Number;
    return type == CUDNN_DATA_HALF       ? Number::fp16
           : type == CUDNN_DATA_BFLOAT16 ? Number::bf16
                                         : Number::fp32;
  }
  int at(int n, int c, int y, int x, int channels, int height, int width) const {
    return format == CUDNN_TENSOR_NHWC ? ((n * height + y) * width + x) * channels + c
                                       : ((n * channels + c) * height + y) * width + x;
  }
};

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  int n = 0, c = 0, h = 0, w = 0;
  Values values{};
};
struct cudnnFilterStruct {
  int k = 0, c = 0, h = 0, w = 0;
  Values values{};
};
struct cudnnConvolutionStruct {
  int pad = 0, stride = 0, groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

constexpr std::size_t workspace_needed = 1000;

struct Shape {
  cudnnTensorStruct x;
  cudnnFilterStruct w;
  cudnnConvolutionStruct convolution;
  cudnnTensorStruct y;

  bool fits() const {
    const auto side = [this](int in, int kernel) {
      return (in + 2 * convolution.pad - kernel) / convolution.stride + 1;
    };
    // All in one type and order: of 16 bits with sums in fp32, what cuDNN calls PSEUDO_HALF_CONFIG
    // and PSEUDO_BFLOAT16_CONFIG.
    const bool alike = x.values == w.values && x.values == y.values;
    return alike && x.n == y.n && x.c == w.c * convolution.groups &&
           w.k % convolution.groups == 0 && y.c == w.k && y.h == side(x.h, w.h) &&
           y.w == side(x.w, w.w);
  }

  /// body(offset in x, in w, in y) for every multiplication.
  template <class Body>
  void each(Body body) const {
    for (int n = 0; n < y.n; ++n)
      for (int k = 0; k < y.c; ++k)
        for (int oy = 0; oy < y.h; ++oy)
          for (int ox = 0; ox < y.w; ++ox)
            for (int c = 0; c < w.c; ++c)
              for (int ky = 0; ky < w.h; ++ky)
                for (int kx = 0; kx < w.w; ++kx) {
                  const int iy = oy * convolution.stride - convolution.pad + ky;
                  const int ix = ox * convolution.stride - convolution.pad + kx;
                  if (iy < 0 || iy >= x.h || ix < 0 || ix >= x.w) continue;
                  const int channel = k / (w.k / convolution.groups) * w.c + c;
                  body(x.values.at(n, channel, iy, ix, x.c, x.h, x.w),
                       w.values.at(k, c, ky, kx, w.c, w.h, w.w),
                       y.values.at(n, k, oy, ox, y.c, y.h, y.w));
                }
  }
};

std::size_t values_of(const cudnnTensorStruct& t) {
  return static_cast<std::size_t>(t.n) * static_cast<std::size_t>(t.c * t.h * t.w);
}

constexpr int offered = 6;

template <class Performance>
cudnnStatus_t offer(int requested, int* returned, Performance* results) {
  if (requested < offered) return CUDNN_STATUS_BAD_PARAM;
  *returned = offered;
  const auto row = [results](int at, int algorithm, cudnnMathType_t math) -> Performance& {
    Performance& result = results[at];
    result = {};
    result.algo = static_cast<decltype(result.algo)>(algorithm);
    result.status = CUDNN_STATUS_SUCCESS;
    result.determinism = CUDNN_DETERMINISTIC;
    result.mathType = math;
    return result;
  };
  row(0, 0, CUDNN_DEFAULT_MATH).determinism = CUDNN_NON_DETERMINISTIC;
  row(1, 0, CUDNN_DEFAULT_MATH).status = CUDNN_STATUS_NOT_SUPPORTED;
  row(2, 1, CUDNN_TENSOR_OP_MATH);
  row(3, 1, CUDNN_DEFAULT_MATH);
  row(4, 2, CUDNN_DEFAULT_MATH);
  row(5, 3, CUDNN_DEFAULT_MATH);  // with more workspace than anybody has
  return CUDNN_STATUS_SUCCESS;
}

template <class Algorithm>
cudnnStatus_t size_of(const Shape& shape, Algorithm algorithm, std::size_t* bytes) {
  const int number = static_cast<int>(algorithm);
  if (!shape.fits() || number < 1 || number > 3) return CUDNN_STATUS_BAD_PARAM;
  *bytes = number == 3 ? std::size_t{1} << 50 : workspace_needed;
  return CUDNN_STATUS_SUCCESS;
}

// FEEDRATE_EMULATED_FASTEST names the algorithm that takes a third of the others' time.
double milliseconds(int algorithm) {
  const char* fastest = std::getenv("FEEDRATE_EMULATED_FASTEST");
  return fastest != nullptr && std::atoi(fastest) == algorithm ? 0.5 : 1.5;
}

cudnnStatus_t given(cudaStream_t stream, std::function<void()> work) {
  const bool taken = feedrate::emulation::enqueue(stream, std::move(work)) == cudaSuccess;
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

/// What a convolution's tensors hold: read in their type, summed in fp32.
struct Factors {
  const void* memory;
  feedrate::emulation::Number type;
  float operator[](int i) const {
    return feedrate::emulation::read(type, memory, static_cast<std::size_t>(i));
  }
};

/// out = Σ a·b, `out` and the workspace wiped first. `body(i, j, k, sums)` adds a product.
template <class Algorithm, class Body>
cudnnStatus_t compute(cudnnHandle_t handle, const Shape& shape, Algorithm algorithm,
                      void* workspace, std::size_t bytes, void* out, std::size_t out_values,
                      Body body) {
  const feedrate::emulation::Number type = shape.x.values.number();
  // Tensor cores are for 16 bits; fp32 is promised to stay so.
  const cudnnMathType_t math =
      type == feedrate::emulation::Number::fp32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  std::size_t need = 0;
  if (size_of(shape, algorithm, &need) != CUDNN_STATUS_SUCCESS || bytes < need ||
      workspace == nullptr || shape.convolution.math != math ||
      reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(out) % 16 != 0) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return given(handle->stream, [=] {
    feedrate::emulation::pass(milliseconds(static_cast<int>(algorithm)));
    ++feedrate::emulation::counts().convolutions[static_cast<int>(algorithm)];
    std::memset(workspace, 0xff, bytes);
    std::vector<float> sums(out_values);
    shape.each([&](int i, int j, int k) { body(i, j, k, sums); });
    for (std::size_t i = 0; i < out_values; ++i) {
      feedrate::emulation::write(type, out, i, sums[i]);
    }
  });
}

Factors in(const void* memory, const Values& values) { return {memory, values.number()}; }
std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t) { return "emulated failure"; }
void cudnnGetLastErrorString(char* text, std::size_t) { *text = '\0'; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  *tensor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete tensor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  *tensor = {n, c, h, w, {type, format}};
  if (!tensor->values.known()) return CUDNN_STATUS_BAD_PARAM;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensor,
                                         cudnnDataType_t* type, int* n, int* c, int* h, int* w,
                                         int* by_n, int* by_c, int* by_h, int* by_w) {
  *type = tensor->values.type;
  *n = tensor->n, *c = tensor->c, *h = tensor->h, *w = tensor->w;
  const auto stride = [tensor](int in, int ic, int iy, int ix) {
    return tensor->values.at(in, ic, iy, ix, tensor->c, tensor->h, tensor->w);
  };
  *by_n = stride(1, 0, 0, 0), *by_c = stride(0, 1, 0, 0);
  *by_h = stride(0, 0, 1, 0), *by_w = stride(0, 0, 0, 1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensor, std::size_t* bytes) {
  *bytes = values_of(*tensor) * feedrate::emulation::bytes_of(tensor->values.number());
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t* type, cudnnTensorFormat_t* format, int* k,
                                         int* c, int* h, int* w) {
  *type = filter->values.type;
  *format = filter->values.format;
  *k = filter->k, *c = filter->c, *h = filter->h, *w = filter->w;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filter, std::size_t* bytes) {
  *bytes = values_of({filter->k, filter->c, filter->h, filter->w, {}}) *
           feedrate::emulation::bytes_of(filter->values.number());
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  *filter = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  delete filter;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  *filter = {k, c, h, w, {type, format}};
  if (!filter->values.known()) return CUDNN_STATUS_BAD_PARAM;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  *convolution = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  delete convolution;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  if (pad_h != pad_w || u != v || dilation_h != 1 || dilation_w != 1 ||
      mode != CUDNN_CROSS_CORRELATION || type != CUDNN_DATA_FLOAT) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *convolution = {pad_h, u, 1, CUDNN_DEFAULT_MATH};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  convolution->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = offered;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = offered;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t, int* count) {
  *count = offered;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                     const cudnnFilterDescriptor_t,
                                                     const cudnnConvolutionDescriptor_t,
                                                     const cudnnTensorDescriptor_t,
                                                     const int requested, int* returned,
                                                     cudnnConvolutionFwdAlgoPerf_t* results) {
  return offer(requested, returned, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, const int requested,
    int* returned, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return offer(requested, returned, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, const int requested,
    int* returned, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return offer(requested, returned, results);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  return size_of({*x, *w, *convolution, *y}, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  return size_of({*dx, *w, *convolution, *dy}, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  return size_of({*x, *dw, *convolution, *dy}, algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*,
                                      const cudnnTensorDescriptor_t x_tensor, const void* x,
                                      const cudnnFilterDescriptor_t filter, const void* w,
                                      const cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      std::size_t bytes, const void*,
                                      const cudnnTensorDescriptor_t y_tensor, void* y) {
  return compute(handle, {*x_tensor, *filter, *convolution, *y_tensor}, algorithm, workspace, bytes,
                 y, values_of(*y_tensor),
                 [a = in(x, x_tensor->values), b = in(w, filter->values)](
                     int i, int j, int k, auto& sums) { sums[at(k)] += a[i] * b[j]; });
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*,
                                           const cudnnFilterDescriptor_t filter, const void* w,
                                           const cudnnTensorDescriptor_t y_tensor, const void* dy,
                                           const cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t bytes, const void*,
                                           const cudnnTensorDescriptor_t x_tensor, void* dx) {
  return compute(handle, {*x_tensor, *filter, *convolution, *y_tensor}, algorithm, workspace, bytes,
                 dx, values_of(*x_tensor),
                 [a = in(dy, y_tensor->values), b = in(w, filter->values)](
                     int i, int j, int k, auto& sums) { sums[at(i)] += a[k] * b[j]; });
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*,
                                             const cudnnTensorDescriptor_t x_tensor, const void* x,
                                             const cudnnTensorDescriptor_t y_tensor, const void* dy,
                                             const cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void* workspace, std::size_t bytes, const void*,
                                             const cudnnFilterDescriptor_t filter, void* dw) {
  const cudnnTensorStruct as_tensor{filter->k, filter->c, filter->h, filter->w, {}};
  return compute(handle, {*x_tensor, *filter, *convolution, *y_tensor}, algorithm, workspace, bytes,
                 dw, values_of(as_tensor),
                 [a = in(dy, y_tensor->values), b = in(x, x_tensor->values)](
                     int i, int j, int k, auto& sums) { sums[at(j)] += a[k] * b[i]; });
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void*, const cudnnTensorDescriptor_t a,
                             const void* addend, const void*, const cudnnTensorDescriptor_t c,
                             void* sum) {
  const cudnnTensorStruct t = *c;
  if (t.values != Values{} || a->values != Values{}) return CUDNN_STATUS_NOT_SUPPORTED;
  if (a->n != 1 || a->c != t.c || a->h != 1 || a->w != 1) return CUDNN_STATUS_BAD_PARAM;
  return given(handle->stream, [=] {
    const int plane = t.h * t.w;
    for (int i = 0; i < t.n * t.c * plane; ++i)
      static_cast<float*>(sum)[i] += static_cast<const float*>(addend)[i / plane % t.c];
  });
}

}  // extern "C"
