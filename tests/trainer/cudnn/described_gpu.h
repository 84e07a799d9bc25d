#pragma once
// The real cuDNN without a GPU. Since 9.8 cuDNN accepts the description of a GPU in place of one:
// it offers engines for a graph and builds them, but cannot run them. This wraps the plug-in's
// calls to cuDNN (the linker's --wrap) and passes the description where they pass a handle. For one
// thread.

#include <string>

namespace feedrate::testing {

/// Describes the GPU for which engines are built from now on: "NVIDIA H100" or "NVIDIA A100".
/// Returns why that is impossible, or "".
std::string describe_gpu(const std::string& name);

}  // namespace feedrate::testing
