// Ranks that train together on emulated devices. Each is a process, because the emulated device
// belongs to its process.

#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>

#include "tests/support/emulated_device.h"
#include "tests/support/free_port.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/cuda_parity.h"
#include "tests/trainer/forked_rank.h"
#include "trainer/communicators/tcp.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

/// A run of images of a batch.
class Share {
 public:
  Share(const RandomBatch& whole, std::uint32_t first, std::uint32_t count)
      : batch_(whole.batch()) {
    const std::size_t bytes = batch_.pixels.size() / batch_.count;
    batch_.pixels = batch_.pixels.subspan(first * bytes, count * bytes);
    batch_.labels = batch_.labels.subspan(first, count);
    batch_.count = count;
  }
  const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
};

class CudaRanks : public CudaParity {
 protected:
  void SetUp() override {
    CudaParity::SetUp();
    if (IsSkipped()) return;
    const fs::path emulated = beside_this_program("libfeedrate_cuda_emulated.so");
    setenv("FEEDRATE_NCCL", emulated.c_str(), 1);
  }
  void TearDown() override {
    CudaParity::TearDown();
    for (const char* name : {"FEEDRATE_NCCL", "FEEDRATE_EMULATED_NCCL", "FEEDRATE_EMULATED_CAPTURE",
                             "FEEDRATE_EMULATED_DEVICES", "FEEDRATE_EMULATED_FASTEST",
                             "FEEDRATE_EMULATED_OFFER", "OMPI_COMM_WORLD_LOCAL_RANK"}) {
      unsetenv(name);
    }
  }

  static Graph graph() {
    Builder b("shared", {8, 8, 3}, 5);
    const auto x = b.relu(b.conv(b.input(0.01), 6, 3, 1, 1, {}));
    return b.softmax_loss(b.dense(b.relu(b.dense(b.max_pool(x, 2, 2), 20, {})), 5, {}));
  }

  std::unique_ptr<Session> session_of(Communicator* communicator, std::uint32_t batch,
                                      const Graph& graph = CudaRanks::graph(),
                                      const std::string& precision = "fp32") const {
    SessionOptions wanted = options();
    wanted.communicator = communicator;
    wanted.precision = precision;
    auto session = cuda_->compile(make_plan(graph, batch), wanted);
    initialise(*session, 3);
    return session;
  }

  /// Runs `body` as both ranks; this process is the first.
  template <class Body>
  static void as_two(Body body) {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    Shared& shared = *new (memory) Shared{};
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        ForkedRank rank(shared, 1, 2);
        body(rank);
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "rank 1: %s\n", problem.what());
        _exit(1);
      }
      _exit(HasFailure() ? 1 : 0);
    }
    ForkedRank rank(shared, 0, 2);
    body(rank);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the other rank failed";
    munmap(memory, sizeof(Shared));
  }

  static Share half_of(const RandomBatch& images, const ForkedRank& rank) {
    const std::uint32_t all = images.batch().count, first = (all + 1) / 2;
    return rank.rank() == 0 ? Share(images, 0, first) : Share(images, first, all - first);
  }

  // Eight images in most steps; seven in one, so that only one rank has a whole batch; five in one.
  static std::uint32_t images_of(std::uint64_t step) { return step == 3 ? 7 : step == 5 ? 5 : 8; }
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaRanks, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaRanks, two_learn_what_one_learns_from_the_same_batches) {
  constexpr std::uint64_t steps = 8;
  std::vector<double> alone, allowed;
  const auto one = session_of(nullptr, 8);
  std::unique_ptr<Session> moved[Nudge::count];
  for (auto& session : moved) session = session_of(nullptr, 8);
  Rounding rounding;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto train = [&](Session& session) {
      session.upload(RandomBatch(graph(), images_of(step), step).batch());
      session.train_step(settings, step);
      return session.take_metrics().loss_sum;
    };
    alone.push_back(train(*one));
    for (unsigned i = 0; i < Nudge::count; ++i) {
      Nudge{i + 1}(*moved[i], step);
      rounding.saw("loss", std::abs(train(*moved[i]) / alone.back() - 1));
    }
    allowed.push_back(rounding.tolerance("loss") * alone.back());
  }
  const auto expect_near = [&](const Session& two, const std::string& what, const auto& see) {
    for (const auto& session : moved) {
      rounding.saw(what, relative_difference(see(*session), see(*one)));
    }
    EXPECT_LE(relative_difference(see(two), see(*one)), rounding.tolerance(what)) << what;
  };
  for (const char* capture : {"", "refused"}) {
    setenv("FEEDRATE_EMULATED_CAPTURE", capture, 1);
    as_two([&](ForkedRank& rank) {
      const std::size_t graphs = emulated_counts().graphs;
      const auto two = session_of(&rank, 4);
      for (std::uint64_t step = 0; step < steps; ++step) {
        const RandomBatch images(graph(), images_of(step), step);
        two->upload(half_of(images, rank).batch());
        two->train_step(settings, step);
        const Metrics found = two->take_metrics();
        EXPECT_EQ(found.images, images_of(step));
        EXPECT_NEAR(found.loss_sum, alone[step], allowed[step]) << "step " << step;
      }
      for (std::size_t p = 0; p < graph().parameters.size(); ++p) {
        const std::string name = graph().parameters[p].name;
        expect_near(*two, name, [&](const Session& s) { return s.parameter(p); });
        expect_near(*two, "gradient of " + name, [&](const Session& s) { return s.gradient(p); });
      }
      EXPECT_EQ(emulated_counts().graphs - graphs, *capture == '\0' ? steps - 3 : 0);
    });
  }
}

