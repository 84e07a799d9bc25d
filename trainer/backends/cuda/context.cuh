#pragma once
// What one session uses of a device: streams, library handles and memory. Each has an owner from
// the start, and every call is checked. A failure throws an Error with the name of the call and the
// library's own text.

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
    destroy(handle);  // a destructor cannot report a failure
  }
};
/// A library's handle; destroyed with its owner.
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

/// A stream that waits only for what it is told to wait for, not for the legacy default stream.
Stream make_stream();
/// `flags`: cudaEventDisableTiming, cudaEventBlockingSync; 0 for an event that takes the time.
Event make_event(unsigned flags);

/// The number of this process's device among those that CUDA shows (CUDA_VISIBLE_DEVICES): the
/// first, or, where a launcher started several processes on a machine, the one with the process's
/// number there.
int own_device();
/// The name of own_device(): "NVIDIA H200".
std::string device_name();

/// cudaMalloc's alignment. Every block in device memory gets it, because the libraries expect it.
inline constexpr std::size_t device_alignment = 256;
/// The most workspace that an algorithm may use on any device: cuDNN's fast engines need up to
/// 1.2 GiB for ResNet-50's convolutions at batch 256.
inline constexpr std::size_t max_workspace = std::size_t{2} << 30;

/// Zeroed device memory; 0 bytes allocate nothing. Throws Error, which names `what`, when the
/// device has too little.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::size_t bytes, std::string_view what);
  std::byte* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte, Destroy<cudaFree>> data_;
  std::size_t bytes_ = 0;
};

/// Waits for what was queued before the event was recorded: polls for 40 µs, then blocks. To wake a
/// blocked thread takes 20 to 40 µs, and a step waits twice, so small steps would lose much.
/// Polling for as long as that at most doubles what a wait costs, and then leaves the core to the
/// loader.
void wait_for(const Event& event);

/// The streams and library handles of one session on own_device(). For one thread.
class Context {
 public:
  /// `precision`: fp32 | tf32 | bf16 | fp16.
  explicit Context(std::string_view precision);

  /// The stream of a step; while a branch is entered, its stream instead.
  cudaStream_t compute() const {
    lane_->ends_in_kernel = false;  // whoever asks may queue something else
    return lane_->stream.get();
  }
  cudaStream_t uploads() const { return uploads_.get(); }
  /// It works on compute().
  cudnnHandle_t cudnn() const;
  /// For a kernel of ours: compute(), and whether the kernel may start early, while another one of
  /// ours before it ends (kernels/kernels.cuh). The caller queues nothing else.
  struct KernelPlace {
    cudaStream_t stream;
    bool starts_early;
  };
  KernelPlace next_kernel() const;
  /// Whether kernels may start early; only from compute capability 9 on. At first they may not.
  bool starts_kernels_early() const { return starts_early_; }
  void start_kernels_early(bool wanted) { starts_early_ = wanted && capability_ >= 9; }
  /// compute(), cudnn() and arrivals() are those of a branch until it is left.
  void enter_branch() { lane_ = branch_.get(); }
  void leave_branch() { lane_ = main_.get(); }
  cublasLtHandle_t blas() const { return blas_.get(); }
  /// The type of activations, of their gradients and of the weights that products read.
  ValueType values() const { return values_; }
  /// Whether convolutions may use tensor cores, which round fp32 to 10 bits of mantissa.
  bool tf32() const { return tf32_; }
  /// Whether matrix products of fp32 may do so. In 16 bits only an LSTM's are fp32, and stay so.
  bool rounds_fp32_products() const { return tf32_ && values_ == ValueType::fp32; }
  unsigned multiprocessors() const { return multiprocessors_; }
  /// The most workspace that an algorithm may use here: max_workspace, but at most an eighth of the
  /// device's memory and a quarter of what was free when the session began: a step and its branch
  /// have one workspace each.
  std::size_t workspace_limit() const { return workspace_limit_; }
  /// Counters on the device, all 0, for the blocks of one kernel on compute(). A kernel leaves them
  /// 0 again. A branch has its own. Throws Error for more than there are.
  unsigned* arrivals(unsigned count) const;
  /// Waits until the device has done all work queued so far.
  void wait() const;

 private:
  ValueType values_;
  bool tf32_;
  struct Lane {
    Stream stream;
    DeviceMemory arrivals;
    bool ends_in_kernel = false;  // the last that was queued is a kernel of ours
  };

  int capability_ = 0;  // the major version
  bool starts_early_ = false;
  unsigned multiprocessors_ = 0;
  std::size_t workspace_limit_ = 0;
  std::unique_ptr<Lane> main_;
  std::unique_ptr<Lane> branch_;
  Lane* lane_;  // of the two
  Stream uploads_;
  Owned<cudnnHandle_t, cudnnDestroy> cudnn_;
  mutable cudaStream_t cudnn_stream_ = nullptr;
  Owned<cublasLtHandle_t, cublasLtDestroy> blas_;
};

/// Page-locked host memory, which the device reads and writes directly.
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
