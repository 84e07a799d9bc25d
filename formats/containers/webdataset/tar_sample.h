#pragma once
// Samples in a tar, as the webdataset library groups them: consecutive files with one key. The key
// is the name up to the first dot after its last slash; the extension is the rest, in lower case:
//
//   a.b/0007.cls  a.b/0007.seg.png  │  a.b/0008.cls …        keys a.b/0007 and a.b/0008
//
// Directories, links, names without a dot, "__x__" and what operating systems leave behind do not belong to any sample.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/containers/webdataset/sample_keys.h"
#include "formats/containers/webdataset/tar_index.h"

namespace feedrate::formats {

struct SampleName {
  std::string_view key;
  std::string_view extension;  // as written
};

/// Nothing for a name that does not belong to a sample.
std::optional<SampleName> split_sample_name(std::string_view name);
/// True for "__x__" and what lies in it, which the rules leave out on purpose.
bool is_tar_metadata(std::string_view name);

/// A file of a sample.
struct SampleMember {
  TarEntry entry;
  std::string_view key;   // a view of entry.name
  std::string extension;  // lower-case
};

/// Moves to the next file that belongs to a sample; false at the end. Counts what operating systems left behind. Throws
/// Error as TarWalk does.
bool next_member(TarWalk& walk, SampleMember& member, std::uint64_t* clutter = nullptr);

/// The files of one sample that make it an image with a label.
struct TarSample {
  struct Part {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  const SampleKeys* keys;  // what the parts are called
  std::string key = {};
  std::string image_name = {};     // the image's own file name
  std::optional<Part> image = {};  // the first type found of jpg, jpeg, png, ppm, …
  std::optional<Part> label = {};  // .cls
  std::optional<Part> json = {};
  std::string extensions = {};  // of all files, each followed by a slash: "cls/jpg/json/"

  /// Adds a file of the sample. Throws Error when the sample already has that extension.
  void take(const SampleMember& member);

  std::size_t image_rank_ = 0;
};

}  // namespace feedrate::formats
