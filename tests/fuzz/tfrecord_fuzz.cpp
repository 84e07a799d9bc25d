// A TFRecord file of images and DALI's index beside it, with the CRCs of the records fixed.

#include "tests/fuzz/indexed.h"
#include "tests/fuzz/mend_tf_record.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::string_view file_name = "train-00000-of-00001";
constexpr std::string_view index_name = "train-00000-of-00001.idx";

void mend(MutableBytes input) {
  mend_tf_records(input.subspan(input.size() - split_input(input).file.size()));
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const ClassNames& classes : {ClassNames{{"n01440764", "n01443537"}, {"tench", "goldfish"}},
                                    ClassNames{{"cat", "dog"}, {}}}) {
    const auto set = write_two_samples(container("tfrecord"), classes);
    const Buffer file = content_of(set / file_name);
    all.push_back(join_input(content_of(set / index_name), file));
    all.push_back(join_input({}, file));
  }
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  check_indexed(feedrate::formats::container("tfrecord"), split_input(fenced(data, size)),
                file_name, index_name);
  return 0;
}
