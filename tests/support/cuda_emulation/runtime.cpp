// CUDA's runtime for a device that is this processor. Fresh memory is NaN.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

#include "queue.h"

using feedrate::emulation::counts;
using feedrate::emulation::enqueue;
using feedrate::emulation::forbidden_in_capture;

namespace {

// The memory of the device; pinned memory counts too.
constexpr std::size_t device_bytes = std::size_t{1} << 30;
std::size_t used_bytes = 0;
std::map<void*, std::size_t> allocated;
thread_local int current_device = 0;

}  // namespace

std::size_t feedrate::emulation::room_at(const void* memory) {
  const auto* place = static_cast<const std::byte*>(memory);
  const auto after = allocated.upper_bound(const_cast<void*>(memory));
  if (after == allocated.begin()) return 0;
  const auto& [block, bytes] = *std::prev(after);
  const auto passed = static_cast<std::size_t>(place - static_cast<const std::byte*>(block));
  return passed < bytes ? bytes - passed : 0;
}

extern "C" {

const char* cudaGetErrorString(cudaError_t) { return "emulated failure"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorEmulated"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  const char* devices = std::getenv("FEEDRATE_EMULATED_DEVICES");
  *count = devices == nullptr ? 1 : std::atoi(devices);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (device < 0 || device >= count) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return forbidden_in_capture(); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  // One multiprocessor, so that grids are small and loops go round more than once.
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9
           : attribute == cudaDevAttrMultiProcessorCount  ? 1
                                                          : 0;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  *blocks = 3;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::snprintf(properties->name, sizeof(properties->name), "emulated GPU");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02d:00.0", device);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = device_bytes - used_bytes;
  *total = device_bytes;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (bytes > device_bytes - used_bytes) return cudaErrorMemoryAllocation;
  ++counts().allocations;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0xff, bytes);
  allocated[*memory] = bytes;
  used_bytes += bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (const auto block = allocated.find(memory); block != allocated.end()) {
    used_bytes -= block->second;
    allocated.erase(block);
  }
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return enqueue(nullptr, [=] { std::memset(memory, value, bytes); });
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return enqueue(stream, [=] { std::memset(memory, value, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return enqueue(nullptr, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return enqueue(stream, [=] {
    std::memcpy(to, from, bytes);
    feedrate::emulation::pass(feedrate::emulation::launch_milliseconds);
  });
}

}  // extern "C"
