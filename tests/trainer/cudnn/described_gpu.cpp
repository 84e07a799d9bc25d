#include "tests/trainer/cudnn/described_gpu.h"

#include <cudnn.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#if CUDNN_VERSION >= 90800

namespace {

cudnnBackendDescriptor_t described = nullptr;

// The properties that both GPUs share, as CUDA reports them.
nlohmann::json common() {
  return {{"cudaDeviceId", 0},
          {"driverVer", 13000},
          {"isTccDriver", 0},
          {"maxBlockSize", {1024, 1024, 64}},
          {"maxCtasPerSM", 32},
          {"maxGridSize", {2147483647, 65535, 65535}},
          {"maxRegistersPerSM", 65536},
          {"maxSharedMemoryPerBlock", 49152},
          {"maxThreadsPerBlock", 1024},
          {"maxThreadsPerSM", 2048},
          {"pciDeviceId", 0},
          {"regsPerBlock", 65536},
          {"reservedSharedMemoryPerBlock", 1024},
          {"supportCoopLaunch", 1},
          {"warpSize", 32}};
}

nlohmann::json description(const std::string& name) {
  nlohmann::json gpu = common();
  gpu["deviceName"] = name;
  if (name == "NVIDIA H100") {
    gpu["deviceVer"] = 900;
    gpu["l2CacheSize"] = 50 << 20;
    gpu["maxSharedMemoryPerBlockOptin"] = 227 << 10;
    gpu["memClockRateKHz"] = 2619000;
    gpu["multiProcessorCount"] = 132;
    gpu["smClockRateKHz"] = 1980000;
    gpu["totalGlobalMem"] = std::int64_t{80} << 30;
  } else {
    gpu["deviceVer"] = 800;
    gpu["l2CacheSize"] = 40 << 20;
    gpu["maxSharedMemoryPerBlockOptin"] = 163 << 10;
    gpu["memClockRateKHz"] = 1215000;
    gpu["multiProcessorCount"] = 108;
    gpu["smClockRateKHz"] = 1410000;
    gpu["totalGlobalMem"] = std::int64_t{40} << 30;
  }
  return gpu;
}

}  // namespace

extern "C" {

cudnnStatus_t __real_cudnnBackendSetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                              cudnnBackendAttributeType_t, std::int64_t,
                                              const void*);
cudnnStatus_t __wrap_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, std::int64_t count,
                                              const void* values) {
  const auto tell_gpu = [descriptor](cudnnBackendAttributeName_t as) {
    return __real_cudnnBackendSetAttribute(descriptor, as, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                           &described);
  };
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;  // needs none here
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
    return tell_gpu(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX) {
    if (const cudnnStatus_t bad = tell_gpu(CUDNN_ATTR_ENGINE_DEVICEPROP)) return bad;
  }
  if (name == CUDNN_ATTR_ENGINEHEUR_MODE) {
    if (const cudnnStatus_t bad = tell_gpu(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP)) return bad;
  }
  return __real_cudnnBackendSetAttribute(descriptor, name, type, count, values);
}

}  // extern "C"

namespace feedrate::testing {

std::string describe_gpu(const std::string& name) {
  const std::string text = description(name).dump();
  cudnnBackendDestroyDescriptor(described);
  described = nullptr;
  const auto failed = [](cudnnStatus_t status) {
    return std::string("cuDNN takes no described GPU: ") + cudnnGetErrorString(status);
  };
  if (const auto bad =
          cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &described)) {
    return failed(bad);
  }
  if (const auto bad = __real_cudnnBackendSetAttribute(
          described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
          static_cast<std::int64_t>(text.size()), text.data())) {
    return failed(bad);
  }
  if (const auto bad = cudnnBackendFinalize(described)) return failed(bad);
  return "";
}

}  // namespace feedrate::testing

#else

namespace feedrate::testing {
std::string describe_gpu(const std::string&) {
  return "this build's cuDNN is older than 9.8, which takes no described GPU";
}
}  // namespace feedrate::testing

#endif
