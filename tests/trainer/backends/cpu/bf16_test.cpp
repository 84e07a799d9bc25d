// bf16 on the CPU: factors of products are rounded, and so are the values between them; parameters,
// sums and losses are fp32. Mostly on one thread: oneDNN computes fp32's weight gradients on its
// own threads, which spin, and their sums depend on the number of threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"
#include "tests/trainer/op_cases.h"
#include "tests/trainer/pytorch_runs.h"
#include "tests/trainer/rounding.h"
#include "trainer/backends/cpu/products/product_table.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

constexpr double tolerance = 2e-2;  // relative

class Bf16 : public ::testing::Test {
 public:
  void SetUp() override {
    try {
      compile(plain_conv({}), 1, "bf16");
    } catch (const Error& problem) {
      GTEST_SKIP() << problem.what();
    }
  }

  struct Conv {
    std::int64_t channels = 16, filters = 32, kernel = 3, stride = 1, groups = 1;
    bool bias = true;
  };
  // Two layers, so that the second computes an input gradient. No relu: where rounding changes the
  // sign of a value near zero, its whole gradient would differ.
  static Graph plain_conv(const Conv& conv) {
    Builder b("conv", {9, 9, 3}, 5);
    auto x = b.conv(b.input(1.0 / 255, 128), conv.channels, 3, 1, 1, {});
    x = b.conv(x, conv.filters, conv.kernel, conv.stride, conv.kernel / 2,
               {.no_bias = !conv.bias, .groups = conv.groups});
    return b.softmax_loss(b.dense(x, 5, {}));
  }
  // After a convolution whose channels do not fill a block.
  static Graph plain_dense(std::int64_t units) {
    Builder b("dense", {9, 9, 3}, 5);
    const auto x = b.dense(b.conv(b.input(1.0 / 255, 128), 7, 3, 1, 1, {}), units, {});
    return b.softmax_loss(b.dense(b.dense(x, 80, {}), 5, {}));
  }
  static std::unique_ptr<Session> compile(Graph graph, std::uint32_t batch,
                                          const std::string& precision, unsigned threads = 1) {
    return started(std::move(graph), batch,
                   {.precision = precision,
                    .bf16_everywhere = true,
                    .keep_gradients = true,
                    .threads = threads,
                    .optimizer = &optimizer("sgd")});
  }
  static std::unique_ptr<Session> started(Graph graph, std::uint32_t batch,
                                          const SessionOptions& options) {
    auto session = backend("cpu").compile(make_plan(std::move(graph), batch), options);
    initialise(*session, 1);
    return session;
  }

  static double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(double{a[i]} - b[i], 2);
      size += std::pow(double{b[i]}, 2);
    }
    return std::sqrt(difference / size);
  }
};

using UnitBf16 = Bf16;
using InteropPyTorchBf16 = Bf16;

using Gradients = std::vector<std::vector<float>>;

// The gradients of one step on a whole batch.
Gradients gradients_of(Session& session, const testing::Nudge& nudge = {}) {
  const Graph& graph = session.plan().graph;
  const std::uint32_t images = session.plan().batch;
  testing::RandomSource source(
      {.shape = graph.input, .classes = graph.classes, .batch = images, .images = images});
  nudge(session, 0);
  session.upload(*source.next());
  session.train_step({.rate = 0}, 0);
  Gradients all;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) all.push_back(session.gradient(i));
  return all;
}

Gradients gradients(const Graph& graph, const std::string& precision, unsigned threads = 1,
                    const testing::Nudge& nudge = {}) {
  return gradients_of(*Bf16::compile(graph, 5, precision, threads), nudge);
}

void expect_only_rounding(const Graph& graph, const std::string& what) {
  const Gradients narrow = gradients(graph, "bf16"), wide = gradients(graph, "fp32");
  bool differs = false;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const double d = Bf16::distance(narrow[i], wide[i]);
    EXPECT_LT(d, tolerance) << graph.parameters[i].name << ", " << what;
    differs = differs || d > 1e-5;
  }
  EXPECT_TRUE(differs) << "nothing was rounded: is it bf16 at all? " << what;
}

