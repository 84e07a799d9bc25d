// Networks reach their published accuracy on real images with their published recipes.

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "tests/support/data.h"
#include "tests/trainer/idx_source.h"
#include "trainer/loop/train_recipe.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"
#include "trainer/presets/preset.h"

namespace feedrate::trainer {
namespace {

using testing::IdxSource;
namespace fs = std::filesystem;

double accuracy(const TrainRecipe& recipe, Graph graph, const fs::path& directory,
                const SessionOptions& options) {
  const std::uint64_t epochs = recipe.length.epochs;
  apply(recipe.changes, graph);
  const auto session = backend("cpu").compile(make_plan(std::move(graph), 64), options);
  initialise(*session, 1);
  IdxSource training(directory, "train", IdxSource::Order::shuffled, epochs);
  constexpr std::uint64_t epoch_steps = (60000 + 63) / 64;
  train(*session, training,
        {.schedule = schedule_of(recipe, epoch_steps, epochs * epoch_steps),
         .update = update_settings(recipe)});
  IdxSource test(directory, "t10k", IdxSource::Order::as_stored);
  const Evaluation evaluation = evaluate(*session, test);
  EXPECT_EQ(evaluation.images, 10000U);
  return evaluation.accuracy;
}

double accuracy(const Network& net, const fs::path& directory, std::uint64_t epochs) {
  TrainRecipe recipe = net.recipe();
  recipe.length.epochs = epochs;
  return accuracy(recipe, net.build({28, 28, 1}, 10), directory, {.optimizer = &optimizer("sgd")});
}

TEST(SlowAccuracy, lenet_reads_98_of_100_mnist_digits_after_one_epoch) {
  const auto file = testing::data_file("mnist/train-images-idx3-ubyte.gz");
  if (!file) GTEST_SKIP() << "MNIST is not on this machine";
  EXPECT_GE(accuracy(network("lenet"), file->parent_path(), 1), 0.98);
}

// Every layer in bf16, also those that would be faster in fp32.
TEST(SlowAccuracy, lenet_reads_99_of_100_mnist_digits_in_bf16) {
  const auto file = testing::data_file("mnist/train-images-idx3-ubyte.gz");
  if (!file) GTEST_SKIP() << "MNIST is not on this machine";
  const Preset& modern = preset("lenet-modern");
  TrainRecipe recipe = modern.recipe();
  recipe.length.epochs = 3;  // of 10
  try {
    EXPECT_GE(
        accuracy(recipe, network(modern.network()).build({28, 28, 1}, 10), file->parent_path(),
                 {.precision = "bf16",
                  .bf16_everywhere = true,
                  .optimizer = &optimizer(recipe.update.optimizer)}),
        0.99);
  } catch (const formats::Error& problem) {
    GTEST_SKIP() << problem.what();  // not every processor supports it
  }
}

TEST(SlowAccuracy, the_mlp_reads_95_of_100_mnist_digits_after_one_epoch) {
  const auto file = testing::data_file("mnist/train-images-idx3-ubyte.gz");
  if (!file) GTEST_SKIP() << "MNIST is not on this machine";
  EXPECT_GE(accuracy(network("mlp"), file->parent_path(), 1), 0.95);
}

TEST(SlowAccuracy, lenet_knows_85_of_100_clothes_after_two_epochs) {
  const fs::path directory = "/usr/share/datasets/fashion-mnist";  // Debian's package
  if (!fs::exists(directory)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  EXPECT_GE(accuracy(network("lenet"), directory, 2), 0.85);
}

}  // namespace
}  // namespace feedrate::trainer
