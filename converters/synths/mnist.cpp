#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "converters/synths/digits.h"
#include "converters/synths/rows.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint32_t classes = 10;
constexpr std::uint64_t images_a_block = 2048;  // drawn in parallel, then written
constexpr std::size_t image_bytes = std::size_t{digit_side} * digit_side;

void write_header(GzipFile& file, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    const std::uint32_t big_endian = swap_bytes(word);
    file.write(std::as_bytes(std::span(&big_endian, 1)));
  }
}

// One split: its images and labels under MNIST's names.
class SplitFiles {
 public:
  SplitFiles(const std::filesystem::path& directory, const std::string& prefix, std::uint32_t count)
      : images_(directory / (prefix + "-images-idx3-ubyte.gz")),
        labels_(directory / (prefix + "-labels-idx1-ubyte.gz")) {
    write_header(images_, {0x803, count, digit_side, digit_side});
    write_header(labels_, {0x801, count});
  }

  // `split` keeps the draws of the two splits apart.
  void write(std::uint64_t seed, std::uint64_t split, std::uint64_t first, std::uint64_t count) {
    pixels_.resize(count * image_bytes);
    digits_.resize(count);
    oneapi::tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
      Draws draws(seed, split, first + i);
      const std::uint32_t digit = draws.below(classes);
      digits_[i] = static_cast<std::byte>(digit);
      draw_digit(digit, draws, MutableBytes(pixels_).subspan(i * image_bytes, image_bytes));
    });
    images_.write(pixels_);
    labels_.write(digits_);
  }

  void close() {
    images_.close();
    labels_.close();
  }

 private:
  GzipFile images_;
  GzipFile labels_;
  Buffer pixels_;
  Buffer digits_;
};

class MnistSynth final : public Synth {
 public:
  MnistSynth() : Synth("mnist", "drawn digits in MNIST's four files: N to train, N/6 to test") {}

  void make(const std::filesystem::path& directory, const SynthOptions& options) const override {
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    if (options.images == 0 || options.images > most) {
      throw Error(join("cannot make ", options.images, " images; from 1 to ", most));
    }
    const std::uint64_t counts[] = {options.images, std::max<std::uint64_t>(1, options.images / 6)};
    const std::uint64_t total = counts[0] + counts[1];
    std::uint64_t done = 0;
    for (const std::uint64_t split : {0, 1}) {
      SplitFiles files(directory, split == 0 ? "train" : "t10k",
                       static_cast<std::uint32_t>(counts[split]));
      for (std::uint64_t first = 0; first < counts[split]; first += images_a_block) {
        const std::uint64_t count = std::min(images_a_block, counts[split] - first);
        files.write(options.seed, split, first, count);
        done += count;
        if (options.progress) options.progress(done, total);
      }
      files.close();
    }
  }
};

const MnistSynth row;

}  // namespace

const Synth& mnist_synth = row;

}  // namespace feedrate::converters