TEST_F(UnitBf16, every_gradient_is_that_of_fp32_but_for_the_rounding) {
  const Conv cases[] = {{},
                        {.channels = 5, .filters = 7},
                        {.kernel = 1},
                        {.kernel = 5, .stride = 2},
                        {.groups = 2},
                        {.bias = false}};
  for (const Conv& one : cases) {
    expect_only_rounding(plain_conv(one), join("kernel ", one.kernel, ", groups ", one.groups));
  }
  for (const std::int64_t units : {64, 100, 300}) {
    expect_only_rounding(plain_dense(units), join(units, " units"));
  }
}

bool has_kinks(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return node.op->traits().is_relu || node.op->traits().pooling == Pooling::maximum;
  });
}

// Gradients are near if the network has no relu or max_pool: a value that rounding moves across
// zero, or past its neighbour, changes by its whole gradient. Values from a wrong place in memory
// would differ by more than their length.
TEST_F(UnitBf16, every_operator_in_every_shape_stays_near_fp32) {
  for (const testing::OpCase& c : testing::op_cases()) {
    for (const unsigned threads : {1U, 3U}) {
      SCOPED_TRACE(join(c.op, " ", c.what, ", ", threads, " threads"));
      const auto narrow = compile(c.graph, 4, "bf16", threads), wide = compile(c.graph, 4, "fp32");
      testing::RandomSource source({.shape = c.graph.input, .classes = 5, .batch = 4, .images = 7});
      for (std::uint64_t step = 0; step < 2; ++step) {  // the second on 3 images
        const loader::Batch& batch = *source.next();
        for (Session* session : {narrow.get(), wide.get()}) {
          session->upload(batch);
          session->train_step({.rate = 0.01}, step);
        }
        const double loss = wide->take_metrics().loss_sum;
        EXPECT_NEAR(narrow->take_metrics().loss_sum, loss, tolerance * loss);
        for (std::size_t p = 0; p < c.graph.parameters.size(); ++p) {
          if (!c.graph.parameters[p].learned) continue;
          EXPECT_LT(distance(narrow->gradient(p), wide->gradient(p)),
                    has_kinks(c.graph) ? 0.5 : tolerance)
              << c.graph.parameters[p].name;
        }
      }
    }
  }
}

TEST_F(UnitBf16, every_output_is_that_of_fp32_but_for_the_rounding) {
  Builder b("outputs", {8, 8, 3}, 5);
  auto x = b.max_pool(b.relu(b.conv(b.input(1.0 / 64, 127), 16, 3, 1, 1, {})), 3, 1, 1);
  x = b.relu(b.sum(b.batch_norm(b.conv(x, 16, 3, 1, 1, {.no_bias = true}), {}), x));
  const Graph graph = b.softmax_loss(b.dense(b.global_avg_pool(x), 5, {}));
  testing::RandomSource source({.shape = graph.input, .classes = 5, .batch = 4, .images = 3});
  const loader::Batch& batch = *source.next();
  const auto narrow = compile(graph, 4, "bf16"), wide = compile(graph, 4, "fp32");
  for (Session* session : {narrow.get(), wide.get()}) session->upload(batch);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    std::vector<float> found(3 * static_cast<std::size_t>(graph.nodes[node].extent.elements()));
    std::vector<float> expected = found;
    narrow->forward_to(node, found);
    wide->forward_to(node, expected);
    EXPECT_LT(distance(found, expected), tolerance) << graph.nodes[node].name;
  }
}

TEST_F(UnitBf16, values_and_their_gradients_take_half_the_memory) {
  const auto bytes = [](const std::string& precision) {
    Builder b("large", {64, 64, 3}, 5);
    auto x = b.input(1.0 / 64, 127);
    for (int i = 0; i < 4; ++i) x = b.relu(b.batch_norm(b.conv(x, 16, 3, 1, 1, {}), {}));
    return compile(b.softmax_loss(b.dense(b.global_avg_pool(x), 5, {})), 32, precision)
        ->planned_bytes();
  };
  const double share = static_cast<double>(bytes("bf16")) / static_cast<double>(bytes("fp32"));
  // oneDNN's kernels of AMX take a copy of a layer's input besides.
  EXPECT_LT(share, cpu::processor_kind() == "amx" ? 0.65 : 0.55);
  EXPECT_GT(share, 0.45);
}

