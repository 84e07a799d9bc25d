#include <string>

#include "converters/synths/made_images.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint32_t cifar_side = 32;
constexpr std::size_t plane = std::size_t{cifar_side} * cifar_side;
constexpr std::size_t record_bytes = 1 + 3 * plane;  // label, red, green, blue
constexpr std::uint64_t train_batches = 5;
constexpr std::string_view folder = "cifar-10-batches-bin/";

// The form shows the class. In half of the images the colour shows it too.
Buffer draw_record(std::uint64_t, Draws draws) {
  const unsigned label = draws.below(scene_forms);
  const unsigned colour = draws.below(2) == 0 ? label : draws.below(scene_forms);
  Buffer pixels(3 * plane);
  draw_scene({label, colour, draws.below(10)}, draws, {cifar_side, cifar_side, 3}, pixels);
  Buffer record(record_bytes, static_cast<std::byte>(label));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    record[1 + i % 3 * plane + i / 3] = pixels[i];
  }
  return record;
}

void make_cifar10(const std::filesystem::path& directory, MadeImages& images) {
  GzipFile file(directory / "cifar-10-binary.tar.gz");
  TarWriter tar(file);
  const auto add = [&](std::string_view name, MadeSplit split, std::uint64_t first,
                       std::uint64_t last) {
    tar.begin(join(folder, name, ".bin"), (last - first) * record_bytes);
    images.make(split, first, last, draw_record,
                [&](std::uint64_t, Bytes record) { tar.write(record); });
  };
  const auto add_train = [&](std::uint64_t batch) {
    const std::uint64_t train = images.count(MadeSplit::train);
    add(join("data_batch_", batch), MadeSplit::train, train * (batch - 1) / train_batches,
        train * batch / train_batches);
  };
  std::string names;
  for (unsigned form = 0; form < scene_forms; ++form) names += join(form_name(form), '\n');
  // In the order of the published archive.
  add_train(1);
  tar.add(join(folder, "batches.meta.txt"), as_bytes(names + '\n'));
  add_train(3);
  add_train(4);
  add("test_batch", MadeSplit::test, 0, images.count(MadeSplit::test));
  add_train(5);
  add_train(2);
  tar.finish();
  file.close();
}

// The minimum is one image for each batch, the maximum what the reader still holds in memory.
const Synth cifar10_row("cifar10",
                        "drawn shapes in CIFAR-10's binary archive: N to train, N/6 to test",
                        {train_batches, 300'000, 6}, make_cifar10);

}  // namespace

const Synth& cifar10_synth = cifar10_row;

}  // namespace feedrate::converters
