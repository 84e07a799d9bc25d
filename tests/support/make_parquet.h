#pragma once
// A writer of small Parquet files with a column of images and one of labels, in the ways in which
// pyarrow writes them; tests/interop/parquet.py holds the reader against the real one.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/checksum.h"
#include "tests/support/parquet_encodings.h"
#include "tests/support/thrift_writer.h"

namespace feedrate::testing {
using namespace formats;

struct ParquetRow {
  std::optional<std::string> image;  // encoded
  std::int64_t label = 0;
  std::string name = {};
  std::optional<std::string> text = {};  // in place of the label
  bool labelled = true;                  // else the number is missing
};

struct ParquetWays {
  std::int32_t codec =
      0;  // 1: Snappy, in literals alone; 6: zstd, likewise; others are only stated
  bool second_version = false;  // of data pages
  bool dictionary = false;
  bool wide_labels = true;  // 64 bits
  bool text_labels = false;
  bool optional_labels = false;     // of numbers
  bool encrypted_labels = false;    // as the footer states
  std::int32_t label_meaning = -1;  // the older number; 11 to 14 are unsigned
  bool newer_meaning = false;       // the same as a record, of whole numbers
  bool checksums = false;
  std::size_t rows_a_group = 3;
  std::size_t rows_a_page = 2;
  std::int32_t encoding = -1;  // stated for values, whatever they are in; -1: the right one
  std::string image = "image", label = "label";
  std::string more = {};          // another column of numbers, alike
  std::string features = {};      // JSON of Hugging Face's datasets
  std::int32_t texts_in = 0;      // the encoding of bytes: 6 and 7
  std::int32_t numbers_in = 0;    // that of numbers: 5 and 9
  bool boolean_labels = false;    // in bits, in the second version in runs
  bool image_lists = false;       // each image in a list of its own
  bool bare_empty_pages = false;  // what is empty is not packed, as parquet-java has it
};

namespace detail {

inline Buffer snappy_of(Bytes content) {
  Buffer packed;
  append_varint(packed, content.size());
  for (; !content.empty(); content = content.subspan(std::min<std::size_t>(60, content.size()))) {
    const Bytes some = content.first(std::min<std::size_t>(60, content.size()));
    packed.push_back(static_cast<std::byte>((some.size() - 1) << 2));
    append(packed, some);
  }
  return packed;
}

/// A frame of one block, stored as it is.
inline Buffer zstd_of(Bytes content) {
  Buffer packed;
  append_le(packed, std::uint32_t{0xfd2f'b528});
  packed.push_back(std::byte{0xa0});  // the size follows in 32 bits
  append_le(packed, static_cast<std::uint32_t>(content.size()));
  const auto block = static_cast<std::uint32_t>(content.size() << 3 | 1);
  for (int i = 0; i < 3; ++i) packed.push_back(static_cast<std::byte>(block >> (8 * i)));
  append(packed, content);
  return packed;
}

/// A run for each number, as one of the two ways of the hybrid; `groups`: the other way.
inline Buffer levels_of(const std::vector<std::uint32_t>& numbers, unsigned width, bool groups) {
  Buffer out;
  if (!groups) {
    for (const std::uint32_t number : numbers) {
      append_varint(out, 1U << 1);
      for (unsigned i = 0; i < (width + 7) / 8; ++i)
        out.push_back(static_cast<std::byte>(number >> (8 * i)));
    }
    return out;
  }
  const std::size_t count = (numbers.size() + 7) / 8;
  append_varint(out, count << 1 | 1);
  Buffer bits(count * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (unsigned b = 0; b < width; ++b) {
      const std::size_t at = i * width + b;
      if ((numbers[i] >> b & 1U) != 0) bits[at / 8] |= static_cast<std::byte>(1U << at % 8);
    }
  }
  append(out, bits);
  return out;
}

/// A value as PLAIN writes it; nothing for one that is missing.
using PlainValue = std::optional<Buffer>;

struct WrittenChunk {
  std::uint64_t dictionary = 0, data = 0, size = 0, unpacked = 0, values = 0;
};

class ParquetMaker {
 public:
  explicit ParquetMaker(const ParquetWays& ways) : ways_(ways) { append(file_, as_bytes("PAR1")); }

  enum class Kind { texts, numbers, booleans };

  WrittenChunk chunk(const std::vector<PlainValue>& values, std::uint32_t optional, Kind kind,
                     bool lists = false) {
    WrittenChunk chunk;
    kind_ = kind;
    lists_ = lists;
    chunk.values = values.size();
    const std::uint64_t begin = file_.size();
    std::vector<Buffer> entries;
    if (has_dictionary()) {
      Buffer all;
      for (const PlainValue& value : values) {
        if (!value || std::ranges::find(entries, *value) != entries.end()) continue;
        entries.push_back(*value);
        append(all, *value);
      }
      chunk.dictionary = file_.size();
      page(2, {}, all, [&](ThriftWriter& head) {
        head.record(7, [&] {
          head.number(1, static_cast<std::int64_t>(entries.size()));
          head.number(2, 0);
        });
      });
    }
    chunk.data = file_.size();
    for (std::size_t at = 0; at < values.size(); at += ways_.rows_a_page) {
      const std::size_t some = std::min(ways_.rows_a_page, values.size() - at);
      data_page(std::vector(values.begin() + static_cast<std::ptrdiff_t>(at),
                            values.begin() + static_cast<std::ptrdiff_t>(at + some)),
                entries, optional);
    }
    chunk.size = file_.size() - begin;
    chunk.unpacked = chunk.size;
    return chunk;
  }

  Buffer finish(Bytes footer) {
    append(file_, footer);
    append_le(file_, static_cast<std::uint32_t>(footer.size()));
    append(file_, as_bytes("PAR1"));
    return std::move(file_);
  }

 private:
  bool has_dictionary() const { return ways_.dictionary && kind_ != Kind::booleans; }
  std::int32_t own_encoding() const {
    if (kind_ == Kind::booleans) return ways_.second_version ? 3 : 0;
    return kind_ == Kind::texts ? ways_.texts_in : ways_.numbers_in;
  }
  /// Values of a byte each, in bits or in runs.
  Buffer booleans_of(const std::vector<Buffer>& values) const {
    std::vector<std::uint32_t> bits;
    for (const Buffer& value : values) bits.push_back(std::to_integer<std::uint32_t>(value[0]));
    Buffer out;
    if (ways_.second_version) {
      const Buffer runs = levels_of(bits, 1, false);
      append_le(out, static_cast<std::uint32_t>(runs.size()));
      append(out, runs);
      return out;
    }
    out.resize((bits.size() + 7) / 8);
    for (std::size_t i = 0; i < bits.size(); ++i)
      out[i / 8] |= static_cast<std::byte>(bits[i] << i % 8);
    return out;
  }

  void data_page(const std::vector<PlainValue>& values, const std::vector<Buffer>& entries,
                 std::uint32_t optional) {
    std::vector<std::uint32_t> there, numbers;
    Buffer content;
    std::vector<Buffer> present;
    for (const PlainValue& value : values) {
      there.push_back(value ? optional : optional - 1);
      if (!value) continue;
      present.push_back(*value);
      if (!has_dictionary()) append(content, *value);
      const auto entry = std::ranges::find(entries, *value) - entries.begin();
      numbers.push_back(static_cast<std::uint32_t>(entry));
    }
    const std::int32_t coding = own_encoding();
    if (kind_ == Kind::booleans) {
      content = booleans_of(present);
    } else if (coding != 0 && !has_dictionary()) {
      content = encoded_as(coding, present);
    }
    if (has_dictionary()) {
      const auto width = static_cast<unsigned>(std::bit_width(entries.size()));
      content.push_back(static_cast<std::byte>(width));
      append(content, levels_of(numbers, width, true));
    }
    Buffer levels;
    if (optional != 0) {
      levels = levels_of(there, static_cast<unsigned>(std::bit_width(optional)), false);
    }
    Buffer repeats;
    if (lists_) repeats = levels_of(std::vector<std::uint32_t>(values.size(), 0), 1, false);
    const std::int32_t encoding = ways_.encoding >= 0 ? ways_.encoding
                                  : has_dictionary()  ? 8
                                                      : coding;
    const auto count = static_cast<std::int64_t>(values.size());
    if (ways_.second_version) {
      Buffer both = repeats;
      append(both, levels);
      page(3, both, content, [&](ThriftWriter& head) {
        head.record(8, [&] {
          head.number(1, count);
          head.number(2, count - static_cast<std::int64_t>(numbers.size()));
          head.number(3, count);
          head.number(4, encoding);
          head.number(5, static_cast<std::int64_t>(levels.size()));
          head.number(6, static_cast<std::int64_t>(repeats.size()));
          if (ways_.codec == 0) head.yes_or_no(7, false);
        });
      });
      return;
    }
    Buffer all;
    if (lists_) {
      append_le(all, static_cast<std::uint32_t>(repeats.size()));
      append(all, repeats);
    }
    if (optional != 0) {
      append_le(all, static_cast<std::uint32_t>(levels.size()));
      append(all, levels);
    }
    append(all, content);
    page(0, {}, all, [&](ThriftWriter& head) {
      head.record(5, [&] {
        head.number(1, count);
        head.number(2, encoding);
        head.number(3, 3);
        head.number(4, 3);
      });
    });
  }

  /// `first` is never compressed.
  template <class Kind>
  void page(std::int64_t type, const Buffer& first, const Buffer& content, const Kind& kind) {
    Buffer stored = first;
    if (!content.empty() || !ways_.bare_empty_pages)
      append(stored, ways_.codec == 1   ? snappy_of(content)
                     : ways_.codec == 6 ? zstd_of(content)
                                        : content);
    ThriftWriter head;
    head.record(0, [&] {
      head.number(1, type);
      head.number(2, static_cast<std::int64_t>(first.size() + content.size()));
      head.number(3, static_cast<std::int64_t>(stored.size()));
      if (ways_.checksums) head.number(4, static_cast<std::int32_t>(zip_crc32(stored)));
      kind(head);
    });
    append(file_, head.bytes);
    append(file_, stored);
  }

  const ParquetWays& ways_;
  Buffer file_;
  Kind kind_ = Kind::texts;  // of the chunk being written
  bool lists_ = false;
};

}  // namespace detail

/// The bytes of a file. An image is a struct of optional bytes and path, as Hugging Face's is.
inline Buffer make_parquet(const std::vector<ParquetRow>& rows, const ParquetWays& ways = {}) {
  detail::ParquetMaker maker(ways);
  const auto text = [](std::string_view value) {
    Buffer plain;
    append_le(plain, static_cast<std::uint32_t>(value.size()));
    append(plain, as_bytes(value));
    return plain;
  };
  const auto label = [&](std::int64_t value) {
    Buffer plain;
    if (ways.boolean_labels) {
      plain.push_back(static_cast<std::byte>(value));
    } else if (ways.wide_labels) {
      append_le(plain, value);
    } else {
      append_le(plain, static_cast<std::int32_t>(value));
    }
    return plain;
  };
  const unsigned image_levels = ways.image_lists ? 4 : 2;
  const unsigned optional_labels = ways.text_labels || ways.optional_labels ? 1 : 0;
  std::vector<std::vector<detail::WrittenChunk>> groups;
  for (std::size_t at = 0; at < rows.size(); at += ways.rows_a_group) {
    std::vector<detail::PlainValue> images, names, labels, numbers;
    for (std::size_t i = at; i < std::min(rows.size(), at + ways.rows_a_group); ++i) {
      const ParquetRow& row = rows[i];
      images.push_back(row.image ? detail::PlainValue(text(*row.image)) : std::nullopt);
      names.push_back(row.name.empty() ? std::nullopt : detail::PlainValue(text(row.name)));
      numbers.push_back(label(row.label));
      const auto as_text = [&] {
        return row.text ? detail::PlainValue(text(*row.text)) : std::nullopt;
      };
      labels.push_back(ways.text_labels ? as_text()
                       : row.labelled   ? detail::PlainValue(numbers.back())
                                        : std::nullopt);
    }
    auto& chunks = groups.emplace_back();
    using Kind = detail::ParquetMaker::Kind;
    const Kind number = ways.boolean_labels ? Kind::booleans : Kind::numbers;
    chunks.push_back(maker.chunk(images, image_levels, Kind::texts, ways.image_lists));
    chunks.push_back(maker.chunk(names, image_levels, Kind::texts, ways.image_lists));
    chunks.push_back(maker.chunk(labels, optional_labels, ways.text_labels ? Kind::texts : number));
    if (!ways.more.empty()) chunks.push_back(maker.chunk(numbers, 0, number));
  }
  detail::ThriftWriter out;
  const std::int64_t number_type = ways.boolean_labels ? 0 : ways.wide_labels ? 2 : 1;
  const std::int64_t label_type = ways.text_labels ? 6 : number_type;
  const auto element = [&](std::string_view name, std::int64_t type, std::int64_t repetition,
                           std::int64_t children, bool is_text, std::int32_t meaning = -1) {
    out.record(0, [&] {
      if (type >= 0) out.number(1, type);
      if (repetition >= 0) out.number(3, repetition);
      out.text(4, name);
      if (children != 0) out.number(5, children);
      if (is_text) out.number(6, 0);
      if (meaning >= 0 && !ways.newer_meaning) out.number(6, meaning);
      if (meaning >= 0 && ways.newer_meaning) {
        out.record(
            10, [&] { out.record(10, [&] { out.yes_or_no(2, meaning < 11 || meaning > 14); }); });
      }
    });
  };
  out.record(0, [&] {
    out.number(1, 2);
    out.list(2, (ways.more.empty() ? 5U : 6U) + (ways.image_lists ? 2U : 0U), 12);
    element("schema", -1, -1, ways.more.empty() ? 2 : 3, false);
    if (ways.image_lists) {
      element(ways.image, -1, 1, 1, false);
      element("list", -1, 2, 1, false);
      element("element", -1, 1, 2, false);
    } else {
      element(ways.image, -1, 1, 2, false);
    }
    element("bytes", 6, 1, 0, false);
    element("path", 6, 1, 0, true);
    element(ways.label, label_type, optional_labels, 0, ways.text_labels,
            ways.text_labels ? -1 : ways.label_meaning);
    if (!ways.more.empty()) element(ways.more, number_type, 0, 0, false);
    out.number(3, static_cast<std::int64_t>(rows.size()), true);
    out.list(4, groups.size(), 12);
    for (const auto& chunks : groups) {
      out.record(0, [&] {
        out.list(1, chunks.size(), 12);
        for (std::size_t c = 0; c < chunks.size(); ++c) {
          out.record(0, [&] {
            out.number(2, 0, true);
            out.record(3, [&] {
              out.number(1, c < 2 ? 6 : c == 2 ? label_type : number_type);
              out.list(2, 2, 5);
              out.zigzag(ways.texts_in);
              out.zigzag(ways.numbers_in);
              out.list(3, 1, 8);
              out.plain_text("x");
              out.number(4, ways.codec);
              out.number(5, static_cast<std::int64_t>(chunks[c].values), true);
              out.number(6, static_cast<std::int64_t>(chunks[c].unpacked), true);
              out.number(7, static_cast<std::int64_t>(chunks[c].size), true);
              out.number(9, static_cast<std::int64_t>(chunks[c].data), true);
              if (ways.dictionary)
                out.number(11, static_cast<std::int64_t>(chunks[c].dictionary), true);
            });
            if (c == 2 && ways.encrypted_labels) out.record(8, [&] { out.record(1, [] {}); });
          });
        }
        out.number(2, 0, true);
        out.number(3, static_cast<std::int64_t>(chunks[0].values), true);
      });
    }
    if (!ways.features.empty()) {
      out.list(5, 1, 12);
      out.record(0, [&] {
        out.text(1, "huggingface");
        out.text(2, ways.features);
      });
    }
  });
  return maker.finish(out.bytes);
}

}  // namespace feedrate::testing
