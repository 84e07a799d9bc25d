// Steps recorded as CUDA graphs: replaying them gives the same results as launching their kernels.

#include <array>

#include "tests/support/emulated_device.h"
#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

// Uses all that changes from step to step: dropout's mask, the rate, Adam's step count, both input
// buffers.
Graph restless() {
  Builder b("restless", {8, 8, 3}, 5);
  const auto x = b.relu(b.batch_norm(b.conv(b.input(0.01), 6, 3, 1, 1, {}), {}));
  return b.softmax_loss(b.dense(b.dropout(b.max_pool(x, 2, 2), 0.4), 5, {}));
}

struct Seen {
  std::vector<std::vector<float>> values;  // of parameters, state and gradients
  std::vector<double> losses;
  // Not compared: they must not change the results.
  std::optional<bool> recorded{};
  std::optional<Overlap> early{}, branch{};
  bool operator==(const Seen& other) const {
    return values == other.values && losses == other.losses;
  }
};

/// Only of the emulated device, which counts and can be told what to refuse.
class CudaReplay : public CudaParity {
 protected:
  void TearDown() override {
    CudaParity::TearDown();
    unsetenv("FEEDRATE_EMULATED_CAPTURE");
  }

  static UpdateSettings at(std::uint64_t step) {
    return {.rate = 0.02 / static_cast<double>(step + 1), .momentum = 0.9, .decay = 1e-3};
  }

  Seen train_nine_steps() const {
    const Graph graph = restless();
    const Optimizer& rule = optimizer("adam");
    const auto session = start(*cuda_, graph, 6, rule);
    Seen seen;
    EXPECT_FALSE(session->steps_recorded()) << "nothing was tried yet";
    for (std::uint64_t step = 0; step < 9; ++step) {
      session->upload(RandomBatch(graph, step == 4 ? 5 : 6, step).batch());
      session->train_step(at(step), step);
      if (step % 3 == 2) {
        seen.losses.push_back(session->take_metrics().loss_sum);
        session->evaluate_step();
        seen.losses.push_back(session->take_metrics().loss_sum);
      }
    }
    seen.recorded = session->steps_recorded();
    seen.early = session->early_kernels();
    seen.branch = session->weight_branch();
    for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
      seen.values.push_back(session->parameter(p));
      seen.values.push_back(session->gradient(p));
      for (std::size_t slot = 0; slot < rule.states(); ++slot) {
        seen.values.push_back(session->state(p, slot));
      }
    }
    return seen;
  }
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaReplay, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaReplay, replayed_steps_give_the_bits_of_steps_given_kernel_by_kernel) {
  const std::size_t graphs = emulated_counts().graphs;
  const Seen replayed = train_nine_steps();
  EXPECT_EQ(replayed.recorded, true);
  // Of nine steps, the first and the one with a partial batch are launched kernel by kernel.
  EXPECT_EQ(emulated_counts().graphs - graphs, 7U + 2U);
  EXPECT_GT(replayed.losses.at(0), 0);
  for (const char* mode : {"refused", "broken", "too large"}) {
    setenv("FEEDRATE_EMULATED_CAPTURE", mode, 1);
    const std::size_t before = emulated_counts().graphs;
    const Seen plain = train_nine_steps();
    EXPECT_EQ(plain, replayed) << mode;
    EXPECT_EQ(plain.recorded, false) << mode;
    EXPECT_EQ(emulated_counts().graphs, before) << "a step that cannot be recorded is not replayed";
  }
}

TEST_P(CudaReplay, a_session_tells_what_overlaps_and_why_other_work_does_not) {
  const Seen both = train_nine_steps();
  EXPECT_TRUE(both.early && both.early->on) << (both.early ? both.early->off_because : "untried");
  EXPECT_TRUE(both.branch && both.branch->on);
  setenv("FEEDRATE_EMULATED_CAPTURE", "no early kernels", 1);
  const Seen late = train_nine_steps();
  EXPECT_EQ(late, both);
  EXPECT_EQ(late.recorded, true) << "a step is recorded without them";
  ASSERT_TRUE(late.early && late.branch);
  EXPECT_FALSE(late.early->on);
  EXPECT_TRUE(late.early->off_because.starts_with("a step with it cannot be recorded: CUDA"))
      << late.early->off_because;
  EXPECT_TRUE(late.branch->on);
  unsetenv("FEEDRATE_EMULATED_CAPTURE");
  setenv("FEEDRATE_UNFUSED", "weight-branch,early-kernels", 1);
  const Seen neither = train_nine_steps();
  unsetenv("FEEDRATE_UNFUSED");
  for (const std::optional<Overlap>& overlap : {neither.early, neither.branch}) {
    ASSERT_TRUE(overlap);
    EXPECT_FALSE(overlap->on);
    EXPECT_NE(overlap->off_because.find("FEEDRATE_UNFUSED"), std::string::npos);
  }
}

