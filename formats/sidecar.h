#pragma once
// feedrate.json beside a dataset: where it came from and what it holds. Other tools ignore it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/image.h"

namespace feedrate {

inline constexpr std::string_view sidecar_name = "feedrate.json";

struct Sidecar {
  std::string tool_version;
  std::string source;  // mnist …
  std::string split;   // train, test …
  std::string format;
  std::string codec;
  std::string label_space = "0-based";
  std::uint64_t count = 0;
  Shape shape;  // zero where images differ
  std::uint32_t classes = 0;
  std::vector<std::string> class_names;  // empty when not known
  std::string digest;                    // DESIGN: SHA-256 over the samples in order, hex
  std::string set_digest;                // the same over the sorted samples
  struct Input {
    std::string name;  // base name of the archive
    std::uint64_t bytes = 0;
    std::string sha256;
  };
  std::vector<Input> inputs;
  std::vector<std::string> options;  // the options that shaped the result, as on the command line
};

/// The sidecar of a dataset directory (or of the directory of a dataset's file); nothing when there
/// is none. Throws Error naming the file when it is there but cannot be understood.
std::optional<Sidecar> read_sidecar(const std::filesystem::path& dataset);
void write_sidecar(const std::filesystem::path& directory, const Sidecar& sidecar);

}  // namespace feedrate
