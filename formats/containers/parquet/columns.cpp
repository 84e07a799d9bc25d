#include "formats/containers/parquet/columns.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view type_names[] = {"boolean", "int32",  "int64", "int96",
                                           "float",   "double", "bytes", "bytes of one length"};

constexpr std::string_view meaning_names[] = {"",        "unsigned", "text", "JSON",
                                              "decimal", "date",     "time", "timestamp"};

std::string_view kind_of(const ParquetColumn& column) {
  const std::string_view meaning = meaning_names[static_cast<std::size_t>(column.meaning)];
  if (column.repeated != 0) return "a list";
  return meaning.empty() ? type_names[static_cast<std::size_t>(column.type)] : meaning;
}

// An image's bytes: a column, or the member "bytes" of a struct, as Hugging Face's Image has it.
Fit as_image(const ParquetColumn& column) {
  const bool plain = column.meaning == ParquetMeaning::as_stored;
  if (column.type != ParquetType::bytes || column.repeated > 1 || !plain) return Fit::no;
  if (column.repeated != 0 && column.path.size() < 3) return Fit::no;
  const std::size_t depth =
      column.path.size() - (column.repeated == 0 ? 0 : 2);  // "list", "element"
  const bool is_member = depth == 2 && column.path.back() == "bytes";
  if (depth != 1 && !is_member) return Fit::no;
  return column.repeated == 0 ? Fit::yes : Fit::by_name;  // of one image each
}

bool holds_text(const ParquetColumn& column) {
  return column.type == ParquetType::bytes && column.is_text();
}

Fit as_label(const ParquetColumn& column) {
  if (column.repeated != 0 || column.path.size() != 1) return Fit::no;
  const bool number =
      (column.type == ParquetType::int32 || column.type == ParquetType::int64) &&
      (column.meaning == ParquetMeaning::as_stored || column.meaning == ParquetMeaning::natural);
  const bool named = holds_text(column) || column.type == ParquetType::boolean;
  return number ? Fit::yes : named ? Fit::by_name : Fit::no;
}

std::vector<TableColumn> table_of(const ParquetFooter& footer, Fit (*fit)(const ParquetColumn&)) {
  std::vector<TableColumn> columns;
  for (const ParquetColumn& column : footer.columns) {
    const std::string shown = join(column.name(), " (", kind_of(column), ")");
    columns.push_back({column.path.front(), shown, fit(column)});
  }
  return columns;
}

}  // namespace

ParquetColumns choose_parquet_columns(const ParquetFooter& footer, const Wishes& wishes) {
  ParquetColumns columns;
  columns.image =
      choose_column(table_of(footer, as_image),
                    {"image", "images (bytes)", {"image", "img", "images"}}, wishes.image);
  columns.label =
      choose_column(table_of(footer, as_label),
                    {"label", "labels (whole numbers or text)", {"label"}}, wishes.label);
  columns.text_labels = holds_text(footer.columns[columns.label]);
  const ParquetColumn& image = footer.columns[columns.image];
  std::vector<std::string> name = image.path;
  name.back() = "path";
  for (std::size_t i = 0; i < footer.columns.size() && image.path.size() > 1; ++i) {
    const ParquetColumn& column = footer.columns[i];
    if (column.path == name && column.type == ParquetType::bytes) columns.name = i;
  }
  return columns;
}

ClassNames parquet_classes(const ParquetFooter& footer, const ParquetColumns& columns) {
  ClassNames classes;
  if (footer.features.empty() || columns.text_labels) return classes;
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
