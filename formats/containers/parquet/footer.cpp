#include "formats/containers/parquet/footer.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/containers/parquet/recode.h"
#include "formats/containers/parquet/thrift.h"

namespace feedrate::formats {
namespace {

using Type = ThriftReader::Type;

constexpr std::string_view magic = "PAR1", encrypted = "PARE";
constexpr std::size_t tail_bytes = sizeof(std::uint32_t) + magic.size();
constexpr std::string_view features_key = "huggingface";

/// One line of the schema: a column, or a struct or list of some of the lines below it.
struct Element {
  std::string name;
  ParquetType type = ParquetType::boolean;
  std::int64_t repetition = 0;  // required, optional, repeated
  std::uint64_t children = 0;
  ParquetMeaning meaning = ParquetMeaning::as_stored;
};

std::uint64_t count_of(std::int64_t value, std::string_view what) {
  if (value < 0) throw Error(join("the footer states ", value, " ", what));
  return static_cast<std::uint64_t>(value);
}

ParquetType type_of(std::int64_t value) {
  if (value < 0 || value > static_cast<std::int64_t>(ParquetType::fixed_bytes)) {
    throw Error(join("the footer has a column of the unknown type ", value));
  }
  return static_cast<ParquetType>(value);
}

/// The older way to say what a value means: a number.
ParquetMeaning meaning_of(std::int64_t converted) {
  using enum ParquetMeaning;
  constexpr ParquetMeaning meanings[] = {text,      as_stored, as_stored, as_stored, text,
                                         decimal,   date,      time,      time,      timestamp,
                                         timestamp, natural,   natural,   natural,   natural};
  constexpr std::int64_t as_json = 19, as_bson = 20;
  if (converted >= 0 && converted < std::ssize(meanings)) return meanings[converted];
  return converted == as_json || converted == as_bson ? json : as_stored;
}

/// The newer one: a record with one field, whose number is the kind.
ParquetMeaning read_meaning(ThriftReader& in) {
  using enum ParquetMeaning;
  constexpr ParquetMeaning meanings[] = {as_stored, text, as_stored, as_stored, text,
                                         decimal,   date, time,      timestamp};
  constexpr std::int32_t whole = 10, as_json = 12, as_bson = 13;
  ParquetMeaning found = as_stored;
  in.record([&](std::int32_t kind, Type type) {
    if (kind >= 0 && kind < std::ssize(meanings)) found = meanings[kind];
    if (kind == as_json || kind == as_bson) found = json;
    if (kind != whole || type != Type::record) return in.skip(type);
    in.record([&](std::int32_t field, Type of) {
      if (field != 2) return in.skip(of);  // 1: the number of bits
      found = in.yes_or_no(of) ? as_stored : natural;
    });
  });
  return found;
}

Element read_element(ThriftReader& in) {
  Element element;
  in.record([&](std::int32_t field, Type type) {
    switch (field) {
      case 1:
        element.type = type_of(in.integer(type));
        break;
      case 3:
        element.repetition = in.integer(type);
        break;
      case 4:
        element.name = in.text(type);
        break;
      case 5:
        element.children = count_of(in.integer(type), "members of a column");
        break;
      case 6:
        element.meaning = meaning_of(in.integer(type));
        break;
      case 10:  // behind the older one, which it agrees with or says more than
        element.meaning = read_meaning(in);
        break;
      default:
        in.skip(type);
    }
  });
  return element;
}

/// Makes columns of the schema's lines, which list each struct before its members.
class Schema {
 public:
  explicit Schema(const std::vector<Element>& elements) : elements_(elements) {
    if (elements.empty()) throw Error("the footer has no schema");
    next_ = 1;  // the first is the whole row
    for (std::uint64_t i = 0; i < elements.front().children; ++i) read({}, 1);
    if (next_ != elements.size()) throw Error("the footer's schema has lines of no column");
  }
  std::vector<ParquetColumn> columns;

 private:
  void read(ParquetColumn within, unsigned depth) {
    // Far more than tables of images have; a forged schema must not fill memory with names.
    constexpr unsigned max_depth = 16;
    constexpr std::size_t max_columns = 10'000, max_name = 1000;
    if (next_ == elements_.size()) throw Error("the footer's schema is cut off");
    const Element& element = elements_[next_++];
    if (depth > max_depth || columns.size() == max_columns || element.name.size() > max_name) {
      throw Error(join("the footer's schema goes beyond the limits of ", max_columns, " columns, ",
                       max_depth, " structs in one another and names of ", max_name, " bytes"));
    }
    within.path.push_back(element.name);
    within.optional += element.repetition == 0 ? 0 : 1;
    within.repeated += element.repetition == 2 ? 1 : 0;
    if (element.children == 0) {
      within.type = element.type;
      within.meaning = element.meaning;
      columns.push_back(std::move(within));
      return;
    }
    for (std::uint64_t i = 0; i < element.children; ++i) read(within, depth + 1);
  }

