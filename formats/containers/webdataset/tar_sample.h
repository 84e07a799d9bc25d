#pragma once
// Samples in a tar, as the webdataset library groups them: consecutive files with one key. The key
// is the name up to the first dot behind its last slash, the extension what follows, lower-cased:
//
//   a.b/0007.cls  a.b/0007.seg.png  │  a.b/0008.cls …        keys a.b/0007 and a.b/0008
//
// Directories, links, names without a dot and "__x__" belong to no sample.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/containers/webdataset/tar_index.h"

namespace feedrate::formats {

struct SampleName {
  std::string_view key;
  std::string_view extension;  // as it is written
};

/// Nothing for a name that belongs to no sample.
std::optional<SampleName> split_sample_name(std::string_view name);
/// True for "__x__" and what lies in it: left out on purpose, by the rules.
bool is_tar_metadata(std::string_view name);

/// A file of a sample.
struct SampleMember {
  TarEntry entry;
  std::string_view key;   // in entry.name
  std::string extension;  // lower-case
};

/// Moves to the next file that belongs to a sample; false at the end. Throws Error as TarWalk does.
bool next_member(TarWalk& walk, SampleMember& member);

/// The files of one sample that make it an image with a label.
struct TarSample {
  struct Part {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  std::string key;
  std::string image_name;     // the image's own file name
  std::optional<Part> image;  // the first kind that is there of jpg, jpeg, png, ppm, …
  std::optional<Part> label;  // .cls
  std::optional<Part> json;
  std::string extensions;  // of all files, each with a slash behind it: "cls/jpg/json/"

  /// Takes a file of the sample. Throws Error when its extension is there already.
  void take(const SampleMember& member);

 private:
  std::size_t image_rank_ = 0;
};

}  // namespace feedrate::formats
