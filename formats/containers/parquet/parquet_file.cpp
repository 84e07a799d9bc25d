#include "formats/containers/parquet/parquet_file.h"

#include <algorithm>
#include <limits>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

ParquetFooter footer_of(const fs::path& path, const MappedFile& file) {
  try {
    return parse_parquet_footer(file.bytes());
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

}  // namespace

OpenParquet::OpenParquet(const fs::path& from, const Wishes& wishes)
    : path(from), file(from), footer(footer_of(from, file)) {
  try {
    columns = choose_parquet_columns(footer, wishes);
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

std::uint64_t OpenParquet::packed_bytes() const {
  std::uint64_t bytes = 0;
  for (const ParquetRowGroup& group : footer.row_groups) {
    const ParquetChunk& chunk = group.chunks[columns.image];
    if (chunk.codec != 0 || chunk.recoded) bytes += chunk.unpacked;
  }
  return bytes;
}

/// A column of the file being read, with what errors name.
struct ParquetFile::Column {
  const ParquetFooter& footer;
  std::size_t number;
  const ParquetColumn& facts() const { return footer.columns[number]; }
};

ParquetFile::ParquetFile(OpenParquet&& open, bool unpacks)
    : path_(std::move(open.path)),
      file_(std::move(open.file)),
      image_column_(open.footer.columns[open.columns.image]) {
  const SinglePages heads(file_.bytes());
  read_images({open.footer, open.columns.image}, unpacks);
  read_labels({open.footer, open.columns.label});
  if (open.columns.name) read_names({open.footer, *open.columns.name});
}

/// The page's bytes unpacked, for as long as the file is open.
Bytes ParquetFile::kept(const ParquetPage& page, const ParquetColumn& column) {
  Buffer memory;
  const Bytes content = unpacked_parquet_page(page, memory, column);
  if (!is_packed(page)) return content;
  check_parquet_page(page);
  unpacked_.push_back({std::move(memory), page.offset});
  return content;
}

/// Calls page() for each data page of the column, with its dictionary, which stays. A dictionary that
/// is packed and is not to be unpacked is added to packed_ instead.
void ParquetFile::each_page(const Column& column, const OnPage& page, bool unpacks) {
  for (std::size_t group = 0; group < column.footer.row_groups.size(); ++group) {
    const ParquetChunk& chunk = column.footer.row_groups[group].chunks[column.number];
    const auto where = [&] {
      return join("row group ", group, ", column ", column.facts().name(), ": ");
    };
    dictionaries_.emplace_back();
    try {
      if (chunk.encrypted) throw Error("is encrypted, which Feedrate does not read");
      each_parquet_page(file_.bytes(), chunk, [&](const ParquetPage& each) {
        try {
          if (each.crc) with_checksums_.push_back(each);
          if (each.kind == ParquetPage::Kind::dictionary && each.codec != 0 && !unpacks) {
            packed_.push_back(each);
          } else if (each.kind == ParquetPage::Kind::dictionary) {
            dictionaries_.back() =
                read_parquet_dictionary(each, kept(each, column.facts()), chunk.type);
          } else {
            page(each, dictionaries_.back());
          }
        } catch (const Error& error) {
          throw Error(join("the page at byte ", each.offset, " ", error.what()));
        }
      });
    } catch (const Error& error) {
      fail(path_, where(), error.what());
    }
  }
}

void ParquetFile::read_images(const Column& column, bool unpacks) {
  images_.reserve(column.footer.rows);
  const OnPage on_page = [&](const ParquetPage& page, const ParquetDictionary& dictionary) {
    if (is_packed(page) && !unpacks) return add_packed_values(page);
    const ParquetSink sink{.bytes =
                               [this](Bytes value) {
                                 const auto size = static_cast<std::uint32_t>(value.size());
                                 images_.push_back({value.data(), size, in_memory});
                               },
                           .integer = {},
                           .missing = [&] { add_missing_image(page); }};
    read_parquet_values(page, kept(page, column.facts()), column.facts(), dictionary, sink);
  };
  expect_one_in_lists(column);
  each_page(column, on_page, unpacks);
}

void ParquetFile::expect_one_in_lists(const Column& column) const {
  for (std::size_t group = 0; group < column.footer.row_groups.size(); ++group) {
    const ParquetRowGroup& rows = column.footer.row_groups[group];
    const std::uint64_t images = rows.chunks[column.number].values;
    if (images == rows.rows) continue;
    fail(path_, "row group ", group, ", column ", column.facts().name(), ": holds ", images,
         " images in the lists of ", rows.rows, " rows; Feedrate reads lists of one image each");
  }
}

/// The places of the images of a packed data page: numbers of values in it, or in the dictionary that
/// was added last.
void ParquetFile::add_packed_values(const ParquetPage& page) {
  if (!holds_entries(page)) {
    const auto number = static_cast<std::uint32_t>(packed_.size());
    packed_.push_back(page);
    to_unpack_.in_order += page.unpacked;
    to_unpack_.any_order += page.unpacked * page.values;
    for (std::uint32_t i = 0; i < page.values; ++i) images_.push_back({nullptr, i, number});
    return;
  }
  const auto number = static_cast<std::uint32_t>(packed_.size() - 1);
  if (packed_.empty() || packed_.back().kind != ParquetPage::Kind::dictionary) {
    throw Error("names entries of a dictionary that is not there");
  }
  to_unpack_.in_order += packed_.back().unpacked;
  to_unpack_.any_order += packed_.back().unpacked * page.values;
  Buffer memory;
  read_parquet_values(page, unpacked_parquet_page(page, memory, image_column_), image_column_, {},
                      {.bytes = {},
                       .integer = {},
                       .missing = [&] { add_missing_image(page); },
                       .entry =
                           [&](std::uint32_t entry) {
                             images_.push_back({nullptr, entry, number});
                           }});
}

void ParquetFile::add_missing_image(const ParquetPage& page) {
  images_.push_back({page.stored.data(), 0, missing});
}

// A bad label is the fault of its sample, not of the others.
void ParquetFile::add_bad_label(std::string_view problem) {
  bad_labels_.push_back({labels_.size(), problem, std::nullopt, false});
  labels_.push_back(no_label);
}

void ParquetFile::add_label(std::int64_t value, bool is_natural) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value > no_label && value <= most && (value >= 0 || !is_natural)) {
    labels_.push_back(static_cast<std::int32_t>(value));
    return;
  }
  add_bad_label("the label is ");
  bad_labels_.back().value = value;
  bad_labels_.back().is_natural = is_natural;
}

void ParquetFile::add_text_label(std::string_view text) {
  if (text.empty()) return add_bad_label(empty_text_label);
  labels_.push_back(texts_.add(text));
}

std::int32_t ParquetFile::label(std::uint64_t row) const {
  if (labels_[row] != no_label) return labels_[row];
  const auto bad = std::ranges::lower_bound(bad_labels_, row, {}, &BadLabel::row);
  if (!bad->value) throw Error(std::string(bad->problem));
  if (bad->is_natural) throw Error(join(bad->problem, static_cast<std::uint64_t>(*bad->value)));
  throw Error(join(bad->problem, *bad->value));
}

void ParquetFile::number_labels(const TextClasses& classes) {
  if (texts_.count() == 0) return;
  const std::vector<std::int32_t> numbers = classes.labels_of(texts_);
  for (std::int32_t& label : labels_) {
    if (label != no_label) label = numbers[static_cast<std::size_t>(label)];
  }
}

void ParquetFile::read_labels(const Column& column) {
  labels_.reserve(column.footer.rows);
  const bool natural = column.facts().meaning == ParquetMeaning::natural;
  const bool narrow = natural && column.facts().type == ParquetType::int32;
  const ParquetSink sink{
      .bytes = [this](Bytes value) { add_text_label(as_text(value)); },
      .integer =
          [&](std::int64_t value) { add_label(narrow ? value & 0xffff'ffff : value, natural); },
      .missing = [this] { add_bad_label("the label is missing (null)"); }};
  Buffer memory;
  each_page(column, [&](const ParquetPage& page, const ParquetDictionary& dictionary) {
    check_parquet_page(page);
    read_parquet_values(page, unpacked_parquet_page(page, memory, column.facts()), column.facts(),
                        dictionary, sink);
  });
}

void ParquetFile::read_names(const Column& column) {
  name_ends_.reserve(column.footer.rows);
  const ParquetSink sink{.bytes =
                             [this](Bytes value) {
                               names_ += as_text(value);
                               name_ends_.push_back(names_.size());
                             },
                         .integer = {},
                         .missing = [this] { name_ends_.push_back(names_.size()); }};
  Buffer memory;
  each_page(column, [&](const ParquetPage& page, const ParquetDictionary& dictionary) {
    check_parquet_page(page);
    read_parquet_values(page, unpacked_parquet_page(page, memory, column.facts()), column.facts(),
                        dictionary, sink);
  });
}

std::string_view ParquetFile::name(std::uint64_t row) const {
  if (name_ends_.empty()) return {};
  const std::uint64_t begin = row == 0 ? 0 : name_ends_[row - 1];
  return std::string_view(names_).substr(begin, name_ends_[row] - begin);
}

void ParquetFile::refuse_missing(std::uint64_t row) const {
  const std::string_view path = name(row);
  throw Error(join("the image is missing (null)",
                   path.empty() ? ""
                                : join("; the file has only its path, '", path,
                                       "', and Feedrate reads images that are in the file")));
}

Bytes ParquetFile::image(std::uint64_t row, Buffer& memory, ParquetPageCache& pages) const {
  const Place& place = images_[row];
  if (place.page == in_memory) return {place.data, place.size};
  if (place.page == missing) refuse_missing(row);
  const ParquetPage& from = packed_[place.page];
  const auto unpack = [&](ParquetPageCache::Page& page) {
    const Bytes content = unpacked_parquet_page(from, page.memory, image_column_);
    if (from.kind == ParquetPage::Kind::dictionary) {
      const auto all = read_parquet_dictionary(from, content, image_column_.type).texts;
      page.values.assign(all.begin(), all.end());
      return;
    }
    read_parquet_values(from, content, image_column_, {},
                        {.bytes = [&](Bytes value) { page.values.emplace_back(value); },
                         .integer = {},
                         .missing = [&] { page.values.emplace_back(); }});
  };
  const auto page = pages.get(&from, unpack);
  if (place.size >= page->values.size()) {
    throw Error(join("names entry ", place.size, " of a dictionary of ", page->values.size()));
  }
  if (!page->values[place.size]) refuse_missing(row);
  const Bytes found = *page->values[place.size];
  // A copy: others may push the page out while this image is being decoded.
  const MutableBytes image = grown(memory, found.size());
  std::ranges::copy(found, image.begin());
  return image;
}

bool ParquetFile::is_inside(Bytes memory, const std::byte* data) {
  return !memory.empty() && data >= memory.data() && data < memory.data() + memory.size();
}

std::uint64_t ParquetFile::offset(std::uint64_t row) const {
  const Place& place = images_[row];
  if (place.page < missing) return packed_[place.page].offset;
  const Bytes file = file_.bytes();
  if (is_inside(file, place.data)) return static_cast<std::uint64_t>(place.data - file.data());
  for (const Unpacked& page : unpacked_) {
    if (is_inside(page.memory, place.data)) return page.offset;
  }
  return 0;
}

bool ParquetFile::look_ahead(std::uint64_t row) const {
  const Place& place = images_[row];
  if (place.page < missing) {
    file_.look_ahead(packed_[place.page].stored);
  } else if (is_inside(file_.bytes(), place.data)) {
    file_.look_ahead({place.data, place.size});
  }
  return true;
}

void ParquetFile::prefetch(std::uint64_t row) const { __builtin_prefetch(images_[row].data); }

void ParquetFile::audit(const std::function<void(Finding)>& found) const {
  for (const ParquetPage& page : with_checksums_) {
    try {
      check_parquet_page(page);
    } catch (const Error& error) {
      found({join(path_, ": the page at byte ", page.offset), error.what()});
    }
  }
}

}  // namespace feedrate::formats