  const std::vector<Element>& elements_;
  std::size_t next_ = 0;
};

ParquetChunk read_chunk_facts(ThriftReader& in) {
  ParquetChunk chunk;
  std::int64_t data = -1, dictionary = -1;
  in.record([&](std::int32_t field, Type type) {
    switch (field) {
      case 1:
        chunk.type = type_of(in.integer(type));
        break;
      case 2:
        in.list(type, Type::i32, [&] {
          chunk.recoded |= is_recoded(static_cast<std::int32_t>(in.integer(Type::i32)));
        });
        break;
      case 4:
        chunk.codec = static_cast<std::int32_t>(in.integer(type));
        break;
      case 5:
        chunk.values = count_of(in.integer(type), "values of a column");
        break;
      case 6:
        chunk.unpacked = count_of(in.integer(type), "bytes of a column");
        break;
      case 7:
        chunk.size = count_of(in.integer(type), "bytes of a column");
        break;
      case 9:
        data = in.integer(type);
        break;
      case 11:
        dictionary = in.integer(type);
        break;
      default:
        in.skip(type);
    }
  });
  // Some writers state 0 where there is no dictionary.
  chunk.begin = count_of(dictionary > 0 ? std::min(data, dictionary) : data, "as a page's offset");
  return chunk;
}

ParquetChunk read_chunk(ThriftReader& in) {
  ParquetChunk chunk;
  bool elsewhere = false, described = false, encrypted = false;
  in.record([&](std::int32_t field, Type type) {
    encrypted |= field == 8;  // how: with which key
    if (field == 1) {
      elsewhere = !in.text(type).empty();
    } else if (field == 3 && type == Type::record) {
      described = true;
      chunk = read_chunk_facts(in);
    } else {
      in.skip(type);
    }
  });
  if (!described && !encrypted) {
    throw Error("the footer does not describe a column of a row group; is it encrypted?");
  }
  chunk.elsewhere = elsewhere;
  chunk.encrypted = encrypted;
  return chunk;
}

ParquetRowGroup read_row_group(ThriftReader& in) {
  ParquetRowGroup group;
  in.record([&](std::int32_t field, Type type) {
    if (field == 1) {
      in.list(type, Type::record, [&] { group.chunks.push_back(read_chunk(in)); });
    } else if (field == 3) {
      group.rows = count_of(in.integer(type), "rows of a row group");
    } else {
      in.skip(type);
    }
  });
  return group;
}

void read_fact(ThriftReader& in, std::string& features) {
  std::string_view key, value;
  in.record([&](std::int32_t field, Type type) {
    if (field == 1) {
      key = in.text(type);
    } else if (field == 2) {
      value = in.text(type);
    } else {
      in.skip(type);
    }
  });
  if (key == features_key) features = value;
}

void check(const ParquetFooter& footer) {
  std::uint64_t rows = 0;
  for (std::size_t g = 0; g < footer.row_groups.size(); ++g) {
    const ParquetRowGroup& group = footer.row_groups[g];
    rows += group.rows;
    if (group.chunks.size() != footer.columns.size()) {
      throw Error(join("row group ", g, " has ", group.chunks.size(), " columns, the schema ",
                       footer.columns.size()));
    }
    for (std::size_t c = 0; c < group.chunks.size(); ++c) {
      const ParquetChunk& chunk = group.chunks[c];
      const auto refuse = [&](const auto&... what) {
        throw Error(join("row group ", g, ", column ", footer.columns[c].name(), ": ", what...));
      };
      if (chunk.encrypted) continue;  // whoever needs it refuses it
      if (chunk.elsewhere) refuse("lies in another file, which Feedrate does not read");
      if (chunk.type != footer.columns[c].type) refuse("is not of the schema's type");
      if (footer.columns[c].repeated == 0 && chunk.values != group.rows) {
        refuse("has ", chunk.values, " values for ", group.rows, " rows");
      }
      if (chunk.values == 0) continue;  // writers state any place for no pages
      if (chunk.begin < magic.size() || chunk.begin > footer.begin ||
          chunk.size > footer.begin - chunk.begin) {
        refuse("expected ", chunk.size, " bytes at byte ", chunk.begin,
               ", found the footer at byte ", footer.begin);
      }
    }
  }
  // A row holds an image, though rows that are alike may share one.
  if (footer.rows / 8 > footer.begin) {
    throw Error(join("the footer states ", footer.rows, " rows in ", footer.begin, " bytes"));
  }
  if (rows != footer.rows) {
    throw Error(join("the footer states ", footer.rows, " rows, its row groups have ", rows));
  }
}

}  // namespace

std::string ParquetColumn::name() const {
  std::string all;
  for (const std::string& part : path) all += join(all.empty() ? "" : ".", part);
  return all;
}

bool is_parquet(Bytes start) {
  const std::string_view text = as_text(start);
  return text.starts_with(magic) || text.starts_with(encrypted);
}

ParquetFooter parse_parquet_footer(Bytes file) {
  const std::string_view text = as_text(file);
  if (text.starts_with(encrypted) || text.ends_with(encrypted)) throw Error("is encrypted");
  if (!text.starts_with(magic)) throw Error("is no Parquet file");
  if (file.size() < magic.size() + tail_bytes || !text.ends_with(magic)) {
    throw Error(join("expected a footer at the end, byte ", file.size(), "; is it cut off?"));
  }
  const std::size_t end = file.size() - tail_bytes;
  const auto size = load_le<std::uint32_t>(file.data() + end);
  if (size > end - magic.size()) {
    throw Error(join("byte ", end, ": the footer states ", size, " bytes, more than the file has"));
  }
  ParquetFooter footer;
  footer.begin = end - size;
  ThriftReader in(file.subspan(footer.begin, size), footer.begin);
  std::vector<Element> elements;
  in.record([&](std::int32_t field, Type type) {
    switch (field) {
      case 2:
        in.list(type, Type::record, [&] { elements.push_back(read_element(in)); });
        break;
      case 3:
        footer.rows = count_of(in.integer(type), "rows");
        break;
      case 4:
        in.list(type, Type::record, [&] { footer.row_groups.push_back(read_row_group(in)); });
        break;
      case 5:
        in.list(type, Type::record, [&] { read_fact(in, footer.features); });
        break;
      default:
        in.skip(type);
    }
  });
  footer.columns = std::move(Schema(elements).columns);
  check(footer);
  return footer;
}

}  // namespace feedrate::formats
