// Compares ten training steps with PyTorch's, from the same initial values and images. The expected
// numbers come from the scripts in parity/.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "tests/trainer/pytorch_runs.h"
#include "tests/trainer/rounding.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

// Keras' mnist_mlp without dropout, whose masks PyTorch cannot reproduce.
Graph mlp_without_dropout() {
  const Builder::Layer layer{.weight = {Init::Rule::glorot_uniform, 0}};
  Builder b("mlp_without_dropout", {28, 28, 1}, 10);
  auto x = b.relu(b.dense(b.input(1.0 / 255), 512, layer));
  x = b.relu(b.dense(x, 512, layer));
  return b.softmax_loss(b.dense(x, 10, layer));
}

testing::Course course(const Graph& graph, const TrainRecipe& recipe, const testing::Nudge& nudge) {
  const nlohmann::json expected = testing::stored_parity(graph.network);
  const auto session =
      backend("cpu").compile(make_plan(graph, 64), {.threads = 2, .optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  testing::RandomSource source({.seed = 1});
  testing::Course shown;
  EXPECT_EQ(expected["losses"].size(), 10U);
  for (std::uint64_t step = 0; step < 10; ++step) {
    nudge(*session, step);
    session->upload(*source.next());
    session->train_step({.rate = LearningRate(recipe.schedule).at(step),
                         .momentum = recipe.update.momentum,
                         .decay = recipe.update.decay},
                        step);
    shown.push_back({"loss", join(graph.network, ", step ", step),
                     session->take_metrics().loss_sum / 64, expected["losses"][step]});
  }
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::string& name = graph.parameters[i].name;
    const nlohmann::json& theirs = expected["parameters"].at(name);
    double sum = 0, squares = 0;
    for (const float value : session->parameter(i)) {
      sum += double{value};
      squares += double{value} * value;
    }
    const double norm = theirs["norm"];
    shown.push_back({"norm of " + name, graph.network, std::sqrt(squares), norm});
    // The sum may cancel, so its error is compared with the size of the values.
    const double size = norm * std::sqrt(static_cast<double>(graph.parameters[i].elements()));
    shown.push_back({"sum of " + name, graph.network, sum, theirs["sum"], size});
  }
  return shown;
}

void expect_pytorchs_numbers(const Graph& graph, const TrainRecipe& recipe) {
  testing::expect_but_for_rounding(
      [&](const testing::Nudge& nudge) { return course(graph, recipe, nudge); });
}

TEST(InteropPyTorch, ten_steps_of_lenet_are_pytorchs) {
  const Network& lenet = network("lenet");
  expect_pytorchs_numbers(lenet.build({28, 28, 1}, 10), lenet.recipe());
}

TEST(InteropPyTorch, ten_steps_of_an_mlp_are_pytorchs) {
  expect_pytorchs_numbers(mlp_without_dropout(), network("mlp").recipe());
}

double gradient_norm(const Session& session) {
  const std::vector<Parameter>& parameters = session.plan().graph.parameters;
  double squares = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].learned) continue;
    for (const float value : session.gradient(i)) squares += double{value} * value;
  }
  return std::sqrt(squares);
}

// Trains, the last step on a smaller batch, then evaluates.
testing::Course course(const testing::PytorchRun& run, const testing::Nudge& nudge) {
  const Graph graph = run.graph();
  const nlohmann::json& expected = run.expected;
  const auto session = backend("cpu").compile(
      make_plan(graph, run.batch()),
      {.keep_gradients = true, .threads = 2, .optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  testing::RandomSource source = run.images(graph);
  testing::Course shown;
  const auto show_loss = [&](double theirs, const std::string& where) {
    const Metrics metrics = session->take_metrics();
    const double loss = metrics.loss_sum / static_cast<double>(metrics.images);
    shown.push_back({"loss", join(run.title, ", ", where), loss, theirs});
  };
  for (std::uint64_t step = 0; step < run.steps(); ++step) {
    nudge(*session, step);
    session->upload(*source.next());
    session->train_step(run.settings(), step);
    show_loss(run.loss(step), join("step ", step));
    if (step == 0) {
      shown.push_back({"gradient", run.title, gradient_norm(*session), expected["gradient"]});
    }
  }
  session->upload(*source.next());
  session->evaluate_step();
  show_loss(expected["evaluation"], "evaluation");
  double learned = 0, statistics = 0;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    double& squares = graph.parameters[i].learned ? learned : statistics;
    for (const float value : session->parameter(i)) squares += double{value} * value;
  }
  shown.push_back({"parameters", run.title, std::sqrt(learned), expected["learned"]});
  shown.push_back({"statistics", run.title, std::sqrt(statistics), expected["statistics"]});
  return shown;
}

// A test for each run: with those that measure the effect of rounding it may take a minute.
class PytorchRuns : public ::testing::TestWithParam<testing::PytorchRun> {};

std::string label(const ::testing::TestParamInfo<testing::PytorchRun>& run) {
  std::string name = run.param.title;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(InteropSmallImages, PytorchRuns,
                         ::testing::ValuesIn(testing::pytorch_runs("networks")), label);
INSTANTIATE_TEST_SUITE_P(InteropImagenet, PytorchRuns,
                         ::testing::ValuesIn(testing::pytorch_runs("imagenet_networks")), label);

TEST_P(PytorchRuns, steps_are_pytorchs) {
  testing::expect_but_for_rounding(
      [&](const testing::Nudge& nudge) { return course(GetParam(), nudge); });
}

// LeNet on MNIST has a test of its own. Agreement is not luck: PyTorch's own fp32 run agrees with
// its double run too (except for torchvision's alexnet, where it differs by 8e-5 and ours does
// not).
TEST(InteropPyTorch, ten_steps_of_all_nine_cases_can_be_compared) {
  constexpr double steady = 1e-5;  // by less, relatively, ten steps amplify no rounding
  const auto ten_steps = [](const std::string& file, const std::string& network) {
    const auto runs = testing::pytorch_runs(file);
    return std::any_of(runs.begin(), runs.end(), [&](const testing::PytorchRun& run) {
      return run.network() == network && run.steps() == 10 && run.expected["fp32_differs"] < steady;
    });
  };
  for (const char* network :
       {"alexnet:cifar", "resnet50:cifar", "googlenet:cifar", "vgg16:cifar"}) {
    EXPECT_TRUE(ten_steps("networks", network)) << network;
  }
  for (const char* network :
       {"alexnet:caffe", "resnet50", "googlenet", "googlenet:caffe", "vgg16"}) {
    EXPECT_TRUE(ten_steps("imagenet_networks", network)) << network;
  }
}

}  // namespace
}  // namespace feedrate::trainer
