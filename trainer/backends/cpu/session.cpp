#include "trainer/backends/cpu/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/stopwatch.h"
#include "trainer/backends/cpu/products/product_choice.h"
#include "trainer/backends/cpu/products/value_choice.h"
#include "trainer/backends/cpu/threads/held_signals.h"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/backends/cpu/values/relayout.h"
#include "trainer/backends/rank_sums.h"
#include "trainer/communicators/communicator.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {
using namespace formats;
using namespace loader;

namespace {

// The in-place relu that is the only input of node j and is read by no other node; no_node if none.
std::size_t only_relu_before(const Plan& plan, std::size_t j) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  if (nodes[j].inputs.size() != 1) return no_node;
  const std::size_t relu = nodes[j].inputs[0];
  if (!nodes[relu].op->traits().is_relu) return no_node;
  if (relu_after(plan, nodes[relu].inputs[0]) != relu) return no_node;
  const bool alone = std::none_of(nodes.begin(), nodes.end(), [&](const Node& other) {
    return &other != &nodes[j] && std::ranges::find(other.inputs, relu) != other.inputs.end();
  });
  return alone ? relu : no_node;
}

constexpr std::size_t bucket_floats = std::size_t{1} << 20;  // of a message to other ranks

std::size_t batch_bytes(const Layout& layout, std::uint32_t batch, ValueType type) {
  return static_cast<std::size_t>(layout.elements()) * batch * bytes_of(type);
}

}  // namespace

CpuSession::CpuSession(Plan plan, const SessionOptions& options, unsigned threads)
    : plan_(std::move(plan)),
      threads_(threads),
      optimizer_(options.optimizer),
      communicator_(options.communicator),
      keeps_gradients_(options.keep_gradients),
      pixel_type_(options.pixels),
      images_(std::in_place, plan_.graph.input.bytes() * bytes_of(pixel_type_) * plan_.batch),
      labels_(plan_.batch),
      node_seconds_(options.node_seconds) {
  if (node_seconds_ != nullptr) node_seconds_->assign(plan_.graph.nodes.size(), {});
  let_idle_threads_sleep(threads_);
  const OmpThreads omp(threads_);
  make_layers(options);
  // The gradients of all ranks are known only when backward is done, so all are kept until then.
  parameters_.emplace(
      Parameters::Site{.graph = plan_.graph,
                       .layers = layers_,
                       .optimizer = optimizer_,
                       .threads = threads_,
                       .keeps_gradients = keeps_gradients_ || communicator_ != nullptr});
  if (communicator_ != nullptr) buckets_ = parameters_->buckets(bucket_floats);
  fuse_sums();
  place_values();
}

// Sites without the layouts, which the layers before decide.
std::vector<LayerSite> CpuSession::make_sites(const SessionOptions& options) {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  std::vector<LayerSite> sites;
  std::vector<bool> bf16;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    LayerSite site{
        .graph = plan_.graph,
        .number = i,
        .batch = plan_.batch,
        .threads = threads_,
        // Ranks see different images and need different masks.
        .seed = communicator_ == nullptr ? options.seed : options.seed + communicator_->rank()};
    if (!nodes[i].inputs.empty()) {
      site.input.extent = nodes[nodes[i].inputs[0]].extent;
      site.input_learns = plan_.learns[nodes[i].inputs[0]];
    }
    site.bf16 = options.precision == "bf16" &&
                (options.bf16_everywhere ? may_round(site) : gains_by_bf16(site));
    bf16.push_back(site.bf16);
    sites.push_back(std::move(site));
  }
  types_ = choose_value_types(
      plan_, bf16, options.bf16_everywhere ? NarrowValues::where_any : NarrowValues::where_most);
  for (LayerSite& site : sites) {
    const std::vector<std::size_t>& inputs = site.node().inputs;
    site.type = types_[site.number];
    site.input_type = inputs.empty() ? site.type : types_[inputs[0]];
  }
  return sites;
}

