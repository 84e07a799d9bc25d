// Training on floats that the loader scaled gives the same bits as training on pixels.

#include <gtest/gtest.h>

#include "loader/loader.h"
#include "tests/support/expect_error.h"
#include "tests/support/memory_dataset.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"
#include "trainer/ops/pixels.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

using testing::expect_error;
using testing::MemoryDataset;

struct Learned {
  std::vector<double> losses;
  std::vector<std::vector<float>> parameters;
  std::vector<float> features;
};

// Trains three steps, the last on a smaller batch, then reads the values of a node.
Learned learn(const Graph& graph, const Dataset& dataset, unsigned threads, PixelType type,
              const std::string& precision) {
  const auto session =
      backend("cpu").compile(make_plan(graph, 16), {.precision = precision,
                                                    .bf16_everywhere = precision == "bf16",
                                                    .threads = threads,
                                                    .optimizer = &optimizer("sgd"),
                                                    .pixels = type});
  initialise(*session, 3);
  Loader loader(
      dataset, recipe("none"),
      {.threads = 1, .batch = 16, .pixels = {.type = type, .scales = input_scales(graph)}});
  Learned learned;
  std::uint64_t step = 0;
  while (const Batch* batch = loader.next()) {
    session->upload(*batch);
    session->train_step({.rate = 0.01}, step++);
    learned.losses.push_back(session->take_metrics().loss_sum);
  }
  session->evaluate_step();
  learned.losses.push_back(session->take_metrics().loss_sum);
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    learned.parameters.push_back(session->parameter(i));
  }
  for (const std::size_t node : {std::size_t{0}, std::size_t{1}}) {
    std::vector<float> values(static_cast<std::size_t>(graph.nodes[node].extent.elements()) * 16);
    session->forward_to(node, values);
    learned.features.insert(learned.features.end(), values.begin(), values.end());
  }
  return learned;
}

void expect_the_same_bits_from_numbers_as_from_pixels(const std::string& precision) {
  const MemoryDataset grey(40), colour(40, {32, 32, 3});
  for (const char* name : {"lenet", "mlp", "alexnet:cifar", "resnet50:cifar"}) {
    const bool takes_grey = name == std::string_view("lenet") || name == std::string_view("mlp");
    const Dataset& dataset = takes_grey ? grey : colour;
    Graph graph = network(name).build(dataset.info().shape, 10);
    graph.nodes.front().attributes["mean1"] = 99;  // of green only
    for (const unsigned threads : {1U, 2U}) {
      const Learned pixels = learn(graph, dataset, threads, PixelType::u8, precision);
      const Learned numbers = learn(graph, dataset, threads, PixelType::f32, precision);
      ASSERT_EQ(pixels.losses.size(), 4U);
      EXPECT_EQ(numbers.losses, pixels.losses) << name << ", " << threads << " threads";
      EXPECT_EQ(numbers.parameters, pixels.parameters) << name;
      EXPECT_EQ(numbers.features, pixels.features) << name;
    }
  }
}

TEST(ConformanceNumbers, a_network_learns_the_same_bits_from_numbers_as_from_pixels) {
  expect_the_same_bits_from_numbers_as_from_pixels("fp32");
}

TEST(ConformanceNumbers, in_bf16_it_learns_the_same_bits_from_numbers_as_from_pixels) {
  try {
    expect_the_same_bits_from_numbers_as_from_pixels("bf16");
  } catch (const Error& problem) {
    GTEST_SKIP() << problem.what();
  }
}

TEST(HostileNumbers, what_a_session_was_not_made_for_is_refused) {
  const MemoryDataset dataset(16);
  const Graph graph = network("lenet").build({28, 28, 1}, 10);
  const auto upload = [&](PixelType wanted, PixelType given, const PixelScales& scales) {
    const auto session =
        backend("cpu").compile(make_plan(graph, 16), {.threads = 1, .pixels = wanted});
    Loader loader(dataset, recipe("none"),
                  {.threads = 0, .batch = 16, .pixels = {.type = given, .scales = scales}});
    session->upload(*loader.next());
  };
  const PixelScales own = input_scales(graph);
  upload(PixelType::f32, PixelType::f32, own);
  upload(PixelType::u8, PixelType::u8, {});
  expect_error([&] { upload(PixelType::u8, PixelType::f32, own); },
               {"batch 0: holds f32, but the session was made for u8"});
  expect_error([&] { upload(PixelType::f32, PixelType::u8, own); },
               {"holds u8, but the session was made for f32"});
  expect_error([&] { upload(PixelType::f32, PixelType::f16, own); }, {"holds f16"});
  expect_error([&] { upload(PixelType::f32, PixelType::f32, {}); },
               {"scale 1.0", "lenet takes mean 0.0", "scale 0.0039"});
  expect_error([&] { upload(PixelType::f16, PixelType::f16, own); },
               {"takes u8 pixels or f32 numbers, not f16"});
  const MemoryDataset colour(16, {32, 32, 3});
  const auto session = backend("cpu").compile(
      make_plan(network("lenet").build({32, 32, 3}, 10), 16), {.threads = 1});
  Loader planes(colour, recipe("none"),
                {.threads = 0, .batch = 16, .pixels = {.layout = PixelLayout::planar}});
  expect_error([&] { session->upload(*planes.next()); },
               {"its images are nchw, but networks take nhwc for u8"});
}

}  // namespace
}  // namespace feedrate::trainer
