#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>

#include "formats/base/error.h"
#include "tests/trainer/products_fit.h"
#include "trainer/backends/cpu/memory.h"
#include "trainer/backends/cpu/products/bf16_dense.h"
#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/products/gemm_conv.h"
#include "trainer/backends/cpu/products/onednn_conv.h"
#include "trainer/backends/cpu/products/product_choice.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::testing {
using namespace trainer::cpu;

namespace {

constexpr double seconds_each = 0.5;  // for all ways of a layer
constexpr int min_rounds = 3, max_rounds = 200;
constexpr std::int64_t block = 16;

// A layer with memory of its own, as it would lie in a session.
class BoundLayer {
 public:
  BoundLayer(std::unique_ptr<Layer> layer, const LayerSite& site) : layer_(std::move(layer)) {
    Buffers buffers;
    const auto images = static_cast<std::size_t>(site.batch);
    const auto values = [&](const Layout& layout, ValueType type) {
      return take(static_cast<std::size_t>(layout.elements()) * images * bytes_of(type));
    };
    buffers.input = values(site.input, site.input_type);
    buffers.inputs = {buffers.input};
    buffers.output = values(layer_->output(), site.type);
    buffers.output_gradient = values(layer_->output(), site.type);
    if (site.input_learns) buffers.input_gradient = values(site.input, site.input_type);
    buffers.input_gradients = {buffers.input_gradient};
    for (std::size_t k = 0; k < site.node().parameters.size(); ++k) {
      const std::size_t bytes = layer_->stored_size(k) * sizeof(float);
      buffers.parameters.push_back(reinterpret_cast<float*>(take(bytes)));
      buffers.gradients.push_back(reinterpret_cast<float*>(take(bytes)));
    }
    buffers.saved = take(layer_->saved_bytes());
    buffers.scratch = take(layer_->scratch_bytes());
    layer_->bind(buffers);
  }
  void run() {
    Step step;
    step.training = true;
    layer_->forward(step);
    layer_->backward(step);
  }

 private:
  std::byte* take(std::size_t bytes) {
    memory_.push_back(std::make_unique<Memory>(bytes));
    return memory_.back()->at(0);
  }

  std::unique_ptr<Layer> layer_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

// The three matrix products of a dense layer.
class DenseProducts {
 public:
  DenseProducts(const LayerSite& site)
      : batch_(site.batch),
        inputs_(site.input.extent.elements()),
        units_(site.node().extent.channels),
        threads_(site.threads),
        input_learns_(site.input_learns),
        in_(static_cast<std::size_t>(batch_ * inputs_), 0.01F),
        out_(static_cast<std::size_t>(batch_ * units_), 0.01F),
        weights_(static_cast<std::size_t>(units_ * inputs_), 0.01F) {}

  void run(void (*by)(const Gemm&)) {
    const std::int64_t n = batch_, k = inputs_, u = units_;
    const Matrix in{in_.data(), k}, weights{weights_.data(), k};
    run_shared({n, u, k, in, {weights.data, k, true}, 0, out_.data(), u}, threads_, by);
    run_shared({u, k, n, {out_.data(), u, true}, in, 0, weights_.data(), k}, threads_, by);
    if (!input_learns_) return;
    run_shared({n, k, u, {out_.data(), u}, weights, 0, in_.data(), k}, threads_, by);
  }