void CpuSession::make_layers(const SessionOptions& options) {
  done_elsewhere_.resize(plan_.graph.nodes.size());
  for (LayerSite& site : make_sites(options)) {
    for (const std::size_t input : site.node().inputs) {
      site.inputs.push_back(layers_[input]->output());
    }
    if (!site.inputs.empty()) site.input = site.inputs[0];
    const std::size_t relu = relu_after(plan_, site.number);
    const std::size_t before = only_relu_before(plan_, site.number);
    site.relu_follows = relu != no_node;
    site.relu_before = before != no_node && !done_elsewhere_[before];
    layers_.push_back(make_layer(site));
    const Layer& layer = *layers_.back();
    if (site.relu_follows && layer.does_relu()) done_elsewhere_[relu] = true;
    if (site.relu_before && layer.does_relu_before()) done_elsewhere_[before] = true;
  }
}

// Residual sums whose inputs lie in one layout are computed by their last norm where there is one,
// and give both inputs one gradient in any case.
void CpuSession::fuse_sums() {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    backward_turns_.push_back(done_elsewhere_[i] ? no_node : i);
    if (!nodes[i].op->traits().is_residual_sum) continue;
    const auto layout = [&](std::size_t k) { return layers_[nodes[i].inputs[k]]->output(); };
    if (layout(0) != layout(1)) left_out.push_back(i);
  }
  Fusions wanted = fusions_of_environment();
  wanted.by_last_norm = true;
  wanted.relu_gradient = wanted.weight_branch = false;
  fused_ = fuse(plan_, wanted, left_out);
  for (const BlockEnd& end : fused_.block_ends) {
    if (end.forward) done_elsewhere_[end.sum] = true;
    if (!end.backward) continue;
    backward_turns_[end.sum] = end.last_norm;
    backward_turns_[end.last_norm] = no_node;
  }
}

void CpuSession::place_values() {
  NodeBytes bytes;
  std::size_t scratch = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = *layers_[i];
    bytes.outputs.push_back(is_given(i) ? 0 : batch_bytes(layer.output(), plan_.batch, types_[i]));
    bytes.saved.push_back(layer.saved_bytes());
    scratch = std::max(scratch, layer.scratch_bytes());
  }
  const Places places = place_all(plan_, bytes, cache_line, fused_);
  arena_.emplace(places.bytes);
  scratch_.emplace(scratch);
  bind(places);
}

bool CpuSession::is_given(std::size_t node) const {
  return node == 0 && pixel_type_ != PixelType::u8 && types_[0] == ValueType::fp32;
}

void CpuSession::bind(const Places& places) {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  const auto activation = [&](std::size_t i) {
    return is_given(i) ? images_->at(0) : arena_->at(places.activations[i]);
  };
  sums_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Buffers buffers;
    buffers.output = activation(i);
    outputs_.push_back(buffers.output);
    if (plan_.has_gradient(i)) buffers.output_gradient = arena_->at(places.gradients[i]);
    for (std::size_t k = 0; k < nodes[i].inputs.size(); ++k) {
      const std::size_t input = nodes[i].inputs[k];
      buffers.inputs.push_back(activation(input));
      buffers.input_gradients.push_back(
          plan_.has_gradient(input) ? arena_->at(places.input_gradients[i][k]) : nullptr);
    }
    if (!nodes[i].inputs.empty()) {
      buffers.input = buffers.inputs[0];
      buffers.input_gradient = buffers.input_gradients[0];
    }
    for (const std::size_t number : nodes[i].parameters) {
      buffers.parameters.push_back(parameters_->value(number));
      buffers.gradients.push_back(parameters_->gradient(number));
    }
    buffers.end = block_end(i, places);
    buffers.saved = arena_->at(places.saved[i]);
    buffers.scratch = scratch_->at(0);
    layers_[i]->bind(buffers);
    for (const GradientSum& sum : places.sums[i]) {
      sums_[i].push_back({arena_->at(places.gradients[sum.input]), arena_->at(sum.part),
                          layers_[sum.input]->output().elements() * plan_.batch,
                          types_[sum.input]});
    }
  }
}

