#pragma once
// One .rec file of image records, with its .idx and .lst where they exist.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "formats/containers/recordio/image_record.h"
#include "formats/containers/recordio/record_index.h"
#include "formats/containers/recordio/record_list.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Any thread may read. Movable.
class RecordFile {
 public:
  RecordFile() = default;  // no file: only to be assigned to
  /// Uses the .idx where there is one, so that the file need not be scanned. Leaves out the records
  /// without images that InsightFace puts beside its images (ranges of ids).
  explicit RecordFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  void expect_unchanged() const { file_.expect_unchanged(); }
  std::uint64_t images() const { return kept_.empty() ? starts_.size() : kept_.size(); }
  std::uint64_t start(std::uint64_t image) const { return starts_[record(image)]; }

  /// Throws Error (without the file's name) on damage. The image lies in the file or in `scratch`.
  ImageRecord read(std::uint64_t image, Scratch& scratch) const;
  void look_ahead(std::uint64_t image) const;
  /// Start to bring into the processor's cache what the index says of the image, and then what
  /// read() needs first.
  void prefetch_place(std::uint64_t image) const;
  void prefetch_image(std::uint64_t image) const;
  /// From the .lst; empty where the list has no name.
  std::string_view name(std::uint64_t id) const { return list_.name(id); }

  /// Reports faults in the bytes between the records, in the .idx and in the .lst, and passes the
  /// id of every image to `seen`.
  void audit(const std::function<void(Finding)>& found,
             const std::function<void(std::uint64_t id)>& seen) const;

 private:
  // The bytes of a record, with what pads it: up to the next one.
  Bytes stored(std::uint64_t record) const;
  std::uint64_t record(std::uint64_t image) const { return kept_.empty() ? image : kept_[image]; }
  ImageRecord read_record_at(std::uint64_t start, Buffer& storage) const;
  void keep_images();

  MappedFile file_;
  std::filesystem::path index_;  // empty without an .idx
  Offsets starts_;               // of every record
  Offsets kept_;                 // records with images; empty when all have one
  RecordList list_;
};

}  // namespace feedrate::formats
