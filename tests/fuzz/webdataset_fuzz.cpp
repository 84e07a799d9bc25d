// A shard of samples and DALI's index beside it, with the checksums of the tar fixed.

#include "tests/fuzz/indexed.h"
#include "tests/fuzz/mend_tar.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::string_view tar_name = "train-000000.tar";
constexpr std::string_view index_name = "train-000000.idx";

void mend(MutableBytes input) {
  mend_tar(input.subspan(input.size() - split_input(input).file.size()));
}

// Cuts off the padding to a tape's record, which only makes inputs longer.
void drop_padding(Buffer& tar) {
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  constexpr std::ptrdiff_t end = 3 * tar_block;
  while (std::ssize(tar) > end && std::all_of(tar.end() - end, tar.end(), zero)) {
    tar.resize(tar.size() - tar_block);
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  const auto set = write_two_samples(container("webdataset"),
                                     {{"n01440764", "n01443537"}, {"tench", "goldfish"}});
  const Buffer index = content_of(set / index_name);
  Buffer tar = content_of(set / tar_name);
  drop_padding(tar);
  return {join_input(index, tar), join_input({}, tar)};
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  check_indexed(feedrate::formats::container("webdataset"), split_input(fenced(data, size)),
                tar_name, index_name);
  return 0;
}
