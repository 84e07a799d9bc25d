#pragma once
// Where the program's plug-ins are looked for.

#include <filesystem>
#include <vector>

namespace feedrate::trainer {

/// Beside the program, in ../lib, and the bare name, which leaves it to the dynamic loader.
std::vector<std::filesystem::path> plugin_places(const std::filesystem::path& file);

}  // namespace feedrate::trainer
