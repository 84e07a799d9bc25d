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

// What a step reads is decoded while the step before computes, into the other side; the batch's
// memory is the loader's again as soon as it is uploaded.
TEST_P(CudaLoad, a_session_learns_from_packed_batches_what_it_learns_from_their_pixels) {
  const TempDirectory directory;
  write_dataset(container("recordio"), packed_codec, directory / "set",
                make_examples({40, 44, 3}, 23));
  const auto dataset = open_dataset(directory / "set");
  const Recipe& recipe = loader::recipe("imagenet-train:size=20");
  Builder b("small", {20, 20, 3}, 10);
  const auto x = b.relu(b.batch_norm(b.conv(b.input(0.01), 6, 3, 1, 1, {}), {}));
  const Graph graph = b.softmax_loss(b.dense(b.max_pool(x, 2, 2), 10, {}));
  const auto session = [&](PixelType type) {
    SessionOptions asked = options();
    asked.pixels = type;
    auto made = cuda_->compile(make_plan(graph, 5), asked);
    initialise(*made, 3);
    return made;
  };
  const auto usual = session(PixelType::u8), found = session(PixelType::packed);
  LoaderOptions asked{.threads = 2, .batch = 5, .epochs = 3};  // of 5, 5, 5, 5 and 3 images
  Loader pixels(*dataset, recipe, asked);
  asked.pixels.type = PixelType::packed;
  asked.engine.memory = &cuda_->pixel_memory();
  Loader packed(*dataset, recipe, asked);
  std::uint64_t steps = 0, images = 0;
  while (const Batch* batch = packed.next()) {
    usual->upload(*pixels.next());
    found->upload(*batch);
    std::ranges::fill(batch->seats, std::byte{0x5a});
    for (Session* one : {usual.get(), found.get()}) {
      one->train_step(settings, steps);
      if (steps % 4 == 3) one->evaluate_step();
    }
    ++steps;
    images += batch->count;
  }
  EXPECT_EQ(steps, 15U);
  EXPECT_EQ(found->take_metrics().loss_sum, usual->take_metrics().loss_sum);
  for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
    EXPECT_EQ(found->parameter(p), usual->parameter(p)) << graph.parameters[p].name;
  }
  EXPECT_EQ(found->steps_recorded(), true);
  EXPECT_EQ(usual->decoded(), nullptr);
  ASSERT_NE(found->decoded(), nullptr);
  EXPECT_EQ(found->decoded()->images, images);
  EXPECT_EQ(found->decoded()->packed, images);
  // An upload is the labels, the jobs and each image.
  EXPECT_EQ(found->transfers()->up.count, 2 * steps + images);
  EXPECT_GT(found->planned_bytes(), usual->planned_bytes());
  RandomBatch other(graph, 5, 1);
  expect_error([&] { found->upload(other.batch()); }, {"holds u8", "made for packed"});
}

}  // namespace
}  // namespace feedrate::testing