// What the norm needs to compute the end of a block, if it does.
BlockEndOf<std::byte> CpuSession::block_end(std::size_t norm, const Places& places) const {
  const BlockEnd* end = fused_.end_with_norm(norm);
  if (end == nullptr || end->last_norm != norm) return {};
  const std::vector<std::size_t>& inputs = plan_.graph.nodes[end->sum].inputs;
  const std::size_t k = inputs[0] == norm ? 1 : 0;  // the other input
  BlockEndOf<std::byte> buffers;
  buffers.output = arena_->at(places.activations[end->sum]);
  if (end->forward) buffers.other = outputs_[inputs[k]];
  if (!end->backward) return buffers;
  buffers.gradient = arena_->at(places.gradients[end->sum]);
  if (end->term_reader != no_node) buffers.term = arena_->at(places.terms[end->sum]);
  const std::size_t reader = plan_.has_gradient(inputs[k]) ? k : 1 - k;
  buffers.masked = arena_->at(places.input_gradients[end->sum][reader]);
  return buffers;
}

void CpuSession::upload(const Batch& batch) {
  check_batch(plan_, batch, pixel_type_);
  if (pixel_type_ == PixelType::u8) {
    take_pixels(batch);
  } else {
    take_numbers(batch);
  }
  std::copy(batch.labels.begin(), batch.labels.end(), labels_.begin());
  count_ = batch.count;
}

void CpuSession::take_pixels(const Batch& batch) {
  auto* pixels = reinterpret_cast<std::uint8_t*>(images_->at(0));
  std::copy(batch.pixels.begin(), batch.pixels.end(), pixels);
  std::fill(pixels + batch.pixels.size(), pixels + plan_.graph.input.bytes() * plan_.batch,
            std::uint8_t{0});
}

// Missing images are black, as in batches of pixels.
void CpuSession::take_numbers(const Batch& batch) {
  float* to = std::copy(batch.floats.begin(), batch.floats.end(), images_->floats());
  const Shape& shape = plan_.graph.input;
  for (std::uint32_t image = batch.count; image < plan_.batch; ++image) {
    for (std::uint32_t c = 0; c < shape.channels; ++c) {
      const PixelScale& own = scale_of(batch.scales, c);
      to = std::fill_n(to, std::size_t{shape.height} * shape.width,
                       scaled_pixel(0, own.scale, own.mean));
    }
  }
}

Step CpuSession::make_step(bool training, std::uint64_t number) {
  if (count_ == 0) throw Error("a step needs a batch, but none was uploaded");
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(images_->at(0));
  const bool given = pixel_type_ != PixelType::u8;
  const std::size_t values = plan_.graph.input.bytes() * plan_.batch;
  return {.pixels = {pixels, given ? 0 : values},
          .numbers = {images_->floats(), given ? values : 0},
          .labels = {labels_.data(), count_},
          .count = count_,
          .all_images =
              training ? static_cast<std::uint32_t>(sum_over_ranks(communicator_, count_)) : count_,
          .training = training,
          .number = number,
          .metrics = &metrics_};
}

void CpuSession::train_step(const UpdateSettings& settings, std::uint64_t number) {
  if (optimizer_ == nullptr) throw Error("a training step needs an optimizer");
  const OmpThreads omp(threads_);
  const Step step = make_step(true, number);
  const double before = std::exchange(metrics_.loss_sum, 0);
  forward(step);
  const bool diverged = !std::isfinite(sum_over_ranks(communicator_, metrics_.loss_sum));
  metrics_.loss_sum += before;
  if (diverged) {
    divergence_ = find_divergence(step);
    return;
  }
  UpdateSettings numbered = settings;
  numbered.step = number;
  backward(step, numbered);
}

void CpuSession::evaluate_step() {
  const OmpThreads omp(threads_);
  forward(make_step(false, 0));
}

