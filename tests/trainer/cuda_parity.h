#pragma once
// What the tests of the CUDA backend share: a session on the real or emulated device beside one on
// the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "loader/order/sample_draws.h"
#include "tests/support/emulated_device.h"
#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "tests/trainer/op_cases.h"
#include "tests/trainer/rounding.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/plugins/load_backend.h"
#include "trainer/graph/op.h"
#include "trainer/graph/passes.h"
#include "trainer/networks/network.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace fs = std::filesystem;

/// A batch of random images that owns its memory.
class RandomBatch {
 public:
  RandomBatch(const Graph& graph, std::uint32_t count, std::uint64_t key)
      : pixels_(graph.input.bytes() * count), labels_(count) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      pixels_[i] = static_cast<std::uint8_t>(random_bits(key, i) >> 56);
    }
    for (std::size_t i = 0; i < count; ++i) {
      labels_[i] = static_cast<std::int32_t>(below(random_bits(~key, i), graph.classes));
    }
    batch_.number = key;
    batch_.count = count;
    batch_.shape = graph.input;
    batch_.pixels = pixels_;
    batch_.labels = labels_;
  }
  const Batch& batch() const { return batch_; }
  Batch& batch() { return batch_; }
  std::vector<std::int32_t>& labels() { return labels_; }
  /// Images of one grey.
  void fill(std::uint8_t value) { std::fill(pixels_.begin(), pixels_.end(), value); }
  /// Overwrites the batch, as a loader does with a slot that was given back.
  void spoil() {
    fill(77);
    std::fill(labels_.begin(), labels_.end(), 0);
  }

 private:
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int32_t> labels_;
  Batch batch_;
};

inline SessionOptions options(const Optimizer& rule = optimizer("sgd")) {
  SessionOptions o;
  o.keep_gradients = true;
  o.optimizer = &rule;
  o.seed = 5;
  return o;
}

inline constexpr UpdateSettings settings{.rate = 0.02, .momentum = 0.9, .decay = 5e-4};

enum class Device { real, emulated };

/// By parameter: how many terms the longest sum has that its gradient is, or is computed from. A
/// gradient of weights sums a term for each image and each place of the output (a recurrent node's,
/// for each row of its input); any output sums one for each of its weights.
inline std::vector<double> longest_sums(const Graph& graph, std::uint32_t batch) {
  std::vector<double> terms(graph.parameters.size());
  double longest = 0;
  for (const Node& node : graph.nodes) {
    const bool recurrent = node.op->traits().is_recurrent;
    const Extent& places = recurrent ? graph.nodes[node.inputs[0]].extent : node.extent;
    for (const std::size_t number : node.parameters) {
      const Parameter& parameter = graph.parameters[number];
      terms[number] = static_cast<double>(batch * places.height * places.width);
      const std::int64_t outputs = std::max(parameter.shape[0], std::int64_t{1});
      longest = std::max(longest, static_cast<double>(parameter.elements() / outputs));
    }
  }
  for (double& own : terms) own = std::max(own, longest);
  return terms;
}

