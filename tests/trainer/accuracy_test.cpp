// Networks reach their published accuracy on real images with their published recipes.

#include <gtest/gtest.h>

#include "tests/support/data.h"
#include "tests/trainer/idx_source.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
namespace {

using testing::IdxSource;
namespace fs = std::filesystem;

double accuracy(const Network& net, const fs::path& directory, std::uint64_t epochs) {
  const TrainRecipe recipe = net.recipe();
  const auto session = backend("cpu").compile(make_plan(net.build({28, 28, 1}, 10), 64),
                                              {.optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  IdxSource training(directory, "train", IdxSource::Order::shuffled, epochs);
  train(*session, training,
        {.schedule = recipe.schedule,
         .update = {.momentum = recipe.update.momentum, .decay = recipe.update.decay}});
  IdxSource test(directory, "t10k", IdxSource::Order::as_stored);
  const Evaluation evaluation = evaluate(*session, test);
  EXPECT_EQ(evaluation.images, 10000U);
  return evaluation.accuracy;
}

TEST(SlowAccuracy, lenet_reads_98_of_100_mnist_digits_after_one_epoch) {
  const auto file = testing::data_file("mnist/train-images-idx3-ubyte.gz");
  if (!file) GTEST_SKIP() << "MNIST is not on this machine";
  EXPECT_GE(accuracy(network("lenet"), file->parent_path(), 1), 0.98);
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
