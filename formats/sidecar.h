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
  struct File {
    std::string name;  // without directories
    std::uint64_t bytes = 0;
    std::string hash;  // of file_hash(); "sha256:" and hex in older sidecars
  };
  using Input = File;

  std::string tool_version;
  std::string source;  // mnist …
  std::string split;   // train, test …
  std::string format;
  std::string codec;
  std::string label_space = "0-based";
  std::uint64_t count = 0;  // samples; 0 where it is not stated
  Shape shape;              // zero where images differ
  std::uint32_t classes = 0;
  ClassNames class_names;
  std::vector<std::uint64_t> class_counts;  // samples of each class
  std::string digest;          // of the decoded samples in order, hex; empty: nothing was decoded
  std::string set_digest;      // the same over the sorted samples
  std::string bytes_digest;    // of the stored_digest of each sample, in order
  std::string details_digest;  // of Dataset::details; empty where there are none
  std::vector<File> files;     // indexes, lists and means, beside the samples
  std::vector<Input> inputs;   // the archives that were read
  std::vector<std::string> options;  // the options that shaped the result, as on the command line
  std::vector<std::string> notes;    // for readers: images repaired, images left out, …
};

/// Where the sidecar of a dataset is: in its directory, or in the directory that holds its file.
std::filesystem::path sidecar_file(const std::filesystem::path& dataset);

/// The sidecar; nothing when there is none. Throws Error naming the file when it cannot be parsed.
std::optional<Sidecar> read_sidecar(const std::filesystem::path& dataset);
void write_sidecar(const std::filesystem::path& directory, const Sidecar& sidecar);

/// The files in a dataset's directory that hold indexes, lists or means, not samples, by name.
std::vector<Sidecar::File> files_beside(const std::filesystem::path& directory);

/// The checksum at the end of the sidecar, "xxh128:" and that of all text in front of it.
struct SidecarChecksum {
  std::string stated;  // empty: older versions wrote none
  std::string found;
};
/// The checksums of a sidecar that exists. Throws Error if it cannot be read.
SidecarChecksum sidecar_checksum(const std::filesystem::path& dataset);

}  // namespace feedrate::formats