TEST_F(UnitBf16, narrow_dense_layers_are_those_of_fp32) {
  const auto graph = [](std::int64_t units) {
    Builder b("narrow", {9, 9, 3}, 5);
    return b.softmax_loss(b.dense(b.dense(b.input(1.0 / 255, 128), units, {}), 5, {}));
  };
  EXPECT_EQ(gradients(graph(63), "bf16"), gradients(graph(63), "fp32"));
  EXPECT_NE(gradients(graph(64), "bf16"), gradients(graph(64), "fp32"));
}

// Whether a batch of this many images gives other gradients than in fp32.
bool rounds(const Graph& graph, std::uint32_t images) {
  const auto in = [&](const std::string& precision) {
    return gradients_of(*Bf16::started(graph, images,
                                       {.precision = precision,
                                        .keep_gradients = true,
                                        .threads = 1,
                                        .optimizer = &optimizer("sgd")}));
  };
  return in("bf16") != in("fp32");
}

TEST_F(UnitBf16, products_that_do_not_pay_for_the_rounding_stay_in_fp32) {
  constexpr std::int64_t inputs = 16 * 16 * 3, units = 1024;
  Builder b("dense", {16, 16, 3}, 5);
  const Graph graph = b.softmax_loss(b.dense(b.dense(b.input(1.0 / 255, 128), units, {}), 5, {}));
  // What bf16 gains for each image, without an input gradient, and what it costs for the batch.
  const cpu::ProductLimits& limits = cpu::product_limits();
  const std::int64_t gain = 2 * inputs * units - limits.macs_a_value * (inputs + units);
  const std::int64_t cost = limits.macs_a_layer + limits.macs_a_weight * inputs * units;
  const auto enough = static_cast<std::uint32_t>((cost + gain - 1) / gain);
  EXPECT_FALSE(rounds(graph, enough - 1));
  EXPECT_TRUE(rounds(graph, enough));
}

TEST_F(UnitBf16, what_onednn_multiplies_slowly_in_bf16_stays_in_fp32) {
  const auto conv = [](std::int64_t channels, std::int64_t filters) {
    Builder b("slow", {32, 32, 3}, 5);
    auto x = b.input(1.0 / 255, 128);
    if (channels != 3) x = b.conv(x, channels, 1, 1, 0, {});
    return b.softmax_loss(b.dense(b.conv(x, filters, 7, 1, 3, {}), 5, {}));
  };
  EXPECT_FALSE(rounds(conv(3, 24), 24)) << "filters of pixels that are no whole blocks";
  EXPECT_TRUE(rounds(conv(3, 32), 24));
  EXPECT_FALSE(rounds(conv(20, 18), 24)) << "blocks of which less than half is of use";
  EXPECT_TRUE(rounds(conv(20, 32), 24));
}

void expect_the_same_however_shared(const Graph& graph, const std::string& what) {
  const Gradients alone = gradients(graph, "bf16");
  testing::Rounding rounding;
  for (unsigned number = 1; number <= testing::Nudge::count; ++number) {
    const Gradients moved = gradients(graph, "bf16", 1, {number});
    for (std::size_t i = 0; i < alone.size(); ++i) {
      rounding.saw(graph.parameters[i].name, Bf16::distance(moved[i], alone[i]));
    }
  }
  for (const unsigned threads : {2, 3}) {
    const Gradients shared = gradients(graph, "bf16", threads);
    EXPECT_EQ(shared, gradients(graph, "bf16", threads)) << threads;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_LE(Bf16::distance(shared[i], alone[i]), rounding.tolerance(graph.parameters[i].name))
          << graph.parameters[i].name << ", " << what << ", " << threads << " threads";
    }
  }
}

// In 5 images a filter has 405 values, and 9 weights for each channel.
TEST_F(UnitBf16, however_threads_share_a_convolution_its_gradients_are_the_same) {
  const Conv by_images{.channels = 16, .filters = 40}, by_filters{.channels = 64, .filters = 112};
  const Conv grouped{.groups = 2}, odd{.channels = 64, .filters = 104},
      without_bias{.channels = 64, .filters = 64, .bias = false};
  for (const Conv& one : {by_images, by_filters, grouped, odd, without_bias}) {
    expect_the_same_however_shared(plain_conv(one), join(one.filters, " filters"));
  }
}

