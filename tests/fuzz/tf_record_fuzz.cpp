// TFRecord's frames with their CRCs fixed, and a tf.Example in each.

#include <string>

#include "tests/fuzz/examples.h"
#include "tests/fuzz/mend_tf_record.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

void append_tf_record(Buffer& file, Bytes data) {
  const TfFrame frame = frame_tf_record({{data}});
  append(file, frame.head);
  append(file, data);
  append(file, frame.tail);
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  append_tf_record(all.emplace_back(), {});
  Buffer both;
  for (const Buffer& example : sound_examples()) {
    append_tf_record(all.emplace_back(), example);
    append_tf_record(both, example);
  }
  all.push_back(both);
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend_tf_records);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes file = fenced(bytes, size);
  for (std::uint64_t at = 0; at < file.size();) {
    std::uint64_t end = 0;
    Bytes data;
    const bool skipped = accepts([&] { end = tf_record_end(file.subspan(at), at, file.size()); });
    const bool read = accepts([&] { data = read_tf_record(file, at); });
    require(skipped || !read, "what can be read can be passed over");
    if (!read) break;
    require(end > at && end <= file.size(), "a record takes bytes, and none behind the file");
    require(data.empty() || data.data() == file.data() + at + tf_record_head,
            "the data lies behind its head");
    require(end == at + data.size() + tf_record_frame, "a record ends behind its data");
    require(is_tf_record(file.subspan(at)), "a sound record is known by its head");
    Buffer framed;
    append_tf_record(framed, data);
    require(same(framed, file.subspan(at, end - at)), "a record is framed in one way only");
    check_example(data);
    at = end;
  }
  return 0;
}
