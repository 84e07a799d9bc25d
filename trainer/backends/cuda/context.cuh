#pragma once
// A device as one session uses it: streams, library handles and memory, each owned at birth, and
// every call checked. Failures are Errors with the call's name and the library's own text.

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "trainer/backends/cuda/values.cuh"

namespace feedrate::trainer::cuda {

void check(cudaError_t status, std::string_view call);
void check(cudnnStatus_t status, std::string_view call);
void check(cublasStatus_t status, std::string_view call);

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* handle) const {
    destroy(handle);  // at this point nobody could be told of a failure
  }
};
/// A library's handle that is destroyed with its owner.
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

/// Creates a handle by `create(&handle, arguments…)`.
template <class Handle, auto destroy, class Create, class... Arguments>
Owned<Handle, destroy> make(std::string_view call, Create create, Arguments... arguments) {
  Handle handle = nullptr;
  check(create(&handle, arguments...), call);
  return Owned<Handle, destroy>(handle);
}

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;

/// One that waits for nobody but whom it is told to: not for the legacy default stream either.
Stream make_stream();

/// Which of the devices that CUDA shows (CUDA_VISIBLE_DEVICES chooses) is this process' own: the
/// first, or, of several processes of one machine, each the one of its number there.
int own_device();

/// cudaMalloc aligns to this; so does every block placed in device memory, for the libraries' sake.
inline constexpr std::size_t device_alignment = 256;
/// What an algorithm may ask for while it runs: enough for the fast ones, small beside a batch.
inline constexpr std::size_t workspace_limit = std::size_t{256} << 20;

/// This process' own device. One thread.
class Context {
 public:
  /// By the name of a precision: fp32 | tf32 | bf16 | fp16.
  explicit Context(std::string_view precision);

  std::string device_name() const;
  cudaStream_t compute() const { return compute_.get(); }
  cudaStream_t uploads() const { return uploads_.get(); }
  cudnnHandle_t cudnn() const { return cudnn_.get(); }
  cublasLtHandle_t blas() const { return blas_.get(); }
  /// Of activations, their gradients and the weights that products read.
  ValueType values() const { return values_; }
  /// Whether products of fp32 may round their inputs to 10 bits of mantissa.
  bool tf32() const { return tf32_; }
  unsigned multiprocessors() const { return multiprocessors_; }
  /// Until everything given to the device so far is done.
  void wait() const;

 private:
  ValueType values_;
  bool tf32_;
  unsigned multiprocessors_ = 0;
  Stream compute_;
  Stream uploads_;
  Owned<cudnnHandle_t, cudnnDestroy> cudnn_;
  Owned<cublasLtHandle_t, cublasLtDestroy> blas_;
};

/// Zeroed device memory; none for 0 bytes. `what` names it when there is not enough.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::size_t bytes, std::string_view what);
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte, Destroy<cudaFree>> data_;
  std::size_t bytes_ = 0;
};

/// Host memory that the device reads and writes by itself.
template <class T>
class PinnedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit PinnedArray(std::size_t count) : count_(count) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocPortable), "cudaHostAlloc");
    data_.reset(static_cast<T*>(memory));
  }
  std::span<T> values() const { return {data_.get(), count_}; }

 private:
  std::unique_ptr<T, Destroy<cudaFreeHost>> data_;
  std::size_t count_;
};

}  // namespace feedrate::trainer::cuda