TEST_P(CudaRanks, two_in_16_bits_learn_what_one_learns) {
  constexpr double near = 2e-2;
  constexpr std::uint64_t steps = 6;
  for (const std::string precision : {"bf16", "fp16"}) {
    const LossScale kept{.scale = 256};  // one that is halved would leave out a step
    const auto one = session_of(nullptr, 8, graph(), precision);
    one->set_loss_scale(kept);
    std::vector<double> alone;
    for (std::uint64_t step = 0; step < steps; ++step) {
      one->upload(RandomBatch(graph(), images_of(step), step).batch());
      one->train_step(settings, step);
      alone.push_back(one->take_metrics().loss_sum);
    }
    as_two([&](ForkedRank& rank) {
      const auto two = session_of(&rank, 4, graph(), precision);
      two->set_loss_scale(kept);
      for (std::uint64_t step = 0; step < steps; ++step) {
        const RandomBatch images(graph(), images_of(step), step);
        two->upload(half_of(images, rank).batch());
        two->train_step(settings, step);
        EXPECT_NEAR(two->take_metrics().loss_sum / alone[step], 1, near) << precision;
      }
      for (std::size_t p = 0; p < graph().parameters.size(); ++p) {
        const std::vector<float> mine = two->parameter(p);
        if (graph().parameters[p].shape.size() > 1) {  // biases start at 0 and stay small
          EXPECT_LT(relative_difference(mine, one->parameter(p)), near)
              << precision << ", " << graph().parameters[p].name;
        }
        const std::size_t some = std::min<std::size_t>(200, mine.size());
        std::vector<double> sum(mine.data(), mine.data() + some);
        const std::vector<double> own = sum;
        rank.sum(sum);
        for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(sum[i], 2 * own[i]);
      }
    });
  }
}

// Only one rank's filters have gradients that fp16 does not hold: the other's image is black.
TEST_P(CudaRanks, an_overflow_of_one_in_a_convolution_leaves_the_step_out_on_both) {
  as_two([&](ForkedRank& rank) {
    const auto session = session_of(&rank, 4, graph(), "fp16");
    session->set_loss_scale({.scale = 1U << 14, .good_steps = 3});
    // Small outputs of the convolution and large weights behind it: its gradients alone are large.
    const auto grow = [&](std::size_t p, float times) {
      std::vector<float> values = session->parameter(p);
      for (float& value : values) value *= times;
      session->set_parameter(p, values);
    };
    grow(0, 0.02F);
    grow(2, 30);
    const auto parameters = [&] {
      std::vector<std::vector<float>> all;
      for (std::size_t p = 0; p < graph().parameters.size(); ++p) {
        all.push_back(session->parameter(p));
      }
      return all;
    };
    const auto before = parameters();
    RandomBatch images(graph(), 4, 1);
    images.fill(rank.rank() == 0 ? 0 : 255);
    session->upload(images.batch());
    session->train_step(settings, 0);
    session->wait();
    for (std::size_t p = 0; p < graph().parameters.size(); ++p) {
      EXPECT_EQ(std::ranges::all_of(session->gradient(p), [](float g) { return std::isfinite(g); }),
                p != 0)
          << graph().parameters[p].name;
    }
    EXPECT_EQ(session->loss_scale()->scale, 1U << 13);
    EXPECT_EQ(session->loss_scale()->good_steps, 0U);
    EXPECT_FALSE(session->divergence());
    EXPECT_EQ(parameters(), before);
  });
}