template <class Body>
void CpuSession::timed(std::size_t node, double NodeSeconds::*part, const Body& body) {
  if (node_seconds_ == nullptr) return body();
  const Stopwatch stopwatch;
  body();
  (*node_seconds_)[node].*part += stopwatch.seconds();
}

void CpuSession::add_up(const std::vector<Sum>& sums) const {
  for (const Sum& sum : sums) {
    with_type(sum.type, [&](auto value) {
      using T = decltype(value);
      on_shares(threads_, sum.size, 64, [&](const Range& range) {
        add_values(reinterpret_cast<const T*>(sum.part) + range.begin, range.size(),
                   reinterpret_cast<T*>(sum.to) + range.begin);
      });
    });
  }
}

void CpuSession::forward(const Step& step) {
  const HeldSignals held(threads_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (done_elsewhere_[i] || (!step.training && plan_.training_only[i])) continue;
    timed(i, &NodeSeconds::forward, [&] { layers_[i]->forward(step); });
  }
}

void CpuSession::backward(const Step& step, const UpdateSettings& settings) {
  std::optional<HeldSignals> held(std::in_place, threads_);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (!plan_.learns[i]) continue;
    if (const std::size_t turn = backward_turns_[i]; turn != no_node) {
      timed(turn, &NodeSeconds::backward, [&] {
        layers_[turn]->backward(step);
        add_up(sums_[i]);
      });
    }
    if (communicator_ != nullptr) {
      share_gradients(i);
    } else {
      parameters_->update_after(i, settings);
    }
  }
  if (communicator_ == nullptr) return;
  held.reset();  // a signal can end the wait for other ranks
  communicator_->finish();
  parameters_->update_all(settings);
}

void CpuSession::share_gradients(std::size_t node) {
  communicator_->progress();
  for (const GradientBucket& bucket : buckets_) {
    if (bucket.node == node) communicator_->begin_sum(parameters_->gradients(bucket));
  }
}

Metrics CpuSession::take_metrics() {
  return sum_over_ranks(communicator_, std::exchange(metrics_, {}));
}

std::vector<float> CpuSession::output(std::size_t node) const {
  const std::int64_t size = layers_[node]->output().elements() * count_;
  std::vector<float> values(static_cast<std::size_t>(size));
  with_type(types_[node], [&](auto value) {
    std::copy_n(reinterpret_cast<const decltype(value)*>(outputs_[node]), size, values.begin());
  });
  return values;
}

void CpuSession::forward_to(std::size_t node, std::span<float> values) {
  const OmpThreads omp(threads_);
  const HeldSignals held(threads_);
  Metrics discarded;
  Step step = make_step(false, 0);
  step.metrics = &discarded;
  step.relu_separate = true;
  for (std::size_t i = 0; i <= node; ++i) {
    if (!plan_.training_only[i]) layers_[i]->forward(step);
  }
  const Layout& stored = layers_[node]->output();
  const Layout canonical{stored.extent, 1};
  const std::vector<float> all = output(node);
  for (std::int64_t image = 0; image < step.count; ++image) {
    relayout(all.data() + image * stored.elements(), stored,
             values.data() + image * canonical.elements(), canonical);
  }
}

// Outputs share memory, so the forward pass runs again and checks each output as it is written.
Divergence CpuSession::find_divergence(Step step) {
  const HeldSignals held(threads_);
  Metrics discarded;
  step.metrics = &discarded;
  step.relu_separate = true;
  std::size_t i = 0;
  for (; i < layers_.size(); ++i) {
    layers_[i]->forward(step);
    if (!all_finite(output(i))) break;
  }
  return divergence_at(*this, step.number, i, communicator_ == nullptr);
}

std::vector<float> CpuSession::gradient(std::size_t number) const {
  if (!keeps_gradients_) throw Error("gradients are kept only where the session's options say so");
  return parameters_->read_gradient(number);
}

std::size_t CpuSession::planned_bytes() const {
  return parameters_->bytes() + arena_->bytes() + scratch_->bytes() + images_->bytes();
}

}  // namespace feedrate::trainer::cpu
