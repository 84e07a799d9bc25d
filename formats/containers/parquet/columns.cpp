#include "formats/containers/parquet/columns.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view type_names[] = {"boolean", "int32",  "int64", "int96",
                                           "float",   "double", "bytes", "bytes of one length"};

// An image's bytes: a column, or the member "bytes" of a struct, as Hugging Face's Image has it.
bool may_be_image(const ParquetColumn& column) {
  if (column.type != ParquetType::bytes || column.repeated || column.is_text) return false;
  return column.path.size() == 1 || (column.path.size() == 2 && column.path[1] == "bytes");
}

bool may_be_label(const ParquetColumn& column) {
  const bool number = column.type == ParquetType::int32 || column.type == ParquetType::int64;
  return number && !column.repeated && column.path.size() == 1;
}

std::vector<TableColumn> table_of(const ParquetFooter& footer, bool (*fits)(const ParquetColumn&)) {
  std::vector<TableColumn> columns;
  for (const ParquetColumn& column : footer.columns) {
    const std::string_view type = column.repeated ? "a list"
                                  : column.is_text
                                      ? "text"
                                      : type_names[static_cast<std::size_t>(column.type)];
    columns.push_back({column.path.front(), join(column.name(), " (", type, ")"), fits(column)});
  }
  return columns;
}

}  // namespace

ParquetColumns choose_parquet_columns(const ParquetFooter& footer, const ColumnWishes& wishes) {
  ParquetColumns columns;
  columns.image = choose_column(table_of(footer, may_be_image),
                                {"image", "images (bytes)", {"image", "img"}}, wishes.image);
  columns.label = choose_column(table_of(footer, may_be_label),
                                {"label", "labels (whole numbers)", {"label"}}, wishes.label);
  const ParquetColumn& image = footer.columns[columns.image];
  for (std::size_t i = 0; i < footer.columns.size() && image.path.size() == 2; ++i) {
    const ParquetColumn& column = footer.columns[i];
    if (column.path == std::vector<std::string>{image.path.front(), "path"} &&
        column.type == ParquetType::bytes) {
      columns.name = i;
    }
  }
  return columns;
}

ClassNames parquet_classes(const ParquetFooter& footer, const ParquetColumns& columns) {
  ClassNames classes;
  if (footer.features.empty()) return classes;
  try {
    const nlohmann::json facts = nlohmann::json::parse(footer.features);
    const std::string& label = footer.columns[columns.label].path.front();
    const nlohmann::json& names = facts.at("info").at("features").at(label).at("names");
    for (const nlohmann::json& name : names) classes.names.push_back(name.get<std::string>());
  } catch (const nlohmann::json::exception&) {
    return {};  // not a ClassLabel
  }
  return classes;
}

}  // namespace feedrate::formats
