#pragma once
// Operators on single values, and those that move values: input, relu, tanh, dropout, add, concat,
// shortcut, batch_norm and softmax_loss.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "tests/trainer/reference_node.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::testing {
using namespace trainer;

inline void input_forward(ReferenceNode& r) {
  const Extent& e = r.node().extent;
  const Attributes& numbers = r.node().attributes;
  r.each(e, [&](auto n, auto c, auto y, auto x) {
    const std::string own = c == 0 ? "" : std::to_string(c);
    const double scale = static_cast<float>(numbers.number("scale" + own, numbers.number("scale")));
    const double mean = static_cast<float>(numbers.number("mean" + own, numbers.number("mean")));
    const auto pixel =
        static_cast<std::size_t>(((n * e.height + y) * e.width + x) * e.channels + c);
    r.out()[ReferenceNode::at(e, n, c, y, x)] = (r.batch().pixels[pixel] - mean) * scale;
  });
}
inline void input_backward(ReferenceNode&) {}

inline void relu_forward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.in().size(); ++i) r.out()[i] = std::max(r.in()[i], 0.0);
}
inline void relu_backward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.in().size(); ++i) {
    r.in_gradient()[i] += r.in()[i] > 0 ? r.out_gradient()[i] : 0;
  }
}

inline void tanh_forward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) r.out()[i] = std::tanh(r.in()[i]);
}
inline void tanh_backward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) {
    r.in_gradient()[i] += r.out_gradient()[i] * (1 - r.out()[i] * r.out()[i]);
  }
}

inline double dropout_factor(const ReferenceNode& r, std::size_t element) {
  const auto share = static_cast<float>(r.node().attributes.number("share"));
  const DropoutMask mask(r.mode().seed, r.mode().step, r.number(), share);
  return r.training() ? double{mask.factor(element)} : 1;
}
inline void dropout_forward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.in().size(); ++i) r.out()[i] = r.in()[i] * dropout_factor(r, i);
}
inline void dropout_backward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.in().size(); ++i) {
    r.in_gradient()[i] += r.out_gradient()[i] * dropout_factor(r, i);
  }
}

inline void add_forward(ReferenceNode& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) r.out()[i] = r.in(0)[i] + r.in(1)[i];
}
inline void add_backward(ReferenceNode& r) {
  for (const std::size_t k : {0U, 1U}) {
    for (std::size_t i = 0; i < r.out().size(); ++i) r.in_gradient(k)[i] += r.out_gradient()[i];
  }
}

// Calls visit(input, index in it, index in the output) for each value.
template <class Visit>
void each_joined(const ReferenceNode& r, const Visit& visit) {
  std::int64_t first = 0;
  for (std::size_t k = 0; k < r.inputs(); ++k) {
    const Extent &i = r.in_extent(k), &o = r.node().extent;
    r.each(i, [&](auto n, auto c, auto y, auto x) {
      visit(k, ReferenceNode::at(i, n, c, y, x), ReferenceNode::at(o, n, first + c, y, x));
    });
    first += i.channels;
  }
}
inline void concat_forward(ReferenceNode& r) {
  each_joined(r, [&](std::size_t k, std::size_t i, std::size_t o) { r.out()[o] = r.in(k)[i]; });
}
inline void concat_backward(ReferenceNode& r) {
  each_joined(r, [&](std::size_t k, std::size_t i, std::size_t o) {
    r.in_gradient(k)[i] += r.out_gradient()[o];
  });
}

template <class Visit>
void each_kept(const ReferenceNode& r, const Visit& visit) {
  const Extent &i = r.in_extent(), &o = r.node().extent;
  const std::int64_t stride = r.attribute("stride");
  r.each(i, [&](auto n, auto c, auto y, auto x) {
    if (y % stride != 0 || x % stride != 0) return;
    visit(ReferenceNode::at(i, n, c, y, x), ReferenceNode::at(o, n, c, y / stride, x / stride));
  });
}
inline void shortcut_forward(ReferenceNode& r) {
  std::fill(r.out().begin(), r.out().end(), 0.0);
  each_kept(r, [&](std::size_t i, std::size_t o) { r.out()[o] = r.in()[i]; });
}
inline void shortcut_backward(ReferenceNode& r) {
  each_kept(r, [&](std::size_t i, std::size_t o) { r.in_gradient()[i] += r.out_gradient()[o]; });
}