 private:
  std::int64_t batch_, inputs_, units_;
  unsigned threads_;
  bool input_learns_;
  std::vector<float> in_, out_, weights_;
};

using Ways = std::vector<std::function<void()>>;

// The shortest time of each way, over rounds in which each runs once; the first does not count.
std::vector<double> shortest(const Ways& ways) {
  std::vector<double> best(ways.size(), std::numeric_limits<double>::infinity());
  double spent = 0;
  for (int round = 0; round < min_rounds || (round < max_rounds && spent < seconds_each); ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      ways[i]();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      spent += took.count();
      if (round > 0) best[i] = std::min(best[i], took.count());
    }
  }
  return best;
}

// The site as it would be between layers of one precision, in the layout that suits its way.
LayerSite placed(LayerSite site, std::int64_t channel_block, ValueType type) {
  site.input.block = channel_block;
  site.inputs = {site.input};
  site.type = site.input_type = type;
  site.bf16 = type == ValueType::bf16;
  return site;
}

template <class Make>
std::function<void()> way(const LayerSite& site, const Make& make) {
  const auto bound = std::make_shared<BoundLayer>(make(site), site);
  return [bound] { bound->run(); };
}

void measure_convolution(LayerWays& layer) {
  const LayerSite& site = layer.site;
  const std::int64_t channels = site.input.extent.channels;
  const std::int64_t blocked = channels % block == 0 ? block : channels;
  Ways ways{way(placed(site, blocked, ValueType::fp32), make_onednn_conv)};
  const bool by_gemm = site.node().attributes.integer("groups") <= 1;
  if (by_gemm) {
    ways.push_back(way(placed(site, channels, ValueType::fp32), [](const LayerSite& own) {
      return std::unique_ptr<Layer>(std::make_unique<GemmConv>(own));
    }));
  }
  if (multiplies_bf16()) {
    ways.push_back(way(placed(site, blocked, ValueType::bf16), make_onednn_conv));
  }
  const std::vector<double> took = shortest(ways);
  layer.onednn = took.front();
  if (by_gemm) layer.gemm = took[1];
  if (multiplies_bf16()) layer.bf16 = took.back();
}

void measure_dense(LayerWays& layer) {
  const LayerSite& site = layer.site;
  const auto products = std::make_shared<DenseProducts>(site);
  Ways ways{[products] { products->run(run_by_openblas); },
            [products] { products->run(run_by_onednn); }};
  if (multiplies_bf16()) {
    ways.push_back(way(placed(site, site.input.extent.channels, ValueType::bf16), make_bf16_dense));
  }
  const std::vector<double> took = shortest(ways);
  layer.gemm = took[0], layer.onednn = took[1];
  if (multiplies_bf16()) layer.bf16 = took[2];
  layer.gemm_macs =
      site.batch * site.input.extent.elements() * site.node().extent.channels / site.threads;
}

}  // namespace

std::string LayerWays::text() const {
  const Extent& in = site.input.extent;
  const Attributes& attributes = site.node().attributes;
  const bool conv = gemm_macs == 0;
  return fmt::format(
      "{:20} {:10} {:4} x {:4}x{:3}x{:3} -> {:4}{:12} {}: {} {:.3f}, oneDNN {:.3f}, "
      "bf16 {:.3f}",
      network, site.node().name, repeats, in.channels, in.height, in.width,
      site.node().extent.channels,
      conv ? fmt::format(" k{} s{}", attributes.integer("kernel"), attributes.integer("stride"))
           : "",
      cpu::gains_by_bf16(site) ? "bf16" : "fp32", conv ? "gemm" : "OpenBLAS",
      1e3 * gemm.value_or(0), 1e3 * onednn, 1e3 * bf16.value_or(0));
}

std::vector<LayerWays> measure_layers(const std::string& word, unsigned threads) {
  const std::size_t comma = word.find(',');
  const Network& net = network(word.substr(0, comma));
  const auto batch = comma == std::string::npos
                         ? net.recipe().batch
                         : static_cast<std::uint32_t>(std::stoul(word.substr(comma + 1)));
  const auto plan = std::make_shared<const Plan>(
      make_plan(net.build(net.published_input(), net.published_classes()), batch));
  std::map<std::string, std::size_t> seen;
  std::vector<LayerWays> layers;
  for (std::size_t i = 0; i < plan->graph.nodes.size(); ++i) {
    const Node& node = plan->graph.nodes[i];
    const WeightKind weights = node.op->traits().weights;
    if (weights != WeightKind::filters && weights != WeightKind::matrix) continue;
    LayerSite site{.graph = plan->graph, .number = i, .batch = batch, .threads = threads};
    site.input.extent = plan->graph.nodes[node.inputs[0]].extent;
    site.input_learns = plan->learns[node.inputs[0]];
    const Extent &in = site.input.extent, &out = node.extent;
    const auto [at, is_new] = seen.try_emplace(
        fmt::format("{} {} {} {} {} {} {} {}", node.op->name(), in.channels, in.height, in.width,
                    out.channels, out.height, node.attributes.integer("kernel"), site.input_learns),
        layers.size());
    if (!is_new) {
      ++layers[at->second].repeats;
      continue;
    }
    layers.push_back({.network = word, .plan = plan, .site = site});
    weights == WeightKind::filters ? measure_convolution(layers.back())
                                   : measure_dense(layers.back());
  }
  return layers;
}

}  // namespace feedrate::testing
