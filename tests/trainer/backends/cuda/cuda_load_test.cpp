// The loader's packed batches, decoded on the device: the digests of batches of pixels.

#include "loader/recipe.h"
#include "tests/loader/batches.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/cuda_parity.h"
#include "trainer/backends/image_decoder.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

class CudaLoad : public CudaParity {
 protected:
  /// The hashes of all batches, decoded on the device.
  std::vector<std::string> decoded(const Dataset& dataset, const Recipe& recipe,
                                   LoaderOptions options) const {
    options.pixels.type = PixelType::packed;
    options.engine.memory = &cuda_->pixel_memory();
    Loader loader(dataset, recipe, options);
    std::unique_ptr<ImageDecoder> decoder;
    std::vector<std::string> all;
    while (const Batch* batch = loader.next()) {
      if (decoder == nullptr) {
        decoder = cuda_->image_decoder({batch->shape, options.batch, batch->seat_bytes});
      }
      decoder->decode(*batch);
      const std::span<const std::byte> pixels = decoder->pixels();
      Buffer copy(pixels.begin(), pixels.end());
      Batch shown = *batch;
      shown.type = PixelType::u8;
      shown.set_bytes(copy.data());
      all.push_back(batch_digest(shown));
    }
    EXPECT_EQ(decoder->counts().packed, decoder->counts().images);
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaLoad, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaLoad, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaLoad, digests_are_those_of_the_loaders_threads_at_any_number_of_them) {
  const TempDirectory directory;
  write_dataset(container("recordio"), packed_codec, directory / "set",
                make_examples({60, 76, 3}, 7));
  const auto dataset = open_dataset(directory / "set");
  for (const std::string name : {"none", "imagenet-train", "imagenet-eval"}) {
    LoaderOptions options{.threads = 0, .batch = 3, .epochs = name == "none" ? 2U : 1U};
    const auto expected = digests(*dataset, recipe(name), options);
    for (const unsigned threads : {0U, 1U, 2U, 4U}) {
      // The emulated device takes a while for 224 x 224 pixels.
      if (name != "none" && threads % 2 != 0) continue;
      options.threads = threads;
      EXPECT_EQ(decoded(*dataset, recipe(name), options), expected)
          << name << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace feedrate::testing
