#pragma once
// Every operator once more, as plainly as it can be written, in double and canonical order: the
// referee for the backends. conformance_test.cpp checks it against finite differences of itself.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "loader/batch.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/op.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;
using namespace trainer;

using Doubles = std::vector<double>;

class Reference;
// Of operators in reference_more.h.
void add_forward(Reference& r);
void add_backward(Reference& r);
void avg_pool_forward(Reference& r);
void avg_pool_backward(Reference& r);
void max_pool_forward(Reference& r);
void max_pool_backward(Reference& r);
void concat_forward(Reference& r);
void concat_backward(Reference& r);
void lrn_forward(Reference& r);
void lrn_backward(Reference& r);
void lstm_forward(Reference& r);
void lstm_backward(Reference& r);
void tanh_forward(Reference& r);
void tanh_backward(Reference& r);
void shortcut_forward(Reference& r);
void shortcut_backward(Reference& r);
void batch_norm_forward(Reference& r);
void batch_norm_backward(Reference& r);

/// A graph with its parameters. run() gives the mean loss; the gradients are then of that loss.
/// Training moves the running statistics.
class Reference {
 public:
  struct Mode {
    bool training = true;
    std::uint64_t seed = 1;
    std::uint64_t step = 0;
  };

  Reference(const Graph& graph, std::vector<Doubles> start)
      : parameters(std::move(start)), graph_(graph) {}

  double run(const Batch& batch, const Mode& mode) {
    batch_ = &batch;
    mode_ = mode;
    loss_ = 0;
    const std::vector<bool> training_only = graph_.training_only();
    outputs_.assign(graph_.nodes.size(), {});
    for (number_ = 0; number_ < graph_.nodes.size(); ++number_) {
      if (training_only[number_] && !mode.training) continue;
      outputs_[number_].resize(size(node()));
      rows().at(node().op->name()).forward(*this);
    }
    return loss_;
  }

  void backward() {
    gradients.clear();
    for (const Doubles& parameter : parameters) gradients.emplace_back(parameter.size());
    output_gradients_.clear();
    for (const Doubles& output : outputs_) output_gradients_.emplace_back(output.size());
    for (number_ = graph_.nodes.size(); number_-- > 1;) {
      rows().at(node().op->name()).backward(*this);
    }
  }

  static bool knows(std::string_view op) { return rows().contains(op); }
  std::uint64_t correct() const { return correct_; }

  std::vector<Doubles> parameters;
  std::vector<Doubles> gradients;  // of parameters, after backward()

  // For the operators' forms: the node at work and what it works on.
  const Node& node() const { return graph_.nodes[number_]; }
  const Extent& in_extent(std::size_t k = 0) const { return graph_.nodes[node().inputs[k]].extent; }
  bool training() const { return mode_.training; }
  std::size_t inputs() const { return node().inputs.size(); }
  std::int64_t images() const { return batch_->count; }
  std::int64_t attribute(std::string_view name) const { return node().attributes.integer(name); }
  const Doubles& in(std::size_t k = 0) const { return outputs_[node().inputs[k]]; }
  Doubles& in_gradient(std::size_t k = 0) { return output_gradients_[node().inputs[k]]; }
  Doubles& out() { return outputs_[number_]; }
  Doubles& out_gradient() { return output_gradients_[number_]; }
  Doubles& parameter(std::size_t k) { return parameters[node().parameters[k]]; }
  Doubles& gradient(std::size_t k) { return gradients[node().parameters[k]]; }

  static std::size_t at(const Extent& e, std::int64_t n, std::int64_t c, std::int64_t y,
                        std::int64_t x) {
    return static_cast<std::size_t>(((n * e.channels + c) * e.height + y) * e.width + x);
  }
  template <class Visit>
  void each(const Extent& e, const Visit& visit) const {
    for (std::int64_t n = 0; n < images(); ++n) {
      for (std::int64_t c = 0; c < e.channels; ++c) {
        for (std::int64_t y = 0; y < e.height; ++y) {
          for (std::int64_t x = 0; x < e.width; ++x) visit(n, c, y, x);
        }
      }
    }
  }

