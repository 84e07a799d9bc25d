#include "converters/imagenet/mat_file.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "converters/imagenet/mat_format.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// The devkit's meta.mat unpacks to 1 MiB and holds 14,881 arrays.
constexpr std::size_t max_bytes = std::size_t{16} << 20;
constexpr std::size_t max_arrays = std::size_t{1} << 18;
constexpr int deepest = 16;

struct Element {
  std::uint32_t type = 0;
  Bytes data;
  std::size_t at = 0;  // of its tag
};

// Elements one after the other, with the words for where they are.
class Elements {
 public:
  Elements(Bytes bytes, std::size_t offset, const std::string& place)
      : rest_(bytes), offset_(offset), place_(place) {}

  bool empty() const { return rest_.empty(); }
  std::size_t offset() const { return offset_; }

  Element take() {
    const std::size_t at = offset_;
    if (rest_.size() < mat::tag_bytes) fail(at, "ends inside a tag of 8 bytes");
    const auto word = load_le<std::uint32_t>(rest_.data());
    const std::uint32_t small_size = word >> 16;
    if (small_size != 0) {
      if (small_size > 4) fail(at, "a small element claims ", small_size, " bytes of 4");
      const Bytes data = rest_.subspan(4, small_size);
      drop(mat::tag_bytes);
      return {word & 0xffff, data, at};
    }
    const auto size = load_le<std::uint32_t>(rest_.data() + 4);
    const std::size_t left = rest_.size() - mat::tag_bytes;
    if (size > left) fail(at, "an element claims ", size, " bytes, but ", left, " are left");
    const Bytes data = rest_.subspan(mat::tag_bytes, size);
    // The zeros that pad to 8 bytes may be missing behind the last one; compressed data has none.
    const std::size_t padding = word == mat::compressed ? 0 : (8 - size % 8) % 8;
    drop(std::min(rest_.size(), mat::tag_bytes + size + padding));
    return {word, data, at};
  }

  Element take(std::uint32_t type, std::string_view what) {
    const Element element = take();
    if (element.type != type) {
      fail(element.at, "expected ", what, " (type ", type, "), found type ", element.type);
    }
    return element;
  }

  Elements inside(const Element& element) const {
    return {element.data, element.at + mat::tag_bytes, place_};
  }

  template <class... Parts>
  [[noreturn]] void fail(std::size_t at, const Parts&... parts) const {
    feedrate::formats::fail(place_, "byte ", at, ": ", parts...);
  }

 private:
  void drop(std::size_t count) {
    rest_ = rest_.subspan(count);
    offset_ += count;
  }

  Bytes rest_;
  std::size_t offset_;
  const std::string& place_;
};

template <class T>
void append_numbers(Bytes data, std::vector<double>& numbers) {
  for (std::size_t at = 0; at < data.size(); at += sizeof(T)) {
    numbers.push_back(static_cast<double>(load_le<T>(data.data() + at)));
  }
}

