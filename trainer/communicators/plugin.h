#pragma once
// Where the program looks for its plug-ins.

#include <filesystem>
#include <vector>

namespace feedrate::trainer {

/// Beside the program, in ../lib, and the bare name, which the dynamic loader searches for.
std::vector<std::filesystem::path> plugin_places(const std::filesystem::path& file);

}  // namespace feedrate::trainer
