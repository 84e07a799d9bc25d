#include "converters/synth.h"

#include <algorithm>

#include "converters/synths/made_images.h"
#include "formats/base/error.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

const Synth mnist("mnist", "drawn digits in MNIST's four files: N to train, N/6 to test",
                  {1, std::uint64_t{1} << 31, 6}, make_mnist);
// One image for each of five batches; as many as the reader still holds in memory.
const Synth cifar10("cifar10", "drawn shapes in CIFAR-10's binary archive: N to train, N/6 to test",
                    {5, 300'000, 6}, make_cifar10);
// The devkit labels 50,000 validation images.
const Synth imagenet("imagenet",
                     "drawn scenes in ILSVRC2012's tars and devkit: N to train, N/26 to val",
                     {1, 1'300'000, 26}, make_imagenet);

}  // namespace

std::span<const Synth* const> synths() {
  static const Synth* const rows[] = {&mnist, &cifar10, &imagenet};
  return rows;
}

const Synth& synth(std::string_view name) { return find_kind("made dataset", name, synths()); }

void make_archives(const Synth& synth, const std::filesystem::path& out,
                   const SynthOptions& options) {
  const auto [min, max, train_per_test] = synth.limits;
  if (options.images < min || options.images > max) {
    throw Error(join("cannot make ", options.images, " images of ", synth.name(), "; from ", min,
                     " to ", max));
  }
  PartialDirectory directory(out);
  MadeImages images(options, std::max<std::uint64_t>(1, options.images / train_per_test));
  synth.make(directory.path(), images);
  directory.commit();
}

}  // namespace feedrate::converters