 private:
  struct Row {
    void (*forward)(Reference&);
    void (*backward)(Reference&);
  };
  static const std::map<std::string_view, Row>& rows() {
    static const std::map<std::string_view, Row> all = {
        {"input", {[](Reference& r) { r.input(); }, [](Reference&) {}}},
        {"conv", {[](Reference& r) { r.conv(); }, [](Reference& r) { r.conv_backward(); }}},
        {"max_pool", {max_pool_forward, max_pool_backward}},
        {"avg_pool", {avg_pool_forward, avg_pool_backward}},
        {"batch_norm", {batch_norm_forward, batch_norm_backward}},
        {"concat", {concat_forward, concat_backward}},
        {"lrn", {lrn_forward, lrn_backward}},
        {"tanh", {tanh_forward, tanh_backward}},
        {"lstm", {lstm_forward, lstm_backward}},
        {"shortcut", {shortcut_forward, shortcut_backward}},
        {"add", {add_forward, add_backward}},
        {"dense", {[](Reference& r) { r.dense(); }, [](Reference& r) { r.dense_backward(); }}},
        {"relu", {[](Reference& r) { r.relu(); }, [](Reference& r) { r.relu_backward(); }}},
        {"dropout", {[](Reference& r) { r.drop(); }, [](Reference& r) { r.drop_backward(); }}},
        {"softmax_loss", {[](Reference& r) { r.loss(); }, [](Reference& r) { r.loss_backward(); }}},
    };
    return all;
  }

  std::size_t size(const Node& of) const {
    return static_cast<std::size_t>(of.extent.elements()) * batch_->count;
  }

  void input() {
    const Extent& e = node().extent;
    const Attributes& numbers = node().attributes;
    each(e, [&](auto n, auto c, auto y, auto x) {
      const std::string own = c == 0 ? "" : std::to_string(c);
      const double scale =
          static_cast<float>(numbers.number(join("scale", own), numbers.number("scale")));
      const double mean =
          static_cast<float>(numbers.number(join("mean", own), numbers.number("mean")));
      const auto pixel = ((n * e.height + y) * e.width + x) * e.channels + c;
      out()[at(e, n, c, y, x)] = (batch_->pixels[static_cast<std::size_t>(pixel)] - mean) * scale;
    });
  }

  // For ops that are sums of input × weight: `each_term` visits every (output, input, weight).
  template <class EachTerm>
  void multiply(const EachTerm& each_term) {
    const double* x = in().data();
    const double* w = parameter(0).data();
    double* y = out().data();
    each_term([=](auto o, auto i, auto k) { y[o] += x[i] * w[k]; });
  }
  template <class EachTerm>
  void multiply_backward(const EachTerm& each_term) {
    const double* x = in().data();
    const double* w = parameter(0).data();
    const double* dy = out_gradient().data();
    double* dx = in_gradient().data();
    double* dw = gradient(0).data();
    each_term([=](auto o, auto i, auto k) {
      dw[k] += dy[o] * x[i];
      dx[i] += dy[o] * w[k];
    });
  }