// The third thread gets none of the 70 units.
TEST_F(UnitBf16, however_threads_share_a_dense_layer_its_gradients_are_the_same) {
  for (const std::int64_t units : {70, 200}) {
    expect_the_same_however_shared(plain_dense(units), join(units, " units"));
  }
}

// The relu's gradient is rounded in the same pass; where the output is 0, it is 0.
TEST_F(UnitBf16, a_relu_behind_a_layer_lets_through_what_is_above_zero) {
  const auto graph = [](double sign, bool convolution) {
    Builder b("relu", {8, 8, 1}, 5);
    const Builder::Layer constant{.weight = {Init::Rule::constant, sign}};
    const auto x = b.input(1.0 / 255);
    const auto y =
        b.relu(convolution ? b.conv(x, 16, 3, 1, 1, constant) : b.dense(x, 64, constant));
    return b.softmax_loss(b.dense(y, 5, {}));
  };
  for (const bool convolution : {false, true}) {
    const Gradients below = gradients(graph(-1, convolution), "bf16");
    EXPECT_EQ(below[0], std::vector<float>(below[0].size(), 0.0F)) << convolution;
    expect_only_rounding(graph(1, convolution), convolution ? "conv" : "dense");
  }
}

TEST_F(UnitBf16, parameters_come_back_as_they_were_set) {
  const auto session = compile(plain_conv({.channels = 5, .filters = 7}), 2, "bf16");
  std::vector<float> values = session->parameter(2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0F + static_cast<float>(i) * 1e-6F;
  session->set_parameter(2, values);
  EXPECT_EQ(session->parameter(2), values);
}

TEST_F(UnitBf16, the_same_steps_give_the_same_bits) {
  const auto losses = [] {
    const Graph graph = plain_conv({});
    testing::RandomSource source({.shape = graph.input, .classes = 5, .batch = 6, .images = 30});
    const auto session = compile(graph, 6, "bf16");
    std::vector<double> all;
    for (std::uint64_t step = 0; step < 5; ++step) {
      session->upload(*source.next());
      session->train_step({.rate = 0.01}, step);
      all.push_back(session->take_metrics().loss_sum);
    }
    return all;
  };
  EXPECT_EQ(losses(), losses());
}

TEST_F(InteropPyTorchBf16, ten_steps_of_lenet_stay_near_pytorchs_in_fp32) {
  const nlohmann::json expected = testing::stored_parity("lenet");
  const Network& lenet = network("lenet");
  const TrainRecipe recipe = lenet.recipe();
  const auto session = compile(lenet.build({28, 28, 1}, 10), 64, "bf16");
  testing::RandomSource source({.seed = 1});
  for (std::uint64_t step = 0; step < 10; ++step) {
    session->upload(*source.next());
    session->train_step({.rate = LearningRate(recipe.schedule).at(step),
                         .momentum = recipe.update.momentum,
                         .decay = recipe.update.decay},
                        step);
    const double theirs = expected["losses"][step];
    EXPECT_NEAR(session->take_metrics().loss_sum / 64, theirs, tolerance * theirs)
        << "step " << step;
  }
}

// Within a fiftieth of the losses in double or, where PyTorch's autocast to bf16 is not so near
// itself, within twice its distance.
void expect_to_stay_near_pytorch(const std::string& file) {
  for (const testing::PytorchRun& run : testing::pytorch_runs(file)) {
    const Graph graph = run.graph();
    const auto session = Bf16::compile(graph, run.batch(), "bf16");
    testing::RandomSource source = run.images(graph);
    const double near = std::max(tolerance, 2 * run.bf16_differs());
    for (std::uint64_t step = 0; step < run.steps(); ++step) {
      session->upload(*source.next());
      session->train_step(run.settings(), step);
      const Metrics metrics = session->take_metrics();
      const double theirs = run.loss(step);
      EXPECT_NEAR(metrics.loss_sum / static_cast<double>(metrics.images), theirs, near * theirs)
          << run.title << ", step " << step;
    }
  }
}

TEST_F(InteropPyTorchBf16, steps_of_every_network_for_small_images_stay_near_pytorchs) {
  expect_to_stay_near_pytorch("networks");
}

TEST_F(InteropPyTorchBf16, steps_of_imagenets_networks_on_small_images_stay_near_pytorchs) {
  expect_to_stay_near_pytorch("imagenet_networks");
}

}  // namespace
}  // namespace feedrate::trainer