// A network with a norm, whose running statistics no rank may change on its own.
Graph normed() {
  Builder b("normed", {8, 8, 3}, 5);
  const auto norm = b.batch_norm(b.conv(b.input(0.01), 6, 3, 1, 1, {}), {});
  return b.softmax_loss(b.dense(b.relu(norm), 5, {}));
}

TEST_P(CudaRanks, a_loss_that_is_not_finite_on_one_teaches_none) {
  for (const char* capture : {"", "refused"}) {
    setenv("FEEDRATE_EMULATED_CAPTURE", capture, 1);
    as_two([&](ForkedRank& rank) {
      const auto session = session_of(&rank, 4, normed());
      const auto parameters = [&] {
        std::vector<std::vector<float>> all;
        for (std::size_t p = 0; p < normed().parameters.size(); ++p) {
          all.push_back(session->parameter(p));
        }
        return all;
      };
      std::vector<std::vector<float>> before;
      double stopped = 0;  // ranks
      std::uint64_t step = 0;
      for (; step < 6 && stopped == 0; ++step) {
        if (step == 2) {
          if (rank.rank() == 1) {
            std::vector<float> bias = session->parameter(7);
            bias[0] = std::nanf("");
            session->set_parameter(7, bias);
          }
          session->wait();
          before = parameters();
        }
        // One rank waits for the step before the upload, the other after it.
        if (rank.rank() == 0) session->parameter(0);
        session->upload(RandomBatch(normed(), 4, step).batch());
        stopped = session->divergence() ? 1 : 0;
        if (rank.rank() == 1) session->parameter(0);
        rank.sum({&stopped, 1});
        if (stopped == 0) session->train_step(settings, step);
      }
      EXPECT_EQ(stopped, 2) << "before step " << step - 1;
      session->wait();
      ASSERT_TRUE(session->divergence());
      EXPECT_EQ(session->divergence()->step, 2U);
      EXPECT_EQ(session->divergence()->layer,
                rank.rank() == 1 ? "dense1" : "a layer of another rank");
      EXPECT_EQ(session->divergence()->parameter, rank.rank() == 1 ? "dense1.bias" : "");
      const auto after = parameters();
      for (std::size_t p = 0; p + 1 < before.size(); ++p) EXPECT_EQ(after[p], before[p]) << p;
    });
  }
}

TEST_P(CudaRanks, the_first_chooses_the_engines_of_all_by_name) {
  const TempDirectory directory;
  constexpr std::size_t firsts = 8, seconds = 7;  // places in the emulated cuDNN's list
  as_two([&](ForkedRank& rank) {
    // Alone, each rank would choose another engine, and the second is offered a reversed list.
    setenv("FEEDRATE_EMULATED_FASTEST", std::to_string(rank.rank() == 0 ? firsts : seconds).c_str(),
           1);
    if (rank.rank() == 1) setenv("FEEDRATE_EMULATED_OFFER", "reversed", 1);
    setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    const auto session = session_of(&rank, 4);
    const auto before = emulated_counts().convolutions;
    session->upload(RandomBatch(graph(), 4, 1).batch());
    session->train_step(settings, 0);
    session->wait();
    const auto& after = emulated_counts().convolutions;
    EXPECT_EQ(after[firsts] - before[firsts], 2U) << "forward and filters";
    EXPECT_EQ(after[seconds], before[seconds]);
  });
}

