#pragma once
// feedrate.crops beside a dataset: for each sample that is a baseline JPEG, where parts of its scan
// begin (formats/codecs/jpeg/jpeg_index.h), so that a crop is decoded without what is around it. The
// samples stay as they are, and other tools ignore the file. formats/FORMATS.md draws it.

#include <filesystem>
#include <optional>
#include <string>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Where the index of the dataset at that path is: feedrate.crops in its directory, or NAME.crops
/// beside a dataset that is a single file.
std::filesystem::path crop_index_file(const std::filesystem::path& dataset);

/// A mapped index: only what is used of it takes memory. Any thread.
class CropIndex {
 public:
  /// Throws Error for a file that is damaged, cut short, of a newer version, or of another number of
  /// samples. It says how to make the index again.
  CropIndex(const std::filesystem::path& file, const Dataset& dataset);

  const std::filesystem::path& path() const { return file_.path(); }
  Bytes bytes() const { return file_.bytes(); }
  /// The entry of a sample, for decode_part(); empty where the sample has none.
  Bytes entry(std::uint64_t sample) const;
  /// Asks the system to load the entry soon.
  void look_ahead(std::uint64_t sample) const;
  /// Why the entry is not what is made of a sample's bytes; empty where it is.
  std::string problem_of(std::uint64_t sample, const Sample& read) const;
  /// Reads what entry() trusts without looking: throws Error where that is damaged.
  void audit() const;

 private:
  MappedFile file_;
  std::uint64_t samples_ = 0;
  std::uint64_t offsets_at_ = 0;
};

struct FoundCropIndex {
  std::optional<CropIndex> index;
  std::string problem;  // a sentence: why the file that is there cannot be used
};
/// The index beside the dataset, if there is one. Throws nothing.
FoundCropIndex find_crop_index(const Dataset& dataset);

/// formats::decode_part, but with the entry of the sample, which may be empty. It changes no pixel.
PixelRows decode_part(const Sample& sample, const Rect& part, Buffer& memory, const JpegAid& aid);

/// Thrown where no sample would have an entry.
class NothingToIndex : public Error {
 public:
  using Error::Error;
};

struct MadeCropIndex {
  std::filesystem::path file;
  std::uint64_t samples = 0;
  std::uint64_t indexed = 0;       // samples with an entry
  std::uint64_t unreadable = 0;    // samples that were passed over, because they are damaged
  std::uint64_t sample_bytes = 0;  // of all samples that could be read
  std::uint64_t bytes = 0;         // of the file
};
/// Makes the index of the dataset, and replaces `file` by it once it is whole. The same samples give
/// the same bytes. Throws NothingToIndex, Error where writing fails, and Stopped on request.
/// Takes 8 bytes a sample, and 50 MB.
MadeCropIndex make_crop_index(const Dataset& dataset, const std::filesystem::path& file,
                              unsigned threads, const ProgressCallback& progress = {});

}  // namespace feedrate::formats