// Calls visit(index in the tensor) for each value of channel c.
template <class Visit>
void each_of_channel(const ReferenceNode& r, std::size_t c, const Visit& visit) {
  const Extent& e = r.node().extent;
  r.each(e, [&](auto n, auto channel, auto y, auto x) {
    if (static_cast<std::size_t>(channel) == c) visit(ReferenceNode::at(e, n, channel, y, x));
  });
}
struct ChannelMoments {
  double values = 0, mean = 0, variance = 0;
};
inline ChannelMoments moments(const ReferenceNode& r, std::size_t c) {
  ChannelMoments m;
  each_of_channel(r, c, [&](std::size_t i) { m.mean += r.in()[i], m.values += 1; });
  m.mean /= m.values;
  each_of_channel(r, c, [&](std::size_t i) { m.variance += std::pow(r.in()[i] - m.mean, 2); });
  m.variance /= m.values;
  return m;
}
inline void batch_norm_forward(ReferenceNode& r) {
  const double epsilon = r.node().attributes.number("epsilon");
  const double momentum = r.node().attributes.number("momentum");
  for (std::size_t c = 0; c < r.parameter(0).size(); ++c) {
    double &running_mean = r.parameter(2)[c], &running_variance = r.parameter(3)[c];
    ChannelMoments m{0, running_mean, running_variance};
    if (r.training()) {
      m = moments(r, c);
      const double unbiased = m.values > 1 ? m.variance * m.values / (m.values - 1) : m.variance;
      running_mean = (1 - momentum) * running_mean + momentum * m.mean;
      running_variance = (1 - momentum) * running_variance + momentum * unbiased;
    }
    each_of_channel(r, c, [&](std::size_t i) {
      const double normal = (r.in()[i] - m.mean) / std::sqrt(m.variance + epsilon);
      r.out()[i] = normal * r.parameter(0)[c] + r.parameter(1)[c];
    });
  }
}
inline void batch_norm_backward(ReferenceNode& r) {
  for (std::size_t c = 0; c < r.parameter(0).size(); ++c) {
    const ChannelMoments m = moments(r, c);
    const double deviation = std::sqrt(m.variance + r.node().attributes.number("epsilon"));
    const auto normal = [&](std::size_t i) { return (r.in()[i] - m.mean) / deviation; };
    double sum = 0, product = 0;
    each_of_channel(r, c, [&](std::size_t i) {
      sum += r.out_gradient()[i];
      product += r.out_gradient()[i] * normal(i);
    });
    r.gradient(0)[c] += product;
    r.gradient(1)[c] += sum;
    each_of_channel(r, c, [&](std::size_t i) {
      r.in_gradient()[i] += r.parameter(0)[c] / deviation *
                            (r.out_gradient()[i] - sum / m.values - normal(i) * product / m.values);
    });
  }
}

inline double loss_weight(const ReferenceNode& r) {
  return r.attribute("auxiliary") != 0 ? r.node().attributes.number("weight") : 1;
}
// The target of a class.
inline double target_share(const ReferenceNode& r, bool is_label) {
  const double smoothing = r.training() ? r.node().attributes.number("smoothing") : 0;
  return (is_label ? 1 - smoothing : 0) + smoothing / static_cast<double>(r.node().extent.channels);
}
inline void softmax_loss_forward(ReferenceNode& r) {
  const auto classes = static_cast<std::size_t>(r.node().extent.channels);
  const std::size_t images = r.batch().count;
  std::uint64_t correct = 0;
  for (std::size_t n = 0; n < images; ++n) {
    const auto logits = std::span(r.in()).subspan(n * classes, classes);
    const auto label = static_cast<std::size_t>(r.batch().labels[n]);
    const auto max = std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit - *max);
    for (std::size_t k = 0; k < classes; ++k) {
      r.out()[n * classes + k] = std::exp(logits[k] - *max) / sum;
    }
    for (std::size_t k = 0; k < classes; ++k) {
      const double part = std::log(sum) - (logits[k] - *max);
      r.add_loss(loss_weight(r) * target_share(r, k == label) * part / static_cast<double>(images));
    }
    correct += static_cast<std::size_t>(max - logits.begin()) == label ? 1 : 0;
  }
  if (r.attribute("auxiliary") == 0) r.set_correct(correct);
}
inline void softmax_loss_backward(ReferenceNode& r) {
  const auto classes = static_cast<std::size_t>(r.node().extent.channels);
  for (std::size_t i = 0; i < r.out().size(); ++i) {
    const bool is_label = static_cast<std::size_t>(r.batch().labels[i / classes]) == i % classes;
    r.in_gradient()[i] +=
        loss_weight(r) * (r.out()[i] - target_share(r, is_label)) / r.batch().count;
  }
}

}  // namespace feedrate::testing
