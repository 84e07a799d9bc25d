#pragma once
// The real cuDNN where there is no GPU: since 9.8 it takes a GPU's description in place of one, and
// says what it would compute a graph by, and builds it; it cannot run it. This stands between the
// plug-in's calls and cuDNN's (the linker's --wrap): where they name a handle, cuDNN is told the
// description. One thread.

#include <string>

namespace feedrate::testing {

/// "NVIDIA H100" or "NVIDIA A100": of which GPU plans are built from now on. Returns why it cannot
/// be described, or nothing.
std::string describe_gpu(const std::string& name);

}  // namespace feedrate::testing