  template <class Visit>
  void each_product(const Visit& visit) const {
    const Extent& i = in_extent();
    const Extent& o = node().extent;
    const std::int64_t groups = node().attributes.integer("groups", 1);
    const std::int64_t channels = i.channels / groups, filters = o.channels / groups;
    const std::int64_t kernel = attribute("kernel");
    const std::int64_t stride = attribute("stride");
    const std::int64_t pad = attribute("pad");
    each(o, [&](auto n, auto f, auto y, auto x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t ky = 0; ky < kernel; ++ky) {
          for (std::int64_t kx = 0; kx < kernel; ++kx) {
            const std::int64_t row = y * stride - pad + ky;
            const std::int64_t column = x * stride - pad + kx;
            if (row < 0 || row >= i.height || column < 0 || column >= i.width) continue;
            const std::int64_t weight = ((f * channels + c) * kernel + ky) * kernel + kx;
            visit(at(o, n, f, y, x), at(i, n, f / filters * channels + c, row, column),
                  static_cast<std::size_t>(weight));
          }
        }
      }
    });
  }
  bool has_bias() const { return node().parameters.size() == 2; }
  void conv() {
    each(node().extent, [&](auto n, auto f, auto y, auto x) {
      out()[at(node().extent, n, f, y, x)] =
          has_bias() ? parameter(1)[static_cast<std::size_t>(f)] : 0;
    });
    multiply([this](const auto& visit) { each_product(visit); });
  }
  void conv_backward() {
    each(node().extent, [&](auto n, auto f, auto y, auto x) {
      if (!has_bias()) return;
      gradient(1)[static_cast<std::size_t>(f)] += out_gradient()[at(node().extent, n, f, y, x)];
    });
    multiply_backward([this](const auto& visit) { each_product(visit); });
  }

  template <class Visit>
  void each_weight(const Visit& visit) const {
    const auto units = static_cast<std::size_t>(attribute("units"));
    const auto inputs = static_cast<std::size_t>(in_extent().elements());
    for (std::size_t n = 0; n < batch_->count; ++n) {
      for (std::size_t u = 0; u < units; ++u) {
        for (std::size_t i = 0; i < inputs; ++i)
          visit(n * units + u, n * inputs + i, u * inputs + i);
      }
    }
  }
  void dense() {
    for (std::size_t o = 0; o < out().size(); ++o) out()[o] = parameter(1)[o % parameter(1).size()];
    multiply([this](const auto& visit) { each_weight(visit); });
  }
  void dense_backward() {
    for (std::size_t o = 0; o < out().size(); ++o) {
      gradient(1)[o % gradient(1).size()] += out_gradient()[o];
    }
    multiply_backward([this](const auto& visit) { each_weight(visit); });
  }

  void relu() {
    std::transform(in().begin(), in().end(), out().begin(),
                   [](double x) { return std::max(x, 0.0); });
  }
  void relu_backward() {
    for (std::size_t i = 0; i < in().size(); ++i) {
      in_gradient()[i] += in()[i] > 0 ? out_gradient()[i] : 0;
    }
  }

  double factor(std::size_t element) const {
    const auto share = static_cast<float>(node().attributes.number("share"));
    const DropoutMask mask(mode_.seed, mode_.step, number_, share);
    return mode_.training ? double{mask.factor(element)} : 1;
  }
  void drop() {
    for (std::size_t i = 0; i < in().size(); ++i) out()[i] = in()[i] * factor(i);
  }
  void drop_backward() {
    for (std::size_t i = 0; i < in().size(); ++i) {
      in_gradient()[i] += out_gradient()[i] * factor(i);
    }
  }

  double weight() const {
    return attribute("auxiliary") != 0 ? node().attributes.number("weight") : 1;
  }
  void loss() {
    const auto classes = static_cast<std::size_t>(node().extent.channels);
    const bool auxiliary = attribute("auxiliary") != 0;
    if (!auxiliary) correct_ = 0;
    for (std::size_t n = 0; n < batch_->count; ++n) {
      const auto logits = std::span(in()).subspan(n * classes, classes);
      const auto label = static_cast<std::size_t>(batch_->labels[n]);
      const auto max = std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit - *max);
      for (std::size_t k = 0; k < classes; ++k) {
        out()[n * classes + k] = std::exp(logits[k] - *max) / sum;
      }
      for (std::size_t k = 0; k < classes; ++k) {
        const double part = std::log(sum) - (logits[k] - *max);
        loss_ += weight() * target(k == label) * part / batch_->count;
      }
      if (auxiliary) continue;
      correct_ += static_cast<std::size_t>(max - logits.begin()) == label ? 1 : 0;
    }
  }
  // A class's share of what is wished for.
  double target(bool is_label) const {
    const double smoothing = mode_.training ? node().attributes.number("smoothing") : 0;
    return (is_label ? 1 - smoothing : 0) + smoothing / static_cast<double>(node().extent.channels);
  }
  void loss_backward() {
    const auto classes = static_cast<std::size_t>(node().extent.channels);
    for (std::size_t i = 0; i < out().size(); ++i) {
      const bool is_label = static_cast<std::size_t>(batch_->labels[i / classes]) == i % classes;
      in_gradient()[i] += weight() * (out()[i] - target(is_label)) / batch_->count;
    }
  }

  const Graph& graph_;
  const Batch* batch_ = nullptr;
  Mode mode_;
  std::size_t number_ = 0;  // of the node at work
  std::vector<Doubles> outputs_, output_gradients_;
  double loss_ = 0;
  std::uint64_t correct_ = 0;
};

}  // namespace feedrate::testing

#include "tests/trainer/reference_more.h"
