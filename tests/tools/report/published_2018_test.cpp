#include "tools/report/study/published_2018.h"

#include <gtest/gtest.h>

#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

Run run_of(const std::string& network, const std::string& dataset) {
  Run run = testing::delivered("lmdb", 1, 5000, 1);
  run.network = network;
  run.dataset = dataset;
  return run;
}

std::string case_name(const std::string& network, const std::string& dataset) {
  const auto run = run_of(network, dataset);
  const Published* found = case_of(run);
  return found == nullptr ? "" : std::string(found->name);
}

TEST(UnitPublished, a_row_belongs_to_the_case_of_its_network_and_images) {
  EXPECT_EQ(case_name("lenet", "data/fashion-mnist/lmdb"), "LeNet, MNIST");
  EXPECT_EQ(case_name("resnet50:mxnet-cifar", "data/CIFAR10/lmdb"), "ResNet50, CIFAR-10");
  EXPECT_EQ(case_name("resnet50", "data/imagenet/lmdb"), "ResNet50, ImageNet");
  EXPECT_EQ(case_name("vgg16:bn", "data/imagenet/lmdb"), "VGG16, ImageNet");
  EXPECT_EQ(case_name("resnet50", "data/cifar10/lmdb"), "");
  EXPECT_EQ(case_name("mlp", "data/mnist/lmdb"), "");
}

TEST(UnitPublished, ours_stands_beside_theirs_with_our_batch_where_it_differs) {
  auto same = run_of("lenet", "data/mnist/lmdb"), other = run_of("alexnet", "data/imagenet/lmdb");
  other.batch = 16;
  other.images_per_second = 21;
  const Table table = published_table({same, other});
  ASSERT_EQ(table.rows.size(), 9U);
  EXPECT_EQ(table.rows[0].cells[2], "46,691 MXNet");
  EXPECT_EQ(table.rows[0].cells[3], not_measured);
  EXPECT_EQ(table.rows[0].cells[5], "5,000");
  EXPECT_EQ(table.rows[5].cells[5], "21.0 (16)");
  EXPECT_EQ(table.rows[1].cells[6], not_measured);
}

TEST(UnitPublished, rows_of_none_of_the_cases_get_no_table) {
  EXPECT_TRUE(published_table({run_of("mlp", "data/mnist/lmdb")}).rows.empty());
}

}  // namespace
}  // namespace feedrate::tools
