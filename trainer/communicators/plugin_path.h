#pragma once
// Where the program looks for its plug-ins.

#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::trainer {

/// Beside the program, in ../lib, and the bare name, which leaves the search to the dynamic loader.
std::vector<std::filesystem::path> plugin_places(const std::filesystem::path& file);

/// Why the last dlopen() or dlsym() of this thread failed.
std::string last_loader_error();

}  // namespace feedrate::trainer
