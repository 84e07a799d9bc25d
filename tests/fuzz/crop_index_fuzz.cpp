// A crop index beside two JPEGs: whatever it holds, parts are decoded to the same pixels, unless an
// entry with right checksums has wrong points. Nothing is read beyond the index or a JPEG.

#include "formats/crops/crop_index.h"

#include <cstring>

#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/codecs/jpeg/jpeg_index_layout.h"
#include "formats/crops/index_layout.h"
#include "formats/io/file.h"
#include "tests/fuzz/decode.h"
#include "tests/support/jpeg_outcome.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr Shape shape{50, 70, 3};
constexpr std::size_t word = sizeof(std::uint64_t);

class TwoJpegs final : public Dataset {
 public:
  TwoJpegs() {
    using testing::JpegKind;
    for (const JpegKind& kind : {JpegKind{}, JpegKind{.across = 1, .down = 1, .restart = 5}}) {
      jpegs_.push_back(
          testing::make_jpeg(kind, shape.width, shape.height, small_image(shape).pixels));
    }
    info_.path = "two";
    info_.size = jpegs_.size();
  }
  Sample read(std::uint64_t index, Scratch&) const override {
    return {.bytes = jpegs_.at(index), .codec = &jpeg_codec, .shape = shape};
  }

 private:
  std::vector<Buffer> jpegs_;
};

const TwoJpegs& dataset() {
  static const TwoJpegs two;
  return two;
}

// With points for every MCU, which no JPEG so small would get.
Buffer index_of(double share) {
  Buffer file, foot;
  append(file, as_bytes(crops::magic));
  append_le(file, crops::version);
  append_le(file, std::uint32_t{0});
  Scratch scratch;
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < dataset().size(); ++i) {
    offsets.push_back(file.size());
    Buffer entry;
    make_jpeg_index(dataset().read(i, scratch).bytes, entry, share);
    append(file, entry);
  }
  offsets.push_back(file.size());
  append(file, std::as_bytes(std::span(offsets)));
  append_le(foot, dataset().size());
  append_le(foot, fingerprint(std::as_bytes(std::span(offsets))));
  append_le(foot, crops::checksum(file, foot));
  append(file, foot);
  return file;
}

void store(MutableBytes to, std::size_t at, std::uint64_t value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

// Corrects what tells damage and other data, of the file and of its entries.
void mend(MutableBytes file) {
  const std::size_t tail = 3 * word + crops::foot_bytes;
  if (file.size() < crops::head_bytes + tail) return;
  const std::size_t offsets = file.size() - tail;
  Scratch scratch;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto begin = load_le<std::uint64_t>(file.data() + offsets + i * word);
    const auto end = load_le<std::uint64_t>(file.data() + offsets + (i + 1) * word);
    if (end > offsets || begin > end || end - begin < jpeg_index::points_at) continue;
    const MutableBytes entry = file.subspan(begin, end - begin);
    const Bytes jpeg = dataset().read(i, scratch).bytes;
    store(entry, jpeg_index::hash_at, fingerprint(jpeg));
    const auto size = static_cast<std::uint32_t>(jpeg.size());
    std::memcpy(entry.data() + jpeg_index::size_at, &size, sizeof size);
    store(entry, 0, fingerprint(Bytes(entry).subspan(jpeg_index::hash_at)));
  }
  const MutableBytes foot = file.last(crops::foot_bytes);
  store(foot, 0, 2);
  store(foot, word, fingerprint(Bytes(file).subspan(offsets, 3 * word)));
  store(foot, 2 * word, crops::checksum(file, foot));
}

void check(Bytes file) {
  std::optional<CropIndex> index;
  const auto path = file_of(file, "feedrate.crops");
  if (!accepts([&] { index.emplace(path, dataset()); })) return;
  accepts([&] { index->audit(); });
  Scratch scratch;
  Buffer memory, made;
  for (std::uint64_t i = 0; i < dataset().size(); ++i) {
    const Sample sample = dataset().read(i, scratch);
    const Bytes entry = index->entry(i);
    require(inside(entry, index->bytes()), "an entry lies in the file");
    // The same bytes with nothing behind them.
    const Bytes copy = fenced(reinterpret_cast<const std::uint8_t*>(entry.data()), entry.size());
    make_jpeg_index(sample.bytes, made, 10);
    const bool right = same(entry, made);
    for (const Rect& part : {Rect{20, 30, 9, 11}, Rect{0, 40, 50, 30}, Rect{33, 0, 17, 70}}) {
      const auto expected =
          testing::jpeg_outcome(nullptr, sample.bytes, sample.shape, part, memory);
      for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
        JpegCounts counts;
        const auto found =
            testing::jpeg_outcome(how, sample.bytes, sample.shape, part, memory, {copy, &counts});
        require(found.error.empty(), "an index is never the reason of an error");
        if (right) require(counts.indexed == 1, "a right entry is used");
        if (counts.indexed == 1 && !right) continue;
        require(found == expected, "an index changes no pixel");
      }
    }
    if (index->problem_of(i, sample).empty()) require(entry.empty() || right, "verify is right");
  }
}

}  // namespace

std::vector<Buffer> seeds() { return {index_of(10), index_of(0.2), index_of(0)}; }

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feedrate::fuzz::check({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
