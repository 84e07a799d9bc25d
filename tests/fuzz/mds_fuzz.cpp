// index.json of Mosaic's streaming datasets and one shard, which is read where it lies.

#include "tests/fuzz/mds_input.h"

namespace feedrate::fuzz {
using namespace formats;

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const MdsSeed& seed : mds_seeds(R"("compression":null)")) {
    all.push_back(join_input(as_bytes(seed.index), seed.shard));
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const IndexedInput input = split_input(fenced(data, size));
  file_of(input.file, mds_shard_name);
  const std::string index = stated_mds_index(input.index, input.file.size());
  samples_of(container("mds"), file_of(as_bytes(index), "index.json"));
  return 0;
}
