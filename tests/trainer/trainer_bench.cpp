// How much of a training step on the CPU is not its convolutions and dense layers?
//
//   bench_trainer [--json | --ops | --nodes] [--threads N] [--bf16] [NETWORK[,BATCH] …]
//
// trains on one resident batch of the network's published shape (default BATCH: its recipe's) and
// runs the products alone, in turns, so that load from other processes affects both. --ops and
// --nodes add the time of each operator or node; --json writes a row for each network.

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/base/cores.h"
#include "formats/base/statistics.h"
#include "formats/base/text.h"
#include "tests/trainer/batches.h"
#include "tests/trainer/trainer_limit.h"
#include "trainer/backends/backend.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

constexpr double seconds_each = 4;  // per network, approximately
constexpr std::size_t min_steps = 3, max_steps = 201;

struct Options {
  bool json = false, ops = false, nodes = false, bf16 = false;
  unsigned threads = usable_cores();
  std::vector<std::string> networks;
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The time of the steps, by operator or node.
class Profile {
 public:
  Profile(const Graph& graph, bool by_node) : graph_(graph), by_node_(by_node) {}

  /// Adds the times of one step and clears them.
  void take(std::vector<NodeSeconds>& times) {
    std::map<std::string, NodeSeconds> sums;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Node& node = graph_.nodes[i];
      NodeSeconds& sum = sums[by_node_ ? node.name : std::string(node.op->name())];
      sum.forward += times[i].forward;
      sum.backward += times[i].backward;
    }
    for (const auto& [name, sum] : sums) {
      const auto [best, first] = best_.try_emplace(name, sum);
      best->second.forward = std::min(best->second.forward, sum.forward);
      best->second.backward = std::min(best->second.backward, sum.backward);
    }
    times.assign(times.size(), {});
  }

  /// The shortest time over all steps, the longest first.
  void print() const {
    std::multimap<double, std::string, std::greater<>> lines;
    for (const auto& [name, best] : best_) {
      lines.emplace(best.forward + best.backward,
                    fmt::format("  {:24} {:9.2f} ms forward {:9.2f} ms backward", name,
                                1e3 * best.forward, 1e3 * best.backward));
    }
    for (const auto& [time, line] : lines) fmt::print("{}\n", line);
  }

 private:
  const Graph& graph_;
  bool by_node_;
  std::map<std::string, NodeSeconds> best_;
};

void compare(const Options& options, std::string_view name, std::uint32_t batch) {
  const Network& net = network(name);
  if (batch == 0) batch = net.recipe().batch;
  const Shape shape = net.published_input();
  const std::uint32_t classes = net.published_classes();
  std::vector<NodeSeconds> times;
  const auto session =
      backend("cpu").compile(make_plan(net.build(shape, classes), batch),
                             {.precision = options.bf16 ? "bf16" : "fp32",
                              .threads = options.threads,
                              .optimizer = &optimizer("sgd"),
                              .node_seconds = options.ops || options.nodes ? &times : nullptr});
  initialise(*session, 1);
  testing::RandomSource source({.shape = shape, .classes = classes, .batch = batch});
  session->upload(*source.next());
  const testing::Limit products(session->plan(), options.threads, options.bf16);
  const auto step = [&] { session->train_step({.rate = 1e-4, .momentum = 0.9}, 0); };
  step();
  products.step();
  times.assign(times.size(), {});
  Profile profile(session->plan().graph, options.nodes);
  std::vector<double> steps, limits;
  for (double spent = 0;
       steps.size() < min_steps || (spent < seconds_each && steps.size() < max_steps);) {
    steps.push_back(seconds(step));
    profile.take(times);
    limits.push_back(seconds([&] { products.step(); }));
    spent += steps.back() + limits.back();
  }
  const double ours = median(steps), limit = median(limits);
  if (options.json) {
    fmt::print(
        "{{\"network\": \"{}\", \"precision\": \"{}\", \"batch\": {}, \"threads\": {}, "
        "\"images_per_second\": {:.2f}, "
        "\"limit\": {:.2f}, \"ratio\": {:.3f}, \"steps\": {}}}\n",
        name, options.bf16 ? "bf16" : "fp32", batch, options.threads, batch / ours, batch / limit,
        limit / ours, steps.size());
  } else {
    fmt::print(
        "{}, batch {}, {} thread{}: {:.5g} images/s; its convolutions and dense layers alone "
        "{:.5g}; {:.0f} % of that limit\n",
        name, batch, options.threads, options.threads == 1 ? "" : "s", batch / ours, batch / limit,
        100 * limit / ours);
  }
  if (!options.ops && !options.nodes) return;
  profile.print();
  fmt::print("  {:24} {:9.2f} ms; the limit {:.2f} ms\n", "the whole step", 1e3 * ours,
             1e3 * limit);
}

Options read(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--bf16") {
      options.bf16 = true;
    } else if (word == "--ops") {
      options.ops = true;
    } else if (word == "--json") {
      options.json = true;
    } else if (word == "--nodes") {
      options.nodes = true;
    } else if (word == "--threads" && i + 1 < count) {
      options.threads = static_cast<unsigned>(std::max(1, std::stoi(words[++i])));
    } else {
      options.networks.push_back(word);
    }
  }
  if (options.networks.empty()) {
    options.networks = {"lenet",           "alexnet:cifar", "vgg16:cifar,128",  "resnet56",
                        "googlenet:cifar", "resnet50,8",    "googlenet:caffe,8"};
  }
  return options;
}

int run(int count, char** words) {
  const Options options = read(count, words);
  omp_set_num_threads(static_cast<int>(options.threads));
  for (const std::string& word : options.networks) {
    const std::size_t comma = word.find(',');
    const int batch = comma == std::string::npos ? 0 : std::stoi(word.substr(comma + 1));
    compare(options, word.substr(0, comma), static_cast<std::uint32_t>(batch));
  }
  return 0;
}

}  // namespace
}  // namespace feedrate::trainer

int main(int count, char** words) {
  try {
    return feedrate::trainer::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_trainer: {}\n", error.what());
    return 1;
  }
}