TEST_P(CudaReplay, a_batch_may_be_trained_on_twice_and_the_steps_still_differ) {
  const Graph graph = restless();
  const auto session = start(*cuda_, graph, 6);
  const auto other = start(*cuda_, graph, 6);
  const RandomBatch images(graph, 6, 1);
  for (std::uint64_t step = 0; step < 4; ++step) {
    if (step == 0) session->upload(images.batch());
    session->train_step(at(step), step);
    other->upload(images.batch());
    other->train_step(at(step), step);
    other->wait();
  }
  for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
    EXPECT_EQ(session->parameter(p), other->parameter(p));
  }
}

TEST_P(CudaReplay, after_the_first_step_nothing_is_allocated_and_a_step_is_one_launch) {
  const Graph graph = restless();
  const auto session = start(*cuda_, graph, 6);
  auto step = [&, number = std::uint64_t{0}]() mutable {
    session->upload(RandomBatch(graph, 6, number).batch());
    session->train_step(at(number), number);
    ++number;
  };
  step();
  const EmulatedCounts first = emulated_counts();
  for (int i = 0; i < 4; ++i) step();
  const EmulatedCounts later = emulated_counts();
  EXPECT_EQ(later.allocations, first.allocations);
  EXPECT_EQ(later.graphs - first.graphs, 4U);
  EXPECT_EQ(later.captures, first.captures) << "recorded once, in the first step";
  EXPECT_EQ(later.kernels - first.kernels, 4U) << "the one that writes the settings";
  EXPECT_EQ(later.refusals, first.refusals);
}

TEST_P(CudaReplay, a_wait_polls_for_a_short_time_and_then_blocks) {
  const Graph graph = restless();
  const auto steps = [&] {
    const auto session = start(*cuda_, graph, 6);
    const EmulatedCounts before = emulated_counts();
    for (std::uint64_t step = 0; step < 4; ++step) {
      session->upload(RandomBatch(graph, 6, step).batch());
      session->train_step(at(step), step);
    }
    const EmulatedCounts after = emulated_counts();
    return std::pair(after.polls - before.polls, after.blocks - before.blocks);
  };
  // On a device that finishes nothing by itself, each copy, and each step but the last two.
  const auto [polls, blocks] = steps();
  EXPECT_GT(polls, blocks);
  EXPECT_EQ(blocks, 4U + 2U);
  setenv("FEEDRATE_EMULATED_POLLS", "3", 1);
  const auto [more_polls, no_blocks] = steps();
  unsetenv("FEEDRATE_EMULATED_POLLS");
  EXPECT_EQ(more_polls, 3U * (4 + 2));
  EXPECT_EQ(no_blocks, 0U);
}

// The emulated device must refuse what a real one refuses; otherwise tests on it prove little.
class CudaCapture : public CudaReplay {
 protected:
  using Handle = void*;
  template <class... Arguments>
  static int call(const char* name, Arguments... arguments) {
    return reinterpret_cast<int (*)(Arguments...)>(emulated_symbol(name))(arguments...);
  }
  static constexpr int thread_local_mode = 1;
  static constexpr int nothing = 0;  // cudaMemcpyHostToHost

  void SetUp() override {
    CudaReplay::SetUp();
    if (IsSkipped()) return;
    for (Handle& stream : streams_) call("cudaStreamCreateWithFlags", &stream, 1U);
    for (Handle& event : events_) call("cudaEventCreateWithFlags", &event, 2U);
  }
  void TearDown() override {
    CudaReplay::TearDown();
    for (Handle stream : streams_) call("cudaStreamDestroy", stream);
    for (Handle event : events_) call("cudaEventDestroy", event);
  }
  int copy(Handle stream, int& to, const int& from) {
    return call("cudaMemcpyAsync", static_cast<void*>(&to), static_cast<const void*>(&from),
                sizeof(int), nothing, stream);
  }
  int begin() { return call("cudaStreamBeginCapture", streams_[0], thread_local_mode); }
  int end() {
    graph_ = nullptr;
    const int status = call("cudaStreamEndCapture", streams_[0], &graph_);
    return status;
  }

