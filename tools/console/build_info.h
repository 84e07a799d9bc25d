#pragma once
// Version, commit, compiler and libraries of this binary. Every measured row contains them.

#include <string>
#include <string_view>

namespace feedrate::tools {

struct BuildInfo {
  std::string_view version;  // "0.1.0"
  std::string_view commit;  // short hash, "-dirty" with local changes, "unknown" outside a checkout
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view build_type;  // "Release"
  std::string_view flags;       // of that build type
  std::string_view libraries;   // "LMDB 0.9.24, libpng 1.6.39, …"
};
const BuildInfo& build_info();

/// What `feedrate --version` prints.
std::string version_text();

}  // namespace feedrate::tools
