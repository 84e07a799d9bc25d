#pragma once
// The interface between the program and the CUDA plug-in. Both are built from one tree by one
// compiler. The ABI text lets the program refuse a plug-in of another build with a message, where
// it would otherwise crash.

#include <string>

#include "trainer/backends/backend.h"

namespace feedrate::trainer {

struct CudaPlugin {
  const Backend* backend;
  /// The PCI bus id of the device in use ("0000:1B:00.0"), "" if there is none. NVML needs it
  /// because it numbers devices in another order than CUDA.
  std::string (*pci_bus_id)();
  /// "13.0" and "9.13.0": the libraries in use, with or without a device.
  std::string (*runtime_version)();
  std::string (*cudnn_version)();
};

/// The plug-in's only symbol. Returns null if `abi` is not its own.
using CudaEntry = const CudaPlugin* (*)(const char* abi);
inline constexpr const char* cuda_entry_name = "feedrate_cuda_backend";

/// The version, the compiler and the sizes of the types in the interface.
std::string cuda_abi();

}  // namespace feedrate::trainer