class CudaParity : public ::testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    // Tests must neither write to the user's cache nor depend on it.
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    const bool emulated = GetParam() == Device::emulated;
    const fs::path file =
        beside_this_program(emulated ? "libfeedrate_cuda_emulated.so" : "libfeedrate_cuda.so");
    std::string absent;
    if (!fs::exists(file)) {
      absent = join("this build has no CUDA plug-in: ", file);
    } else if (const LoadedBackend loaded = load_backend("cuda", {file});
               loaded.backend == nullptr) {
      // Without CUDA's libraries the plug-in cannot be loaded, which is no failure.
      ASSERT_FALSE(emulated) << loaded.problem;
      absent = loaded.problem;
    } else {
      cuda_ = loaded.backend;
      absent = cuda_->unavailable();
    }
    if (absent.empty()) return;
    // samples/gpu_check.sh sets this: where a GPU is to be proven, nothing may be skipped.
    ASSERT_EQ(std::getenv("FEEDRATE_EXPECT_GPU"), nullptr) << absent;
    GTEST_SKIP() << "no CUDA device here: " << absent;
  }
  /// Of an emulated device's blocks; a real one has an order of its own.
  static constexpr std::array orders = {"forward", "reversed", "interleaved"};

  void TearDown() override { unsetenv("FEEDRATE_EMULATED_ORDER"); }

  /// The emulated device takes seconds where a real one takes milliseconds.
  std::uint32_t batch() const { return GetParam() == Device::emulated ? 5 : 64; }

  std::unique_ptr<Session> start(const Backend& on, const Graph& graph, std::uint32_t batch,
                                 const Optimizer& rule = optimizer("sgd"),
                                 const std::string& precision = "fp32") const {
    SessionOptions asked = options(rule);
    asked.precision = precision;
    auto session = on.compile(make_plan(graph, batch), asked);
    initialise(*session, 3);
    return session;
  }

  /// Trains on both, step by step, and compares metrics, gradients, state and parameters. The last
  /// batch is partial.
  void expect_parity(const Graph& graph, std::uint32_t batch, std::uint64_t steps,
                     const UpdateSettings& update = settings,
                     const Optimizer& rule = optimizer("sgd")) const {
    const auto cpu = start(backend("cpu"), graph, batch, rule);
    const auto gpu = start(*cuda_, graph, batch, rule);
    std::vector<std::unique_ptr<Session>> moved;
    for (unsigned i = 0; i < Nudge::count; ++i) {
      moved.push_back(start(backend("cpu"), graph, batch, rule));
    }
    Rounding rounding;
    const std::vector<double> sums = longest_sums(graph, batch);
    const auto expect_within = [&](double found, double allowed, const std::string& what) {
      EXPECT_LE(found, allowed) << what << ": " << found / allowed << " of what is allowed";
      if (found <= closest_ * allowed) return;
      closest_ = found / allowed;
      RecordProperty("closest", join(closest_, " of what is allowed: ", what));
    };
    const auto expect_near = [&](const std::string& what, std::uint64_t step, double terms,
                                 const auto& see) {
      for (const auto& session : moved)
        rounding.saw(what, relative_difference(see(*session), see(*cpu)));
      expect_within(relative_difference(see(*gpu), see(*cpu)), rounding.tolerance(what, terms),
                    join(what, " at step ", step));
    };
    const std::size_t replayed = graphs();
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint32_t count = step + 1 == steps && batch > 1 ? batch - 1 : batch;
      RandomBatch images(graph, count, step + 1);
      const auto train = [&](Session& session) {
        session.upload(images.batch());
        session.train_step(update, step);
        return session.take_metrics();
      };
      const Metrics expected = train(*cpu);
      const Metrics found = train(*gpu);
      for (unsigned i = 0; i < Nudge::count; ++i) {
        Nudge{i + 1}(*moved[i], step);
        rounding.saw("loss", std::abs(train(*moved[i]).loss_sum / expected.loss_sum - 1));
      }
      EXPECT_EQ(found.images, count);
      EXPECT_EQ(found.correct, expected.correct) << "step " << step;
      EXPECT_EQ(found.correct5, expected.correct5) << "step " << step;
      expect_within(std::abs(found.loss_sum / expected.loss_sum - 1), rounding.tolerance("loss"),
                    join("loss at step ", step));
      for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
        const std::string& name = graph.parameters[p].name;
        expect_near("gradient of " + name, step, sums[p],
                    [&](const Session& s) { return s.gradient(p); });
        for (std::size_t slot = 0; slot < rule.states(); ++slot) {
          expect_near(join("state ", slot, " of ", name), step, sums[p],
                      [&](const Session& s) { return s.state(p, slot); });
        }
        expect_near(name, step, sums[p], [&](const Session& s) { return s.parameter(p); });
      }
      if (HasFailure()) return;
    }
    EXPECT_EQ(gpu->steps_recorded(), true) << "steps were launched kernel by kernel";
    // All steps but the first and the partial one.
    if (GetParam() == Device::emulated) {
      EXPECT_EQ(graphs() - replayed, steps - (batch > 1 ? 2 : 1));
    }
  }

  /// The nodes that the last recorded step of the emulated device has are those that the plan
  /// counts: all, those beside the others, and kernels that start early.
  static void expect_recorded(const Graph& graph, std::uint32_t batch,
                              const std::string& precision) {
    Plan plan = make_plan(graph, batch);
    const Fused fused = fuse(plan, fusions_of_environment());
    const std::vector<Pass> passes = count_passes(plan, fused, precision);
    const EmulatedCounts& counts = emulated_counts();
    EXPECT_EQ(counts.recorded, passes.size()) << precision;
    EXPECT_EQ(counts.beside, std::ranges::count_if(passes, &Pass::beside)) << precision;
    EXPECT_EQ(counts.early, std::ranges::count_if(passes, &Pass::early)) << precision;
  }

  const Backend* cuda_ = nullptr;
  mutable double closest_ = 0;  // the largest share of what is allowed that a comparison found

  /// Steps replayed so far, on the emulated device.
  std::size_t graphs() const {
    return GetParam() == Device::emulated ? emulated_counts().graphs : 0;
  }
};

inline void PrintTo(Device device, std::ostream* out) {
  *out << (device == Device::real ? "real" : "emulated");
}

inline std::string device_label(const ::testing::TestParamInfo<Device>& device) {
  return device.param == Device::real ? "real" : "emulated";
}

}  // namespace feedrate::testing