/// The second of two ranks; it receives zeros, which are no engine's name.
class Second : public TrainingRank {
 public:
  unsigned rank() const override { return 1; }
  unsigned ranks() const override { return 2; }
  void begin_sum(std::span<float>) override {}
  void progress() override {}
  void finish() override {}
  void sum(std::span<double>) override {}
  void broadcast(MutableBytes bytes) override { std::ranges::fill(bytes, std::byte{0}); }
  void close() override {}
};

TEST_P(CudaRanks, one_that_is_not_offered_the_firsts_engine_says_so) {
  Second second;
  expect_error([&] { session_of(&second, 4); }, {"conv1", "rank 1", "the same GPU"});
}

TEST_P(CudaRanks, without_nccl_they_are_refused_and_one_is_not) {
  setenv("FEEDRATE_EMULATED_NCCL", "fails", 1);
  as_two([&](ForkedRank& rank) {
    expect_error([&] { session_of(&rank, 4); }, {"NCCL", "ncclCommInitRank", "emulated failure"});
  });
  session_of(nullptr, 4);
}

// NCCL would wait for one that failed while it made its session; its end is seen on the hosts.
TEST_P(CudaRanks, they_meet_on_the_hosts_before_nccl_waits_for_all) {
  class Left final : public Second {
    void sum(std::span<double>) override { throw Error("rank 0 of 2 ended early"); }
  };
  Left left;
  Builder b("dense", {2, 2, 1}, 3);
  const Graph graph = b.softmax_loss(b.dense(b.input(0.01), 3, {}));
  expect_error([&] { session_of(&left, 4, graph); }, {"rank 0 of 2 ended early"});
}

TEST_P(CudaRanks, after_a_failure_none_waits_for_sums_that_another_left_undone) {
  as_two([&](ForkedRank& rank) {
    const auto fails = [&] {
      const auto session = session_of(&rank, 4);
      session->upload(half_of(RandomBatch(graph(), 8, 0), rank).batch());
      session->train_step(settings, 0);
      if (rank.rank() == 1) _exit(0);  // its part of the sums has not run
      throw Error("rank 1 of 2 ended early");
    };
    expect_error(fails, {"rank 1 of 2 ended early"});
  });
}

TEST_P(CudaRanks, none_waits_on_its_device_for_one_that_has_ended) {
  const std::uint16_t port = free_port();
  as_two([&](ForkedRank& forked) {
    const auto hosts = join_tcp({forked.rank(), 2, {"127.0.0.1", port}, std::chrono::seconds(20)});
    const auto session = session_of(hosts.get(), 4);
    session->upload(half_of(RandomBatch(graph(), 8, 0), forked).batch());
    session->train_step(settings, 0);
    session->wait();
    session->upload(half_of(RandomBatch(graph(), 8, 1), forked).batch());
    if (forked.rank() == 1) {
      double images = 4;
      hosts->sum({&images, 1});  // what the other's step begins with
      _exit(0);
    }
    session->train_step(settings, 1);
    const std::string lost = "rank 1 of 2 ended early";
    expect_error([&] { session->wait(); }, {lost});
    expect_error([&] { session->parameter(0); }, {lost});
    expect_error([&] { session->upload(RandomBatch(graph(), 4, 2).batch()); }, {lost});
  });
}

TEST_P(CudaRanks, each_takes_the_device_of_its_number_on_the_machine) {
  const Backend* cuda =
      load_backend("cuda", {beside_this_program("libfeedrate_cuda_emulated.so")}).backend;
  EXPECT_EQ(cuda->pci_bus_id(), "0000:00:00.0");
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "2", 1);
  EXPECT_EQ(cuda->pci_bus_id(), "0000:00:00.0") << "the only one it is shown";
  setenv("FEEDRATE_EMULATED_DEVICES", "4", 1);
  EXPECT_EQ(cuda->pci_bus_id(), "0000:02:00.0");
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "2x", 1);
  expect_error([&] { cuda->pci_bus_id(); }, {"OMPI_COMM_WORLD_LOCAL_RANK is '2x'"});
}

}  // namespace
}  // namespace feedrate::testing
