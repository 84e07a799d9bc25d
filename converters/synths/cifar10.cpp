#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <string>

#include "converters/synths/rows.h"
#include "converters/synths/shapes.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint32_t side = 32;
constexpr std::size_t plane = std::size_t{side} * side;
constexpr std::size_t record_bytes = 1 + 3 * plane;  // label, red, green, blue
constexpr std::uint64_t images_a_block = 2048;       // drawn in parallel, then written
constexpr std::uint64_t train_batches = 5;
constexpr std::uint64_t max_images = 300'000;  // what the reader still holds in memory

void draw_record(Draws draws, MutableBytes record) {
  const auto label = draws.below(static_cast<std::uint32_t>(shape_names.size()));
  record[0] = static_cast<std::byte>(label);
  std::array<std::byte, 3 * plane> pixels;
  draw_shape(label, draws, side, pixels);
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      record[1 + channel * plane + i] = pixels[3 * i + channel];
    }
  }
}

class Cifar10Archive {
 public:
  Cifar10Archive(const std::filesystem::path& directory, const SynthOptions& options)
      : options_(options),
        test_images_(std::max<std::uint64_t>(1, options.images / 6)),
        file_(directory / "cifar-10-binary.tar.gz"),
        tar_(file_) {}

  // In the order of the published archive, which is none.
  void write() {
    add_train(0);
    add_names();
    add_train(2);
    add_train(3);
    add_images("test_batch", 1, 0, test_images_);
    add_train(4);
    add_train(1);
    tar_.finish();
    file_.close();
  }

 private:
  static std::string entry(std::string_view name) { return join("cifar-10-batches-bin/", name); }

  void add_names() {
    std::string names;
    for (const std::string_view name : shape_names) names += join(name, '\n');
    tar_.add(entry("batches.meta.txt"), as_bytes(names + '\n'));
  }

  void add_train(std::uint64_t batch) {
    const std::uint64_t first = options_.images * batch / train_batches;
    const std::uint64_t last = options_.images * (batch + 1) / train_batches;
    add_images(join("data_batch_", batch + 1), 0, first, last);
  }

  // `split` keeps the draws of the two splits apart.
  void add_images(std::string_view name, std::uint64_t split, std::uint64_t first,
                  std::uint64_t last) {
    tar_.begin(entry(join(name, ".bin")), (last - first) * record_bytes);
    while (first < last) {
      const std::uint64_t count = std::min(images_a_block, last - first);
      records_.resize(count * record_bytes);
      oneapi::tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
        draw_record(Draws(options_.seed, split, first + i),
                    MutableBytes(records_).subspan(i * record_bytes, record_bytes));
      });
      tar_.write(records_);
      first += count;
      done_ += count;
      if (options_.progress) options_.progress(done_, options_.images + test_images_);
    }
  }

  const SynthOptions& options_;
  const std::uint64_t test_images_;
  GzipFile file_;
  TarWriter tar_;
  Buffer records_;
  std::uint64_t done_ = 0;
};

class Cifar10Synth final : public Synth {
 public:
  Cifar10Synth()
      : Synth("cifar10", "drawn shapes in CIFAR-10's binary archive: N to train, N/6 to test") {}

  void make(const std::filesystem::path& directory, const SynthOptions& options) const override {
    if (options.images < train_batches || options.images > max_images) {
      throw Error(join("cannot make ", options.images, " images in CIFAR-10's five batches; from ",
                       train_batches, " to ", max_images));
    }
    Cifar10Archive(directory, options).write();
  }
};

const Cifar10Synth row;

}  // namespace

const Synth& cifar10_synth = row;

}  // namespace feedrate::converters
