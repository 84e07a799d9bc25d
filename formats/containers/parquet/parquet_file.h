#pragma once
// One Parquet file of images: mapped, with the place of each image and its label.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "formats/containers/parquet/columns.h"
#include "formats/containers/parquet/page.h"
#include "formats/containers/parquet/page_cache.h"
#include "formats/containers/text_classes.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// The footer of a file, which tells how much memory its images would take unpacked.
struct OpenParquet {
  explicit OpenParquet(const std::filesystem::path& path, const Wishes& wishes);
  /// Bytes of the images that are compressed, once they are not.
  std::uint64_t packed_bytes() const;

  std::filesystem::path path;
  MappedFile file;
  ParquetFooter footer;
  ParquetColumns columns;
};

/// Bytes that reading all images unpacks.
struct UnpackedBytes {
  std::uint64_t in_order = 0;   // of rows
  std::uint64_t any_order = 0;  // where each image unpacks its page anew
};

/// Any thread may read. Movable.
class ParquetFile {
 public:
  ParquetFile() = default;  // no file: only to be assigned to
  /// Reads the heads of all pages, and the labels. `unpacks`: compressed pages of images are unpacked
  /// into memory once; else by image(), with the page that holds the image. Throws Error, naming file, row group, column and byte, for damage.
  ParquetFile(OpenParquet&& open, bool unpacks);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t rows() const { return labels_.size(); }
  /// Throws Error, without naming the file, where the row has no label that can be one.
  std::int32_t label(std::uint64_t row) const;
  /// The different texts of the label column; none where labels are numbers. Until number_labels()
  /// is called, label() numbers them in the order in which they came.
  const TextClasses& texts() const { return texts_; }
  /// Makes the labels that are text those of `classes`, which are of all files of the dataset.
  void number_labels(const TextClasses& classes);
  /// The image's file name; empty where it has none.
  std::string_view name(std::uint64_t row) const;
  /// The encoded image, in place or in `memory`; `pages` keeps what it unpacks, for all files of a
  /// dataset. Throws Error, without naming the file.
  Bytes image(std::uint64_t row, Buffer& memory, ParquetPageCache& pages) const;
  /// Byte of the file at which the image begins, or the page that holds it.
  std::uint64_t offset(std::uint64_t row) const;
  /// Hints that the image is needed soon.
  bool look_ahead(std::uint64_t row) const;
  void prefetch(std::uint64_t row) const;
  void expect_unchanged() const { file_.expect_unchanged(); }
  UnpackedBytes to_unpack() const { return to_unpack_; }
  /// Checks the pages' checksums, where there are any.
  void audit(const std::function<void(Finding)>& found) const;

 private:
  /// An image: its bytes, or where they are once the page is unpacked.
  struct Place {
    const std::byte* data = nullptr;  // null: in a page that is packed; of a missing one, its page
    std::uint32_t size = 0;  // or the value's number in that page, which may be a dictionary
    std::uint32_t page = in_memory;  // of packed_
  };
  static constexpr std::uint32_t in_memory = ~std::uint32_t{0}, missing = in_memory - 1;

  struct BadLabel {
    std::uint64_t row = 0;
    std::string_view problem;           // a literal
    std::optional<std::int64_t> value;  // which is said behind it
    bool is_natural = false;            // of `value`
  };
  /// A page that was unpacked, for as long as the file is open.
  struct Unpacked {
    Buffer memory;
    std::uint64_t offset = 0;  // of the page in the file
  };

  struct Column;

  void read_images(const Column& column, bool unpacks);
  void expect_one_in_lists(const Column& column) const;
  void read_labels(const Column& column);
  void add_label(std::int64_t value, bool is_natural);
  void add_text_label(std::string_view text);
  void add_bad_label(std::string_view problem);
  void add_missing_image(const ParquetPage& page);
  [[noreturn]] void refuse_missing(std::uint64_t row) const;
  static bool is_inside(Bytes memory, const std::byte* data);
  void read_names(const Column& column);
  using OnPage = std::function<void(const ParquetPage&, const ParquetDictionary&)>;
  void each_page(const Column& column, const OnPage& page, bool unpacks = true);
  void add_packed_values(const ParquetPage& page);
  Bytes kept(const ParquetPage& page, const ParquetColumn& column);

  std::filesystem::path path_;
  MappedFile file_;
  ParquetColumn image_column_;
  std::vector<Place> images_;
  static constexpr std::int32_t no_label = std::numeric_limits<std::int32_t>::min();
  std::vector<std::int32_t> labels_;  // no_label where bad_labels_ has the row
  std::vector<BadLabel> bad_labels_;  // by row
  TextClasses texts_;                 // of labels
  std::string names_;
  std::vector<std::uint64_t> name_ends_;  // in names_, by row; empty where there are none
  std::vector<Unpacked> unpacked_;
  std::vector<ParquetPage> packed_;  // dictionaries too
  UnpackedBytes to_unpack_;
  std::vector<ParquetDictionary> dictionaries_;
  std::vector<ParquetPage> with_checksums_;
};

}  // namespace feedrate::formats
