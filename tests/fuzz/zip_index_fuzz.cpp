// Zips: the directory, and every entry that it names, with the CRCs mended.

#include <zlib.h>

#include <array>
#include <string>

#include "formats/containers/png_map/zip_index.h"
#include "tests/converters/make_archive.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::size_t central_bytes = 46;
constexpr std::size_t local_bytes = 30;

// Gives `take` the offset of whatever looks like an entry of a directory, and its name.
template <class Take>
void for_each_entry(Bytes zip, const Take& take) {
  for (std::size_t at = 0; at + central_bytes <= zip.size(); ++at) {
    const std::byte* record = zip.data() + at;
    if (load_le<std::uint32_t>(record) != central_signature) continue;
    const std::size_t size = load_le<std::uint16_t>(record + 28);
    if (size > zip.size() - at - central_bytes) continue;
    take(at, as_text(zip.subspan(at + central_bytes, size)));
  }
}

// The CRC of what an entry's data are, or unpack to; nothing for what does not unpack.
std::optional<std::uint32_t> crc_of(Bytes packed, bool deflated) {
  const auto* data = reinterpret_cast<const unsigned char*>(packed.data());
  if (!deflated) return static_cast<std::uint32_t>(crc32_z(0, data, packed.size()));
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return std::nullopt;
  z.next_in = const_cast<unsigned char*>(data);
  z.avail_in = static_cast<uInt>(packed.size());
  std::array<unsigned char, std::size_t{1} << 16> content{};
  z.next_out = content.data();
  z.avail_out = content.size();
  const int code = inflate(&z, Z_FINISH);
  const std::size_t size = content.size() - z.avail_out;
  inflateEnd(&z);
  if (code != Z_STREAM_END) return std::nullopt;
  return static_cast<std::uint32_t>(crc32_z(0, content.data(), size));
}

void mend(MutableBytes zip) {
  for_each_entry(zip, [&](std::size_t at, std::string_view) {
    std::byte* record = zip.data() + at;
    const std::size_t header = load_le<std::uint32_t>(record + 42);
    if (header > zip.size() || zip.size() - header < local_bytes) return;
    const std::size_t start = header + local_bytes +
                              load_le<std::uint16_t>(zip.data() + header + 26) +
                              load_le<std::uint16_t>(zip.data() + header + 28);
    const std::size_t packed = load_le<std::uint32_t>(record + 20);
    if (start > zip.size() || packed > zip.size() - start) return;
    const bool deflated = load_le<std::uint16_t>(record + 10) != 0;
    if (const auto crc = crc_of(zip.subspan(start, packed), deflated)) {
      std::memcpy(record + 16, &*crc, sizeof *crc);
    }
  });
}

}  // namespace

std::vector<Buffer> seeds() {
  using testing::make_archive;
  using testing::Packing;
  const Packing zip{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE};
  const std::string text(300, 'a');
  return {buffer(make_archive({{"a", "content"}, {"dir/b.png", text}}, zip)),
          buffer(make_archive({}, zip))};
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes file = fenced(data, size);
  const auto path = file_of(file, "input.zip");
  accepts([&] {
    const ZipIndex zip(path);
    Buffer storage;
    unsigned entries = 0;
    for_each_entry(file, [&](std::size_t, std::string_view name) {
      if (++entries > 32) return;
      accepts([&] {
        const Bytes content = zip.read(name, storage);
        require(content.size() <= 1032 * file.size(), "no entry is larger than deflate can make");
      });
    });
  });
  return 0;
}
