#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/temp_directory.h"
#include "tests/trainer/batches.h"
#include "trainer/checkpoint.h"
#include "trainer/network.h"
#include "trainer/trainer.h"

namespace {
std::atomic<std::uint64_t> allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// Every allocation of the program by new is counted.
void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace feedrate {
namespace {

using testing::RandomSource;

std::unique_ptr<Session> session_of(const Graph& graph, unsigned threads) {
  auto session = backend("cpu").compile(make_plan(graph, 32),
                                        {.threads = threads, .optimizer = &optimizer("sgd")});
  initialise(*session, 4);
  return session;
}

// A network of oneDNN's convolutions, dropout among them.
Graph blocked_network() {
  Builder b("blocked", {28, 28, 1}, 10);
  auto x = b.relu(b.conv(b.input(1.0 / 256), 16, 3, 2, 1, {}));
  x = b.dropout(b.relu(b.conv(x, 32, 3, 1, 1, {})), 0.2);
  x = b.max_pool(b.relu(b.conv(x, 32, 3, 1, 1, {})), 2, 2);
  return b.softmax_loss(b.dense(x, 10, {}));
}

std::vector<Graph> graphs() {
  return {network("lenet").build({28, 28, 1}, 10), network("mlp").build({28, 28, 1}, 10),
          blocked_network()};
}

constexpr RandomSource::Options data{.batch = 32, .images = 300, .epochs = 2};

struct Course {
  std::vector<double> losses;
  std::vector<std::vector<float>> parameters;
  bool operator==(const Course&) const = default;
};

// Trains from `first` on and tells every loss and where the parameters came to.
Course course(Session& session, std::uint64_t first, std::uint64_t steps) {
  RandomSource source(data);
  source.skip(first);
  Course result;
  const TrainResult trained =
      train(session, source,
            {.schedule = {.policy = "inv", .rate = 0.01, .gamma = 1e-2, .power = 0.75},
             .decay = 5e-4,
             .steps = steps,
             .first_step = first,
             .report_every = 1});
  for (const auto& progress : trained.curve) result.losses.push_back(progress.loss);
  for (std::size_t i = 0; i < session.plan().graph.parameters.size(); ++i) {
    result.parameters.push_back(session.parameter(i));
  }
  return result;
}

TEST(ConformanceDeterminism, the_same_calls_give_the_same_bits) {
  for (const Graph& graph : graphs()) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      const Course once = course(*session_of(graph, threads), 0, 12);
      const Course again = course(*session_of(graph, threads), 0, 12);
      EXPECT_TRUE(once == again) << graph.network << " with " << threads << " threads";
      EXPECT_NE(once.losses.front(), once.losses.back());
    }
  }
}

TEST(ConformanceDeterminism, resumed_from_a_checkpoint_it_ends_in_the_same_bits) {
  const testing::TempDirectory directory;
  for (const Graph& graph : graphs()) {
    const Course whole = course(*session_of(graph, 2), 0, 14);
    const auto first = session_of(graph, 2);
    course(*first, 0, 6);
    save_checkpoint(directory / "half", *first, {.network = graph.network, .seed = 4, .step = 6});

    const auto second = session_of(graph, 2);
    const Position position = load_checkpoint(directory / "half", *second);
    const Course rest = course(*second, position.step, 8);
    EXPECT_TRUE(rest.parameters == whole.parameters) << graph.network;
    EXPECT_TRUE(std::equal(rest.losses.begin(), rest.losses.end(), whole.losses.begin() + 6))
        << graph.network;
  }
}

TEST(ConformanceDeterminism, any_number_of_threads_gives_nearly_the_same_loss) {
  for (const Graph& graph : graphs()) {
    const Course one = course(*session_of(graph, 1), 0, 5);
    const Course three = course(*session_of(graph, 3), 0, 5);
    for (std::size_t i = 0; i < one.losses.size(); ++i) {
      EXPECT_NEAR(one.losses[i], three.losses[i], 1e-5 * one.losses[i]) << graph.network;
    }
  }
}

TEST(UnitCpuSession, a_step_allocates_nothing) {
  for (const Graph& graph : graphs()) {
    // oneDNN keeps a table of its arguments for the length of a call, which is not ours to change.
    if (graph.network == "blocked") continue;
    const auto session = session_of(graph, 2);
    RandomSource source(data);
    const Batch& batch = *source.next();
    session->upload(batch);
    session->train_step({}, 0);
    const std::uint64_t before = allocations;
    session->upload(batch);
    session->train_step({}, 1);
    session->evaluate_step();
    session->take_metrics();
    EXPECT_EQ(allocations - before, 0U) << graph.network;
  }
}

}  // namespace
}  // namespace feedrate
