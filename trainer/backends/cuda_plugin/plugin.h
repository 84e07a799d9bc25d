#pragma once
// What the program and the CUDA plug-in agree on. Both are built from one tree by one compiler; the
// ABI text lets a plug-in of another build be refused with a sentence instead of a crash.

#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct CudaPlugin {
  const Backend* backend;
  /// PCI bus id of the device in use ("0000:1B:00.0"), "" when there is none: NVML counts devices
  /// in another order than CUDA.
  std::string (*pci_bus_id)();
  /// "13.0" and "9.13.0": of the libraries in use, a device or not.
  std::string (*runtime_version)();
  std::string (*cudnn_version)();
};

/// The one symbol of the plug-in: null when `abi` is not its own.
using CudaEntry = const CudaPlugin* (*)(const char* abi);
inline constexpr const char* cuda_entry_name = "feedrate_cuda_backend";

/// The version, the compiler and the sizes of what crosses the border.
std::string cuda_abi();

}  // namespace feedrate::trainer
