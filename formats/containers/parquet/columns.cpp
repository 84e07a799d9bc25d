#include "formats/containers/parquet/columns.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

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

std::string list_of(const ParquetFooter& footer) {
  std::string all;
  for (const ParquetColumn& column : footer.columns) {
    all += join(all.empty() ? "" : ", ", column.name(), " (",
                column.repeated  ? "a list"
                : column.is_text ? "text"
                                 : type_names[static_cast<std::size_t>(column.type)],
                ")");
  }
  return all;
}

struct Role {
  std::string_view name;  // of the wish
  std::string_view what;
  bool (*may_be)(const ParquetColumn&);
  std::vector<std::string_view> usual;  // names, the most usual first
};

std::size_t choose(const ParquetFooter& footer, const Role& role, const std::string& wish) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < footer.columns.size(); ++i) {
    if (role.may_be(footer.columns[i])) found.push_back(i);
  }
  const auto named = [&](std::string_view name) {
    return std::ranges::find_if(
        found, [&](std::size_t i) { return footer.columns[i].path.front() == name; });
  };
  const std::string how =
      join("; behind the path, ?", role.name, "=COLUMN names it. It has ", list_of(footer));
  if (!wish.empty()) {
    if (const auto at = named(wish); at != found.end()) return *at;
    throw Error(join("has no column '", wish, "' of ", role.what, how));
  }
  for (const std::string_view usual : role.usual) {
    if (const auto at = named(usual); at != found.end()) return *at;
  }
  // A column of numbers beside a label that is text would be taken for it.
  for (const ParquetColumn& column : footer.columns) {
    if (std::ranges::find(role.usual, column.path.front()) != role.usual.end()) {
      throw Error(join("has a column '", column.path.front(), "', but not of ", role.what, how));
    }
  }
  if (found.size() == 1) return found.front();
  throw Error(
      join("has ", found.empty() ? "no column" : "several columns", " of ", role.what, how));
}

}  // namespace

fs::path without_parquet_wishes(const fs::path& path) {
  const std::string text = path.string();
  std::error_code ignored;
  return fs::exists(path, ignored) ? path : fs::path(text.substr(0, text.rfind('?')));
}

std::pair<fs::path, ParquetWishes> split_parquet_wishes(const fs::path& path) {
  const std::string text = path.string();
  const fs::path file = without_parquet_wishes(path);
  if (file == path) return {path, {}};
  ParquetWishes wishes;
  std::string_view left = std::string_view(text).substr(file.string().size() + 1);
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    const std::size_t equals = std::min(one.find('='), one.size());
    const std::string_view name = one.substr(0, equals);
    const std::string_view value = one.substr(std::min(equals + 1, one.size()));
    if ((name != "image" && name != "label") || value.empty()) {
      fail(path,
           "expected ?image=COLUMN, ?label=COLUMN or both with & behind a Parquet path, found '",
           one, "'");
    }
    (name == "image" ? wishes.image : wishes.label) = value;
  }
  return {file, wishes};
}

ParquetColumns choose_parquet_columns(const ParquetFooter& footer, const ParquetWishes& wishes) {
  ParquetColumns columns;
  columns.image =
      choose(footer, {"image", "images (bytes)", may_be_image, {"image", "img"}}, wishes.image);
  columns.label =
      choose(footer, {"label", "labels (whole numbers)", may_be_label, {"label"}}, wishes.label);
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
