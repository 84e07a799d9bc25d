#include "trainer/backends/cuda/context.cuh"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

// The variables in which torchrun, Open MPI, MPICH (Hydra) and Intel MPI, and srun give a process
// its number on its machine.
constexpr std::array local_numbers = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                      "SLURM_LOCALID"};

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, own_device()), "cudaDeviceGetAttribute");
  return value;
}

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

/// Columns of one sum in groups of at least 8: half a million channels.
constexpr unsigned max_arrivals = 1U << 16;

constexpr std::chrono::microseconds max_polling{40};

constexpr std::size_t mib(std::size_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

}  // namespace

Event make_event(unsigned flags) {
  return make<cudaEvent_t, cudaEventDestroy>("cudaEventCreateWithFlags", cudaEventCreateWithFlags,
                                             flags);
}

Stream make_stream() {
  return make<cudaStream_t, cudaStreamDestroy>("cudaStreamCreateWithFlags",
                                               cudaStreamCreateWithFlags,
                                               static_cast<unsigned>(cudaStreamNonBlocking));
}

int own_device() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) return 0;
  for (const char* name : local_numbers) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    const auto number = parse_number<unsigned>(text);
    if (!number) throw Error(join(name, " is '", text, "', not the number of a rank"));
    // A launcher may show each process only its own device; the remainder is then 0.
    return static_cast<int>(*number % static_cast<unsigned>(devices));
  }
  return 0;
}

void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess) return;
  throw Error(
      join("CUDA: ", call, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"));
}

void check(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof(details));
  throw Error(join("cuDNN: ", call, ": ", cudnnGetErrorString(status), " ",
                   static_cast<const char*>(details)));
}

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(join("cuBLASLt: ", call, ": ", cublasLtGetStatusString(status), " (",
                   cublasLtGetStatusName(status), ")"));
}

Context::Context(std::string_view precision)
    : values_(precision == "bf16"   ? ValueType::bf16
              : precision == "fp16" ? ValueType::fp16
                                    : ValueType::fp32),
      tf32_(precision != "fp32") {
  check(cudaSetDevice(own_device()), "cudaSetDevice");
  capability_ = attribute(cudaDevAttrComputeCapabilityMajor);
  multiprocessors_ = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  workspace_limit_ = std::min({max_workspace, total / 8, free / 4});
  constexpr std::size_t arrivals = max_arrivals * sizeof(unsigned);
  for (std::unique_ptr<Lane>* lane : {&main_, &branch_}) {
    *lane = std::make_unique<Lane>(make_stream(), DeviceMemory(arrivals, "counters"));
  }
  lane_ = main_.get();
  uploads_ = make_stream();
  cudnn_ = make<cudnnHandle_t, cudnnDestroy>("cudnnCreate", cudnnCreate);
  blas_ = make<cublasLtHandle_t, cublasLtDestroy>("cublasLtCreate", cublasLtCreate);
}

Context::KernelPlace Context::next_kernel() const {
  const bool follows_kernel = lane_->ends_in_kernel;
  lane_->ends_in_kernel = true;
  return {lane_->stream.get(), starts_early_ && follows_kernel};
}

cudnnHandle_t Context::cudnn() const {
  if (cudnn_stream_ != compute()) {
    check(cudnnSetStream(cudnn_.get(), compute()), "cudnnSetStream");
    cudnn_stream_ = compute();
  }
  return cudnn_.get();
}

unsigned* Context::arrivals(unsigned count) const {
  if (count > max_arrivals) {
    throw Error(join("a sum over ", count, " groups of channels, more than ", max_arrivals));
  }
  return lane_->arrivals.as<unsigned>();
}

void wait_for(const Event& event) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + max_polling;
  while (Clock::now() < until) {
    const cudaError_t status = cudaEventQuery(event.get());
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
    cudaGetLastError();  // clears it, so that the next launch does not report it
  }
  check(cudaEventSynchronize(event.get()), "cudaEventSynchronize");
}

std::string device_name() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, own_device()), "cudaGetDeviceProperties");
  return static_cast<const char*>(properties.name);
}

void Context::wait() const {
  check(cudaStreamSynchronize(uploads()), "cudaStreamSynchronize");
  check(cudaStreamSynchronize(compute()), "cudaStreamSynchronize");
}

DeviceMemory::DeviceMemory(std::size_t bytes, std::string_view what) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears it, so that the next launch does not report it again
    throw Error(join("the GPU has ", mib(free_bytes()), " MiB free, but ", what, " need ",
                     mib(bytes), " MiB; a smaller batch needs less"));
  }
  check(status, "cudaMalloc");
  data_.reset(static_cast<std::byte*>(memory));
  check(cudaMemset(memory, 0, bytes), "cudaMemset");
  // The session's streams do not wait for the default stream, where cudaMemset runs.
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

}  // namespace feedrate::trainer::cuda