  std::array<Handle, 2> streams_{};
  std::array<Handle, 2> events_{};
  Handle graph_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaCapture, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaCapture, a_call_that_waits_or_allocates_ends_it) {
  int from = 1, to = 0;
  void* memory = nullptr;
  const std::vector<std::function<int()>> forbidden = {
      [&] { return call("cudaMalloc", &memory, std::size_t{8}); },
      [&] { return call("cudaFree", memory); },
      [&] { return call("cudaHostAlloc", &memory, std::size_t{8}, 0U); },
      [&] { return call("cudaStreamSynchronize", streams_[0]); },
      [&] { return call("cudaDeviceSynchronize"); },
      [&] { return call("cudaEventSynchronize", events_[0]); },
      [&] { return call("cudaMemcpy", &to, &from, sizeof(int), nothing); },
      [&] { return call("cudaMemset", &to, 0, sizeof(int)); },
      [&] { return copy(nullptr, to, from); },
      // an event from before the capture: nothing in a graph could wait for it
      [&] { return call("cudaStreamWaitEvent", streams_[0], events_[0], 0U); },
  };
  for (std::size_t i = 0; i < forbidden.size(); ++i) {
    call("cudaEventRecord", events_[0], streams_[0]);
    ASSERT_EQ(begin(), 0);
    EXPECT_EQ(copy(streams_[0], to, from), 0);
    EXPECT_NE(forbidden[i](), 0) << i;
    EXPECT_NE(copy(streams_[0], to, from), 0) << "the capture is lost";
    EXPECT_NE(end(), 0) << i;
    EXPECT_EQ(graph_, nullptr);
    EXPECT_EQ(to, 0) << "nothing of it was run";
  }
}

TEST_P(CudaCapture, what_is_recorded_runs_at_each_launch_with_the_memory_of_then) {
  int from = 1, to = 0;
  ASSERT_EQ(begin(), 0);
  EXPECT_EQ(copy(streams_[0], to, from), 0);
  ASSERT_EQ(end(), 0);
  Handle exec = nullptr;
  ASSERT_EQ(call("cudaGraphInstantiate", &exec, graph_, 0ULL), 0);
  call("cudaGraphDestroy", graph_);
  call("cudaStreamSynchronize", streams_[0]);
  EXPECT_EQ(to, 0);
  for (const int value : {5, 6}) {
    from = value;
    call("cudaGraphLaunch", exec, streams_[0]);
    call("cudaStreamSynchronize", streams_[0]);
    EXPECT_EQ(to, value);
  }
  call("cudaGraphExecDestroy", exec);
}

TEST_P(CudaCapture, a_second_stream_must_be_waited_for) {
  int from = 1, to = 0, last = 0;
  for (const bool joined : {false, true}) {
    ASSERT_EQ(begin(), 0);
    call("cudaEventRecord", events_[0], streams_[0]);
    EXPECT_EQ(call("cudaStreamWaitEvent", streams_[1], events_[0], 0U), 0);
    EXPECT_EQ(copy(streams_[1], to, from), 0);
    if (joined) {
      call("cudaEventRecord", events_[1], streams_[1]);
      EXPECT_EQ(call("cudaStreamWaitEvent", streams_[0], events_[1], 0U), 0);
    }
    EXPECT_EQ(copy(streams_[0], last, to), 0);
    EXPECT_EQ(end() == 0, joined);
  }
  Handle exec = nullptr;
  ASSERT_EQ(call("cudaGraphInstantiate", &exec, graph_, 0ULL), 0);
  call("cudaGraphDestroy", graph_);
  call("cudaGraphLaunch", exec, streams_[0]);
  call("cudaStreamSynchronize", streams_[0]);
  call("cudaGraphExecDestroy", exec);
  EXPECT_EQ(last, 1);
}

// The branch waits for less than it reads. Where it runs late, that makes no difference.
TEST_P(CudaCapture, a_branch_that_begins_too_early_shows_where_branches_run_early) {
  int from = 1, to = 0, last = 0;
  ASSERT_EQ(begin(), 0);
  call("cudaEventRecord", events_[0], streams_[0]);  // should come after the copy
  EXPECT_EQ(copy(streams_[0], to, from), 0);
  EXPECT_EQ(call("cudaStreamWaitEvent", streams_[1], events_[0], 0U), 0);
  EXPECT_EQ(copy(streams_[1], last, to), 0);
  call("cudaEventRecord", events_[1], streams_[1]);
  EXPECT_EQ(call("cudaStreamWaitEvent", streams_[0], events_[1], 0U), 0);
  ASSERT_EQ(end(), 0);
  Handle exec = nullptr;
  ASSERT_EQ(call("cudaGraphInstantiate", &exec, graph_, 0ULL), 0);
  call("cudaGraphDestroy", graph_);
  for (const bool early : {false, true}) {
    setenv("FEEDRATE_EMULATED_BRANCHES", early ? "early" : "late", 1);
    to = 0;
    call("cudaGraphLaunch", exec, streams_[0]);
    call("cudaStreamSynchronize", streams_[0]);
    EXPECT_EQ(last, early ? 0 : 1);
  }
  unsetenv("FEEDRATE_EMULATED_BRANCHES");
  call("cudaGraphExecDestroy", exec);
}

}  // namespace
}  // namespace feedrate::testing
