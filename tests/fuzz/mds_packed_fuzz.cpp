// The index.json of a Mosaic streaming dataset, and one shard of it that is compressed as a whole. The
// first byte of the input's shard says what follows: 0, compressed bytes; else plain bytes, which are
// compressed here, because hardly any mutation of compressed bytes can be unpacked.

#include <utility>

#include "converters/sources/mds_stream.h"
#include "tests/converters/make_archive.h"
#include "tests/fuzz/mds_input.h"

namespace feedrate::fuzz {
using namespace formats;

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (MdsSeed& seed :
       mds_seeds(R"("compression":"zstd:3","zip_data":{"basename":"s.mds.zstd","bytes":9})")) {
    Buffer plain = buffer("\1");
    append(plain, seed.shard);
    all.push_back(join_input(as_bytes(seed.index), plain));
    Buffer packed(1);
    const std::string shard(as_text(seed.shard));
    append(packed, as_bytes(testing::compressed(shard, ARCHIVE_FILTER_ZSTD)));
    all.push_back(
        join_input(as_bytes(stated_mds_index(as_bytes(seed.index), shard.size())), packed));
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  using namespace feedrate::fuzz;
  const IndexedInput input = split_input(fenced(data, size));
  const bool packs = !input.file.empty() && input.file[0] != std::byte{0};
  const Bytes shard = input.file.subspan(input.file.empty() ? 0 : 1);
  std::string packed(as_text(shard));
  if (packs) packed = feedrate::testing::compressed(packed, ARCHIVE_FILTER_GZIP);
  file_of(as_bytes(packed), "s.mds.zstd");
  const std::string index = stated_mds_index(input.index, shard.size());
  const auto file = file_of(as_bytes(index), "index.json");
  accepts([&] {
    const auto stream = converters::open_packed_mds(file);
    require(stream->info().size > 0, "a dataset that opens holds something");
    std::uint64_t samples = 0;
    for (formats::Sample sample; stream->next(sample); ++samples) {
      if (!stream->problem().empty()) continue;
      require(sample.codec != nullptr && sample.shape.plausible(), "a sample can be decoded");
      const std::uint32_t classes = stream->info().classes;
      require(classes == 0 || (sample.label >= 0 && std::cmp_less(sample.label, classes)),
              "a text is one of the classes");
    }
    require(samples == stream->info().size, "there are as many samples as stated");
  });
  return 0;
}
