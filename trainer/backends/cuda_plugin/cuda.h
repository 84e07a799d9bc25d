#pragma once
// The program's side of the CUDA plug-in: finding and loading it. Nothing here needs CUDA.

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/backends/cuda_plugin/plugin.h"

namespace feedrate::trainer {

/// A plug-in, or the sentence that says why there is none. Loaded plug-ins stay for good.
struct LoadedCudaPlugin {
  const CudaPlugin* plugin = nullptr;
  std::string problem;
};

/// Loads the first that exists (a bare file name asks the loader). Never throws.
LoadedCudaPlugin load_cuda_plugin(const std::vector<std::filesystem::path>& places);

/// PCI bus id of the CUDA device in use, "" when there is none: what telemetry asks for.
std::string cuda_pci_bus_id();

/// Versions of the CUDA runtime and of cuDNN that the plug-in uses; "" where there is no plug-in.
std::string cuda_runtime_version();
std::string cudnn_version();

}  // namespace feedrate::trainer
