#pragma once
// feedrate.json beside a dataset: where it came from and what it holds. Other tools ignore it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/pixels/image.h"

namespace feedrate::formats {

inline constexpr std::string_view sidecar_name = "feedrate.json";

/// Names of the classes: both vectors are empty when unknown, else they have one entry for each
/// class.
struct ClassNames {
  std::vector<std::string> names;  // "airplane", "n01440764"
  std::vector<std::string> texts;  // for people, where names are ids: "tench, Tinca tinca"
};

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
  ClassNames class_names;
  std::vector<std::uint64_t> class_counts;  // samples of each class
  std::string digest;        // of the decoded samples in order, hex; empty: nothing was decoded
  std::string set_digest;    // the same over the sorted samples
  std::string bytes_digest;  // of the stored_digest of each sample, in order
  struct Input {
    std::string name;  // base name of the archive
    std::uint64_t bytes = 0;
    std::string hash;  // of file_hash(); "sha256:" and hex in older sidecars
  };
  std::vector<Input> inputs;
  std::vector<std::string> options;  // the options that shaped the result, as on the command line
  std::vector<std::string> notes;    // for readers: images repaired, images left out, …
};

/// The sidecar of a dataset directory, or of the directory that holds a dataset's file; nothing
/// when there is none. Throws Error naming the file when it cannot be parsed.
std::optional<Sidecar> read_sidecar(const std::filesystem::path& dataset);
void write_sidecar(const std::filesystem::path& directory, const Sidecar& sidecar);

}  // namespace feedrate::formats
