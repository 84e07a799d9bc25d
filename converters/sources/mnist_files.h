#pragma once
// Finds the files or archive entries of a split of MNIST, or of a set in its packaging.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converters/archive.h"

namespace feedrate::converters {

/// One IDX file: a file of its own, or an entry of a tar or zip.
struct IdxPart {
  std::filesystem::path file;
  std::string entry;  // empty: the file itself

  std::string place() const { return entry.empty() ? file.string() : file.string() + ":" + entry; }
};

struct IdxPair {
  IdxPart images;
  IdxPart labels;
};

/// Finds the pair of files of that split among the inputs: directories, tars, zips and single
/// files. Throws Error listing what was found if there is none, or more than one.
IdxPair find_idx_pair(std::span<const std::filesystem::path> inputs, std::string_view split);

/// An open IDX part: its bytes, decompressed, from the start.
class OpenPart {
 public:
  explicit OpenPart(const IdxPart& part);
  Archive& data() { return inner_ ? *inner_ : outer_; }

 private:
  Archive outer_;
  std::unique_ptr<Archive> inner_;  // for an entry, which may be compressed
};

}  // namespace feedrate::converters
