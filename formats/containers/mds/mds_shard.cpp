#include "formats/containers/mds/mds_shard.h"

#include <algorithm>
#include <limits>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/mds/mds_image.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t offset_bytes = sizeof(std::uint32_t);

constexpr std::string_view text_encoding = "str", digits_encoding = "str_int";
struct Integer {
  std::string_view encoding;
  std::size_t bytes;
  bool is_signed;
};
constexpr Integer integers[] = {{"int", 8, true},     {"int8", 1, true},    {"int16", 2, true},
                                {"int32", 4, true},   {"int64", 8, true},   {"uint8", 1, false},
                                {"uint16", 2, false}, {"uint32", 4, false}, {"uint64", 8, false}};

const fs::path& file_of(const MdsShard& shard) {
  return shard.packed.empty() ? shard.file : shard.packed;
}

const Integer* integer_of(std::string_view encoding) {
  const auto* found = std::ranges::find(integers, encoding, &Integer::encoding);
  return found == std::end(integers) ? nullptr : found;
}

Fit image_fit(const MdsColumn& column) { return as_mds_image(column.encoding); }
Fit as_mds_label(const MdsColumn& column) {
  if (integer_of(column.encoding) != nullptr || column.encoding == digits_encoding) return Fit::yes;
  return column.encoding == text_encoding ? Fit::by_name : Fit::no;
}

std::vector<TableColumn> table_of(const std::vector<MdsColumn>& columns,
                                  Fit (*fit)(const MdsColumn&)) {
  std::vector<TableColumn> table;
  for (const MdsColumn& column : columns) {
    table.push_back({column.name, join(column.name, " (", column.encoding, ")"), fit(column)});
  }
  return table;
}

std::int32_t label_from(const MdsColumn& column, Bytes value) {
  if (column.encoding == digits_encoding) {
    const auto label = parse_number<std::int32_t>(as_text(value));
    if (!label)
      throw Error(join("the label '", as_text(value.first(std::min<std::size_t>(40, value.size()))),
                       "' is no class number"));
    return *label;
  }
  const Integer& integer = *integer_of(column.encoding);
  if (value.size() != integer.bytes) {
    throw Error(join("the label has ", value.size(), " bytes, expected ", integer.bytes));
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    bits |= std::to_integer<std::uint64_t>(value[i]) << (8 * i);
  }
  const auto unused = static_cast<unsigned>(64 - 8 * integer.bytes);
  const std::int64_t label = integer.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                                               : static_cast<std::int64_t>(bits);
  if (label < std::numeric_limits<std::int32_t>::min() ||
      label > std::numeric_limits<std::int32_t>::max()) {
    throw Error(join("the label is ", label));
  }
  return static_cast<std::int32_t>(label);
}

MdsRoles roles_of(const std::vector<MdsColumn>& columns, const Wishes& wishes) {
  MdsRoles roles;
  const std::string images = join("images (", mds_image_encodings, ")");
  roles.image = choose_column(table_of(columns, image_fit),
                              {"image", images, {"image", "img", "x"}}, wishes.image);
  roles.label = choose_column(table_of(columns, as_mds_label),
                              {"label", "labels (whole numbers or text)", {"label", "class", "y"}},
                              wishes.label);
  roles.text_labels = columns[roles.label].encoding == text_encoding;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i].name;
    if (columns[i].encoding == text_encoding &&
        (name == "name" || name == "filename" || name == "path")) {
      roles.name = i;
    }
  }
  return roles;
}

}  // namespace

std::vector<MdsRoles> choose_mds_columns(const std::vector<MdsShard>& shards,
                                         const Wishes& wishes) {
  std::vector<MdsRoles> all;
  for (const MdsShard& shard : shards) {
    try {
      const MdsRoles& own = all.emplace_back(roles_of(shard.columns, wishes));
      const MdsRoles& first = all.front();
      const std::vector<MdsColumn>& columns = shards.front().columns;
      if (shard.columns[own.image].name != columns[first.image].name ||
          shard.columns[own.label].name != columns[first.label].name) {
        throw Error(join("has other columns than ", file_of(shards.front()).filename()));
      }
      if (own.text_labels != first.text_labels) {
        throw Error(join("has ", shard.columns[own.label].encoding, " as labels, but ",
                         file_of(shards.front()).filename(), " ", columns[first.label].encoding));
      }
    } catch (const Error& error) {
      fail(file_of(shard), error.what());
    }
  }
  return all;
}

