#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <new>

#include "converters/imagenet/mat_file.h"
#include "converters/imagenet/mat_format.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

void put_element(Buffer& to, std::uint32_t type, Bytes data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  if (size >= 1 && size <= 4) {
    append_le(to, size << 16 | type);
    append(to, data);
    to.resize(to.size() + 4 - size);
    return;
  }
  append_le(to, type);
  append_le(to, size);
  append(to, data);
  to.resize(to.size() + (8 - size % 8) % 8);
}

template <class T>
void put_numbers(Buffer& to, std::uint32_t type, const std::vector<double>& numbers) {
  Buffer data;
  for (const double number : numbers) append_le(data, static_cast<T>(number));
  put_element(to, type, data);
}

// The smallest unsigned type that holds them all, or double.
std::uint32_t number_class(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) {
    const bool whole = number >= 0 && number <= 4294967295.0 &&
                       number == static_cast<double>(static_cast<std::uint32_t>(number));
    if (!whole) return mat::double_class;
    largest = std::max(largest, number);
  }
  if (largest < 256) return mat::uint8_class;
  return largest < 65536 ? mat::uint16_class : mat::uint32_class;
}

std::uint32_t class_of(const MatArray& array) {
  switch (array.kind) {
    case MatArray::Kind::text:
      return mat::char_class;
    case MatArray::Kind::structs:
      return mat::struct_class;
    case MatArray::Kind::cells:
      return mat::cell_class;
    case MatArray::Kind::numbers:
      break;
  }
  return number_class(array.numbers);
}

void put_array(Buffer& to, const MatArray& array);

void put_fields(Buffer& to, const MatArray& array) {
  std::size_t longest = 1;  // its zero byte: readers refuse names of no bytes
  for (const std::string& field : array.fields) longest = std::max(longest, field.size() + 1);
  Buffer names;
  for (const std::string& field : array.fields) {
    append(names, as_bytes(field));
    names.resize(names.size() + longest - field.size());
  }
  const auto each = static_cast<std::uint32_t>(longest);
  put_element(to, mat::int32, std::as_bytes(std::span(&each, 1)));
  put_element(to, mat::int8, names);
}

void put_content(Buffer& to, const MatArray& array, std::uint32_t kind) {
  switch (kind) {
    case mat::char_class:
      return put_element(to, mat::utf8, as_bytes(array.text));
    case mat::uint8_class:
      return put_numbers<std::uint8_t>(to, mat::uint8, array.numbers);
    case mat::uint16_class:
      return put_numbers<std::uint16_t>(to, mat::uint16, array.numbers);
    case mat::uint32_class:
      return put_numbers<std::uint32_t>(to, mat::uint32, array.numbers);
    case mat::double_class:
      return put_numbers<double>(to, mat::real, array.numbers);
    default:
      if (kind == mat::struct_class) put_fields(to, array);
      for (const MatArray& element : array.elements) put_array(to, element);
  }
}

void put_array(Buffer& to, const MatArray& array) {
  const std::uint32_t kind = class_of(array);
  const std::uint32_t flags[] = {kind, 0};
  Buffer body;
  put_element(body, mat::uint32, std::as_bytes(std::span(flags)));
  put_element(body, mat::int32, std::as_bytes(std::span(array.dimensions)));
  put_element(body, mat::int8, as_bytes(array.name));
  put_content(body, array, kind);
  append_le(to, std::uint32_t{mat::matrix});
  append_le(to, static_cast<std::uint32_t>(body.size()));
  append(to, body);
}

void put_compressed(Buffer& to, Bytes element) {
  uLongf size = compressBound(static_cast<uLong>(element.size()));
  Buffer packed(size);
  const int code =
      compress(reinterpret_cast<Bytef*>(packed.data()), &size,
               reinterpret_cast<const Bytef*>(element.data()), static_cast<uLong>(element.size()));
  if (code != Z_OK) throw std::bad_alloc();  // the only failure with a buffer of that bound
  append_le(to, std::uint32_t{mat::compressed});
  append_le(to, static_cast<std::uint32_t>(size));
  append(to, Bytes(packed).first(size));
}

}  // namespace

Buffer write_mat_file(const std::vector<MatArray>& variables) {
  // MATLAB shows the text; nothing in it changes from run to run.
  std::string header = "MATLAB 5.0 MAT-file, Platform: GLNXA64, made by feedrate";
  header.resize(mat::header_bytes - 4, ' ');
  std::fill_n(header.end() - 8, 8, '\0');  // no data of a subsystem
  Buffer file;
  file.reserve(mat::header_bytes);  // or GCC 12 takes the growing buffer for one too small
  append(file, as_bytes(header));
  append_le(file, std::uint16_t{0x100});
  append(file, as_bytes("IM"));
  for (const MatArray& variable : variables) {
    Buffer element;
    put_array(element, variable);
    put_compressed(file, element);
  }
  return file;
}

}  // namespace feedrate::converters
