#include "tools/lab/jobs/npy.h"

#include <fmt/format.h>

#include "formats/base/bytes.h"

namespace feedrate::tools {
using namespace formats;

std::string npy_header(const std::vector<std::uint64_t>& shape) {
  using namespace std::string_literals;
  std::string sides;
  for (const std::uint64_t side : shape) sides += fmt::format("{}, ", side);
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", sides);
  constexpr std::size_t before = 10;  // magic, version, u16le length
  constexpr std::size_t multiple = 64;
  const std::size_t total = round_up(before + text.size() + 1, multiple);
  text.resize(total - before - 1, ' ');
  text += '\n';
  std::string header = "\x93NUMPY\x01\0"s;
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace feedrate::tools
