// MATLAB files, with the checksum of what is compressed mended.

#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "converters/imagenet/mat_file.h"
#include "converters/imagenet/mat_format.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;
using namespace converters;

namespace {

using Kind = MatArray::Kind;

bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool alike(const MatArray& a, const MatArray& b) {
  return a.kind == b.kind && a.name == b.name && a.dimensions == b.dimensions && a.text == b.text &&
         a.fields == b.fields &&
         std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                    [](double x, double y) { return alike(x, y); }) &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    [](const MatArray& x, const MatArray& y) { return alike(x, y); });
}

void check(const MatArray& array) {
  require(array.dimensions.size() >= 2, "an array has two dimensions or more");
  std::uint64_t count = 1;
  for (const std::uint32_t side : array.dimensions) {
    const auto product = checked_multiply(count, side);
    require(product.has_value(), "the elements of an array can be counted");
    count = *product;
  }
  if (array.kind == Kind::numbers) require(array.numbers.size() == count, "all numbers are there");
  if (array.kind == Kind::cells) require(array.elements.size() == count, "all cells are there");
  if (array.kind == Kind::structs) {
    require(array.elements.size() == count * array.fields.size(), "all fields are there");
  }
  for (const MatArray& element : array.elements) check(element);
}

MatArray number(double value) {
  MatArray array;
  array.dimensions = {1, 1};
  array.numbers = {value};
  return array;
}

MatArray text(std::string_view value) {
  MatArray array;
  array.kind = Kind::text;
  array.dimensions = {1, static_cast<std::uint32_t>(value.size())};
  array.text = value;
  return array;
}

// The same file with its variables unpacked, whose bytes a mutation can reach.
Buffer unpacked(const Buffer& file) {
  Buffer plain = buffer(Bytes(file).first(mat::header_bytes));
  for (std::size_t at = mat::header_bytes; at < file.size();) {
    const auto size = load_le<std::uint32_t>(file.data() + at + 4);
    std::vector<unsigned char> content(std::size_t{1} << 16);
    uLongf filled = content.size();
    require(uncompress(content.data(), &filled,
                       reinterpret_cast<const unsigned char*>(file.data() + at + mat::tag_bytes),
                       size) == Z_OK,
            "our writer compresses variables");
    append(plain, std::as_bytes(std::span(content).first(filled)));
    at += mat::tag_bytes + size;
  }
  return plain;
}

}  // namespace

std::vector<Buffer> seeds() {
  MatArray synsets;
  synsets.kind = Kind::structs;
  synsets.name = "synsets";
  synsets.dimensions = {2, 1};
  synsets.fields = {"ILSVRC2012_ID", "WNID"};
  synsets.elements = {number(1), text("n02119789"), number(-70000.5), text("\xc3\xa9")};
  MatArray numbers = number(3);
  numbers.name = "x";
  const Buffer packed = write_mat_file({synsets, numbers});
  return {packed, unpacked(packed)};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::converters;
  using namespace feedrate::fuzz;
  const Bytes file = fenced(data, size);
  std::vector<MatArray> variables;
  if (!accepts([&] { variables = read_mat_file(file, "place"); })) return 0;
  for (const MatArray& variable : variables) check(variable);
  const std::vector<MatArray> again = read_mat_file(write_mat_file(variables), "place");
  require(std::equal(again.begin(), again.end(), variables.begin(), variables.end(),
                     [](const MatArray& a, const MatArray& b) { return alike(a, b); }),
          "what is written reads as it was");
  return 0;
}
