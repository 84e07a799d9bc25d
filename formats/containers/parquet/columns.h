#pragma once
// Which columns of a Parquet file hold the images, their names and their labels.

#include <optional>
#include <string>

#include "formats/containers/parquet/footer.h"
#include "formats/sidecar.h"

namespace feedrate::formats {

/// What a path asks for behind a question mark: "train.parquet?label=fine_label&image=img".
struct ParquetWishes {
  std::string image;  // empty: the only one, or the one with the usual name
  std::string label;
};

/// A path without its wishes, and these. A file that has a question mark in its name is a path.
/// Throws Error for a wish of another name.
std::pair<std::filesystem::path, ParquetWishes> split_parquet_wishes(
    const std::filesystem::path& path);

/// The same path, whatever the wishes are.
std::filesystem::path without_parquet_wishes(const std::filesystem::path& path);

struct ParquetColumns {
  std::size_t image = 0;  // of ParquetFooter::columns
  std::size_t label = 0;
  std::optional<std::size_t> name;  // the member "path" beside the image's "bytes"
};

/// Throws Error, which lists the columns, where it cannot be told.
ParquetColumns choose_parquet_columns(const ParquetFooter& footer, const ParquetWishes& wishes);

/// The names of the label's classes, as Hugging Face's datasets write them; empty where none do.
ClassNames parquet_classes(const ParquetFooter& footer, const ParquetColumns& columns);

}  // namespace feedrate::formats
