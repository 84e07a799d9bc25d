#pragma once
// The development kit of ILSVRC2012: what its classes are called and which class each validation
// image belongs to.
//
//   data/meta.mat                                  1,860 synsets; the 1,000 without children are
//                                                  the classes: ILSVRC2012_ID, WNID, words
//   data/ILSVRC2012_validation_ground_truth.txt    one ILSVRC2012_ID a line, in the order of the
//                                                  images' names

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::converters {

inline constexpr std::size_t imagenet_val_images = 50'000;

struct Devkit {
  std::vector<std::string> wnids;  // sorted
  std::vector<std::string> words;  // of each: "tench, Tinca tinca"
  /// Of ILSVRC2012_val_00000001 …: the place among wnids. Empty where only meta.mat was given.
  std::vector<std::int32_t> val_labels;
  std::vector<std::filesystem::path> files;  // that it was read from
};

/// Which of the devkit's two files a path or an entry's name means.
enum class DevkitFile : std::uint8_t { meta, ground_truth };
std::optional<DevkitFile> devkit_file(std::string_view name);

/// From ILSVRC2012_devkit_t12.tar.gz, or a directory that holds the two files (also in data/ or in
/// ILSVRC2012_devkit_t12/data/), or the files themselves. One thread. Throws Error naming the file
/// and the line when meta.mat is missing or one is damaged or not that of ILSVRC2012.
Devkit read_devkit(const std::vector<std::filesystem::path>& inputs);

}  // namespace feedrate::converters
