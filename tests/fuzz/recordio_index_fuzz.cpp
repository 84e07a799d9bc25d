// A RecordIO file of images and the .idx beside it.

#include "tests/fuzz/indexed.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::string_view file_name = "data.rec";
constexpr std::string_view index_name = "data.idx";

}  // namespace

std::vector<Buffer> seeds() {
  const auto set = write_two_samples(container("recordio"), {});
  const Buffer file = content_of(set / file_name);
  return {join_input(content_of(set / index_name), file), join_input({}, file)};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  check_indexed(feedrate::formats::container("recordio"), split_input(fenced(data, size)),
                file_name, index_name);
  return 0;
}
