#pragma once
// Which columns of a Parquet file hold the images, their names and their labels.

#include <optional>

#include "formats/containers/column_choice.h"
#include "formats/containers/parquet/footer.h"
#include "formats/sidecar.h"

namespace feedrate::formats {

struct ParquetColumns {
  std::size_t image = 0;  // of ParquetFooter::columns
  std::size_t label = 0;
  bool text_labels = false;         // the names of classes, in place of their numbers
  std::optional<std::size_t> name;  // the member "path" beside the image's "bytes"
};

/// Throws Error, which lists the columns, where it cannot be told.
ParquetColumns choose_parquet_columns(const ParquetFooter& footer, const Wishes& wishes);

/// The names of the classes that are numbered, as Hugging Face's datasets write them; empty where none do.
ClassNames parquet_classes(const ParquetFooter& footer, const ParquetColumns& columns);

}  // namespace feedrate::formats