struct NumberType {
  std::uint32_t type;
  std::size_t bytes;
  void (*append)(Bytes, std::vector<double>&);
};
constexpr NumberType number_types[] = {
    {mat::int8, 1, append_numbers<std::int8_t>},   {mat::uint8, 1, append_numbers<std::uint8_t>},
    {mat::int16, 2, append_numbers<std::int16_t>}, {mat::uint16, 2, append_numbers<std::uint16_t>},
    {mat::int32, 4, append_numbers<std::int32_t>}, {mat::uint32, 4, append_numbers<std::uint32_t>},
    {mat::single, 4, append_numbers<float>},       {mat::real, 8, append_numbers<double>},
    {mat::int64, 8, append_numbers<std::int64_t>}, {mat::uint64, 8, append_numbers<std::uint64_t>},
};

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// Half a surrogate pair becomes the replacement character.
std::string utf8_of_utf16(Bytes data) {
  std::string text;
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    return at + 2 <= data.size() ? load_le<std::uint16_t>(data.data() + at) : 0;
  };
  for (std::size_t at = 0; at + 2 <= data.size(); at += 2) {
    std::uint32_t code = unit(at);
    if (code >= 0xd800 && code < 0xe000) {
      const std::uint32_t low = unit(at + 2);
      const bool pair = code < 0xdc00 && low >= 0xdc00 && low < 0xe000;
      code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      if (pair) at += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

class Reader {
 public:
  MatArray array(Elements elements, int depth) {
    if (++arrays_ > max_arrays)
      elements.fail(elements.offset(), "holds more than ", max_arrays, " arrays");
    MatArray array;
    if (elements.empty()) {  // a field that was never set
      array.dimensions = {0, 0};
      return array;
    }
    const Element flags = elements.take(mat::uint32, "an array's flags");
    if (depth > deepest) elements.fail(flags.at, "arrays in arrays, more than ", deepest, " deep");
    if (flags.data.size() < 4) elements.fail(flags.at, "an array's flags are cut off");
    const auto word = load_le<std::uint32_t>(flags.data.data());
    const std::uint64_t count = read_dimensions(elements, array);
    array.name = as_text(elements.take(mat::int8, "an array's name").data);
    const std::uint32_t kind = word & 0xff;
    constexpr std::uint32_t complex_flag = 0x800;
    if ((word & complex_flag) != 0) elements.fail(flags.at, "complex numbers are not read");
    if (kind == mat::struct_class) {
      read_structs(elements, count, depth, array);
    } else if (kind == mat::cell_class) {
      array.kind = MatArray::Kind::cells;
      read_elements(elements, count, depth, array);
    } else if (kind == mat::char_class) {
      read_text(elements, count, array);
    } else if (kind >= mat::first_number && kind <= mat::last_number) {
      read_numbers(elements, count, array);
    } else {
      elements.fail(flags.at, "an array of class ", kind,
                    "; read are cells (1), structs (2), text (4) and numbers (6 to 15)");
    }
    return array;
  }

  std::uint64_t inflated = 0;  // bytes unpacked so far

 private:
  static std::uint64_t read_dimensions(Elements& elements, MatArray& array) {
    const Element dimensions = elements.take(mat::int32, "an array's dimensions");
    const std::size_t bytes = dimensions.data.size();
    constexpr std::size_t max_dimensions = 32;  // MATLAB's own limit is the file's size
    if (bytes % 4 != 0 || bytes < 8 || bytes > 4 * max_dimensions) {
      elements.fail(dimensions.at, "dimensions of ", bytes, " bytes make no sense");
    }
    std::uint64_t count = 1;
    for (std::size_t at = 0; at < bytes; at += 4) {
      const auto size = load_le<std::int32_t>(dimensions.data.data() + at);
      if (size < 0) elements.fail(dimensions.at, "a dimension of ", size);
      array.dimensions.push_back(static_cast<std::uint32_t>(size));
      const auto product = checked_multiply(count, array.dimensions.back());
      if (!product) elements.fail(dimensions.at, "the dimensions' product is too large");
      count = *product;
    }
    return count;
  }

  static void read_numbers(Elements& elements, std::uint64_t count, MatArray& array) {
    const Element data = elements.take();
    const auto* const type = std::ranges::find(number_types, data.type, &NumberType::type);
    if (type == std::end(number_types)) {
      elements.fail(data.at, "numbers of type ", data.type, " are not known");
    }
    if (checked_multiply(count, type->bytes) != data.data.size()) {
      elements.fail(data.at, "expected ", count, " numbers of ", type->bytes, " bytes, found ",
                    data.data.size(), " bytes");
    }
    array.numbers.reserve(count);
    type->append(data.data, array.numbers);
  }

  static void read_text(Elements& elements, std::uint64_t count, MatArray& array) {
    array.kind = MatArray::Kind::text;
    if (elements.empty() && count == 0) return;
    const Element data = elements.take();
    const bool wide = data.type == mat::uint16 || data.type == mat::utf16;
    if (!wide && data.type != mat::utf8 && data.type != mat::int8 && data.type != mat::uint8) {
      elements.fail(data.at, "text of type ", data.type, " is not known");
    }
    // UTF-8 may take more bytes than there are characters.
    if (wide ? count > data.data.size() / 2 : count > data.data.size()) {
      elements.fail(data.at, "expected ", count, " characters, found ", data.data.size(), " bytes");
    }
    array.text = wide ? utf8_of_utf16(data.data) : std::string(as_text(data.data));
  }

  void read_structs(Elements& elements, std::uint64_t count, int depth, MatArray& array) {
    array.kind = MatArray::Kind::structs;
    const Element length = elements.take(mat::int32, "the length of field names");
    const Element names = elements.take(mat::int8, "the names of fields");
    const std::size_t each =
        length.data.size() == 4 ? load_le<std::uint32_t>(length.data.data()) : 0;
    if (each == 0 || names.data.size() % each != 0) {
      elements.fail(names.at, names.data.size(), " bytes of field names, ", each, " bytes each");
    }
    for (std::size_t at = 0; at < names.data.size(); at += each) {
      const std::string_view name = as_text(names.data.subspan(at, each));
      array.fields.emplace_back(name.substr(0, name.find('\0')));
    }
    const auto values = checked_multiply(count, array.fields.size());
    if (!values) elements.fail(names.at, "more fields than can be");
    read_elements(elements, *values, depth, array);
  }

  void read_elements(Elements& elements, std::uint64_t count, int depth, MatArray& array) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Element element = elements.take(mat::matrix, "an array");
      array.elements.push_back(this->array(elements.inside(element), depth + 1));
    }
  }

  std::size_t arrays_ = 0;
};

