// IDX files: plain, compressed, or in any other packaging of an archive.

#include <algorithm>

#include "converters/sources/idx.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;
using namespace converters;

namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t max_images = 64;
constexpr std::size_t max_bytes = std::size_t{1} << 20;

void read_entry(Archive& archive) {
  const IdxHeader header = read_idx_header(archive);
  require(header.count > 0, "a header promises something");
  if (header.kind == IdxKind::labels) {
    require(read_idx_labels(archive, header).size() == header.count, "as many labels as stated");
  } else {
    require(header.shape.plausible(), "a shape that may be allocated");
    if (header.shape.bytes() > max_bytes) return;
    Buffer pixels(header.shape.bytes());
    for (std::uint64_t i = 0; i < std::min(header.count, max_images); ++i) {
      read_idx_image(archive, header, i, pixels);
    }
    if (header.count > max_images) return;
  }
  expect_idx_end(archive, header);
}

Buffer packed(Bytes bytes) {
  GzipFile file(directory() / "packed");
  file.write(bytes);
  file.close();
  Buffer content;
  read_file(directory() / "packed", content);
  return content;
}

}  // namespace

std::vector<Buffer> seeds() {
  const Buffer labels = buffer("\0\0\x08\x01\0\0\0\x05\x00\x01\x02\x03\x09"sv);
  const Buffer images = buffer(
      "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"
      "abcdefghijkl"sv);
  return {labels, images, packed(labels), packed(images)};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  const auto path = file_of(fenced(data, size), "input");
  accepts([&] {
    feedrate::converters::Archive archive(path);
    while (archive.next()) read_entry(archive);
  });
  return 0;
}
