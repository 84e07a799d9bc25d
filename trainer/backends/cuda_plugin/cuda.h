#pragma once
// The program's side of the CUDA plug-in: finds and loads it. Nothing here needs CUDA.

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/backends/cuda_plugin/plugin.h"

namespace feedrate::trainer {

/// A plug-in, or the sentence that says why there is none. A loaded plug-in is never unloaded.
struct LoadedCudaPlugin {
  const CudaPlugin* plugin = nullptr;
  std::string problem;
};

/// Loads the first that exists; a bare file name leaves the search to the dynamic loader. Never
/// throws.
LoadedCudaPlugin load_cuda_plugin(const std::vector<std::filesystem::path>& places);

/// The PCI bus id of the CUDA device in use, for telemetry; "" if there is none.
std::string cuda_pci_bus_id();

/// The versions of the CUDA runtime and of cuDNN that the plug-in uses; "" without a plug-in.
std::string cuda_runtime_version();
std::string cudnn_version();

}  // namespace feedrate::trainer