// Grows with what really comes out, never with what is claimed.
Buffer inflate_all(const Elements& elements, const Element& element, std::uint64_t limit) {
  z_stream z{};
  if (inflateInit(&z) != Z_OK) throw std::bad_alloc();
  const struct Closer {
    z_stream& z;
    ~Closer() { inflateEnd(&z); }
  } closer{z};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(element.data.data()));
  z.avail_in = static_cast<uInt>(element.data.size());  // a u32 in the file
  Buffer unpacked;
  constexpr std::size_t piece = std::size_t{256} << 10;
  int code = Z_OK;
  while (code == Z_OK) {
    const std::size_t filled = unpacked.size();
    if (filled > limit) {
      elements.fail(element.at, "unpacks to more than ", max_bytes, " bytes");
    }
    unpacked.resize(filled + piece);
    z.next_out = reinterpret_cast<Bytef*>(unpacked.data() + filled);
    z.avail_out = piece;
    code = inflate(&z, Z_NO_FLUSH);
    unpacked.resize(filled + (piece - z.avail_out));
  }
  if (code != Z_STREAM_END) {
    elements.fail(element.at, "the compressed element is ",
                  code == Z_BUF_ERROR ? "cut off" : "damaged",
                  z.msg != nullptr ? join(": ", z.msg) : "");
  }
  return unpacked;
}

void check_header(Bytes file, const std::string& place) {
  if (as_text(file).starts_with("MATLAB 7.3")) {
    fail(place, "is a MATLAB 7.3 file (HDF5), which is not read; save it with -v7");
  }
  if (file.size() < mat::header_bytes) {
    fail(place, "holds ", file.size(), " bytes; a MATLAB file has a header of ", mat::header_bytes);
  }
  const std::string_view order = as_text(file.subspan(126, 2));
  if (order == "MI") fail(place, "was written on a big-endian machine, which is not read");
  const auto version = load_le<std::uint16_t>(file.data() + 124);
  if (order != "IM" || version != 0x100) {
    fail(place, "byte 124: expected a MATLAB file of version 5, found none");
  }
}

}  // namespace

std::vector<MatArray> read_mat_file(Bytes file, const std::string& place) {
  check_header(file, place);
  std::vector<MatArray> variables;
  Elements elements(file.subspan(mat::header_bytes), mat::header_bytes, place);
  Reader reader;
  while (!elements.empty()) {
    const Element element = elements.take();
    if (element.type == mat::matrix) {
      variables.push_back(reader.array(elements.inside(element), 0));
    } else if (element.type == mat::compressed) {
      const Buffer unpacked = inflate_all(elements, element, max_bytes - reader.inflated);
      reader.inflated += std::min<std::uint64_t>(unpacked.size(), max_bytes - reader.inflated);
      const std::string inside = join(place, ", unpacked at byte ", element.at);
      Elements inner(unpacked, 0, inside);
      variables.push_back(reader.array(inner.inside(inner.take(mat::matrix, "an array")), 0));
    } else {
      elements.fail(element.at, "expected an array (type 14 or 15), found type ", element.type);
    }
  }
  return variables;
}

}  // namespace feedrate::converters