MdsSamples::MdsSamples(const MdsShard& shard, Bytes bytes, const MdsRoles& roles)
    : path_(file_of(shard)),
      bytes_(bytes),
      count_(shard.samples),
      columns_(shard.columns),
      roles_(roles) {
  try {
    if (bytes.size() != shard.bytes) {
      throw Error(join("has ", bytes.size(), " bytes, ", mds_index_name, " states ", shard.bytes));
    }
    if (count_ > bytes.size() / offset_bytes || bytes.size() < (count_ + 2) * offset_bytes) {
      throw Error(join("has ", bytes.size(), " bytes for ", count_, " samples"));
    }
    if (const auto count = load_le<std::uint32_t>(bytes.data()); count != count_) {
      throw Error(join("byte 0: states ", count, " samples, ", mds_index_name, " ", count_));
    }
  } catch (const Error& error) {
    fail(path_, error.what());
  }
}

const std::byte* MdsSamples::offset_at(std::uint64_t number) const {
  return bytes_.data() + (1 + number) * offset_bytes;
}

std::uint64_t MdsSamples::start(std::uint64_t number) const {
  return load_le<std::uint32_t>(offset_at(number));
}

Bytes MdsSamples::expected_bytes(std::uint64_t number) const {
  const std::uint64_t begin = start(number), end = start(number + 1);
  if (begin < (count_ + 2) * offset_bytes || begin > end || end > bytes_.size()) {
    throw Error(join("states the bytes ", begin, " to ", end, ", the file has ", bytes_.size()));
  }
  return bytes_.subspan(begin, end - begin);
}

Bytes MdsSamples::bytes(std::uint64_t number) const {
  const std::uint64_t begin = start(number), end = start(number + 1);
  return begin < end && end <= bytes_.size() ? bytes_.subspan(begin, end - begin) : Bytes();
}

MdsSamples::Values MdsSamples::values(std::uint64_t number) const {
  const Bytes all = expected_bytes(number);
  std::size_t sizes = 0;
  for (const MdsColumn& column : columns_) sizes += column.size ? 0 : offset_bytes;
  if (sizes > all.size()) throw Error("is cut off within its sizes");
  std::size_t at = sizes, next_size = 0;
  Values found;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t size = columns_[i].size.value_or(0);
    if (!columns_[i].size) {
      size = load_le<std::uint32_t>(all.data() + next_size);
      next_size += offset_bytes;
    }
    if (size > all.size() - at) {
      throw Error(join("column ", columns_[i].name, " takes ", size, " bytes, ", all.size() - at,
                       " are left"));
    }
    const Bytes value = all.subspan(at, size);
    at += size;
    if (i == roles_.image) found.image = value;
    if (i == roles_.label) found.label = value;
    if (roles_.name && i == *roles_.name) found.name = value;
  }
  if (at != all.size()) throw Error(join("has ", all.size() - at, " bytes behind its values"));
  return found;
}

Sample MdsSamples::read(std::uint64_t number, const TextClasses& classes, Buffer& memory) const {
  const Values found = values(number);
  Sample sample;
  read_mds_image(columns_[roles_.image].encoding, found.image, memory, sample);
  sample.label = label_of(found, classes);
  sample.name = as_text(found.name);
  return sample;
}

std::int32_t MdsSamples::label_of(const Values& found, const TextClasses& classes) const {
  return roles_.text_labels ? classes.label(as_text(found.label))
                            : label_from(columns_[roles_.label], found.label);
}

std::int32_t MdsSamples::label(std::uint64_t number, const TextClasses& classes) const {
  return label_of(values(number), classes);
}

void MdsSamples::add_classes(TextClasses& classes) const {
  for (std::uint64_t number = 0; number < count_; ++number) {
    Bytes label;
    try {
      label = values(number).label;
    } catch (const Error&) {
      continue;  // read() says what is wrong with it
    }
    if (label.empty()) continue;
    try {
      classes.add(as_text(label));
    } catch (const Error& error) {
      fail(path_, error.what());
    }
  }
}

}  // namespace feedrate::formats
