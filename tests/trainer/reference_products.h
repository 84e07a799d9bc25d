#pragma once
// Operators whose outputs are sums of products with weights: conv, dense and lstm.

#include <cmath>

#include "tests/trainer/reference_node.h"

namespace feedrate::testing {
using namespace trainer;

// For operators that are sums of input × weight: `each_term` visits every (output, input, weight).
template <class EachTerm>
void multiply(ReferenceNode& r, const EachTerm& each_term) {
  const double* x = r.in().data();
  const double* w = r.parameter(0).data();
  double* y = r.out().data();
  each_term([=](auto o, auto i, auto k) { y[o] += x[i] * w[k]; });
}
template <class EachTerm>
void multiply_backward(ReferenceNode& r, const EachTerm& each_term) {
  const double* x = r.in().data();
  const double* w = r.parameter(0).data();
  const double* dy = r.out_gradient().data();
  double* dx = r.in_gradient().data();
  double* dw = r.gradient(0).data();
  each_term([=](auto o, auto i, auto k) {
    dw[k] += dy[o] * x[i];
    dx[i] += dy[o] * w[k];
  });
}

template <class Visit>
void each_product(const ReferenceNode& r, const Visit& visit) {
  const Extent &i = r.in_extent(), &o = r.node().extent;
  const std::int64_t groups = r.node().attributes.integer("groups", 1);
  const std::int64_t channels = i.channels / groups, filters = o.channels / groups;
  const std::int64_t kernel = r.attribute("kernel");
  r.each(o, [&](auto n, auto f, auto y, auto x) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t ky = 0; ky < kernel; ++ky) {
        for (std::int64_t kx = 0; kx < kernel; ++kx) {
          const std::int64_t row = y * r.attribute("stride") - r.attribute("pad") + ky;
          const std::int64_t column = x * r.attribute("stride") - r.attribute("pad") + kx;
          if (row < 0 || row >= i.height || column < 0 || column >= i.width) continue;
          const std::int64_t weight = ((f * channels + c) * kernel + ky) * kernel + kx;
          visit(ReferenceNode::at(o, n, f, y, x),
                ReferenceNode::at(i, n, f / filters * channels + c, row, column),
                static_cast<std::size_t>(weight));
        }
      }
    }
  });
}
inline void conv_forward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto f, auto y, auto x) {
    r.out()[ReferenceNode::at(r.node().extent, n, f, y, x)] =
        r.has_parameter(1) ? r.parameter(1)[static_cast<std::size_t>(f)] : 0;
  });
  multiply(r, [&r](const auto& visit) { each_product(r, visit); });
}
inline void conv_backward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto f, auto y, auto x) {
    if (!r.has_parameter(1)) return;
    r.gradient(1)[static_cast<std::size_t>(f)] +=
        r.out_gradient()[ReferenceNode::at(r.node().extent, n, f, y, x)];
  });
  multiply_backward(r, [&r](const auto& visit) { each_product(r, visit); });
}

template <class Visit>
void each_weight(const ReferenceNode& r, const Visit& visit) {
  const auto units = static_cast<std::size_t>(r.attribute("units"));
  const auto inputs = static_cast<std::size_t>(r.in_extent().elements());
  for (std::size_t n = 0; n < r.batch().count; ++n) {
    for (std::size_t u = 0; u < units; ++u) {
      for (std::size_t i = 0; i < inputs; ++i) visit(n * units + u, n * inputs + i, u * inputs + i);
    }
  }
}
inline void dense_forward(ReferenceNode& r) {
  const Doubles& bias = r.parameter(1);
  for (std::size_t o = 0; o < r.out().size(); ++o) r.out()[o] = bias[o % bias.size()];
  multiply(r, [&r](const auto& visit) { each_weight(r, visit); });
}
inline void dense_backward(ReferenceNode& r) {
  Doubles& gradient = r.gradient(1);
  for (std::size_t o = 0; o < r.out().size(); ++o) {
    gradient[o % gradient.size()] += r.out_gradient()[o];
  }
  multiply_backward(r, [&r](const auto& visit) { each_weight(r, visit); });
}

// One image through an LSTM: gates (in, forget, cell, out), cells and hidden states by row.
struct LstmCourse {
  std::vector<Doubles> gates, cells, hidden;
};
inline double lstm_input(const ReferenceNode& r, std::int64_t n, std::int64_t row, std::int64_t i) {
  const Extent& e = r.in_extent();
  return r.in()[ReferenceNode::at(e, n, i / e.width, row, i % e.width)];
}
inline LstmCourse lstm_course(ReferenceNode& r, std::int64_t n) {
  const Extent& e = r.in_extent();
  const auto units = static_cast<std::size_t>(r.node().extent.channels);
  const auto width = static_cast<std::size_t>(e.channels * e.width);
  LstmCourse course;
  Doubles hidden(units), cell(units);
  for (std::int64_t row = 0; row < e.height; ++row) {
    Doubles gates(4 * units);
    for (std::size_t g = 0; g < gates.size(); ++g) {
      double sum = r.parameter(2)[g];
      for (std::size_t i = 0; i < width; ++i) {
        sum += r.parameter(0)[g * width + i] * lstm_input(r, n, row, static_cast<std::int64_t>(i));
      }
      for (std::size_t u = 0; u < units; ++u) sum += r.parameter(1)[g * units + u] * hidden[u];
      gates[g] = g / units == 2 ? std::tanh(sum) : 1 / (1 + std::exp(-sum));
    }
    for (std::size_t u = 0; u < units; ++u) {
      cell[u] = gates[units + u] * cell[u] + gates[u] * gates[2 * units + u];
      hidden[u] = gates[3 * units + u] * std::tanh(cell[u]);
    }
    course.gates.push_back(gates);
    course.cells.push_back(cell);
    course.hidden.push_back(hidden);
  }
  return course;
}
inline void lstm_forward(ReferenceNode& r) {
  const auto units = static_cast<std::size_t>(r.node().extent.channels);
  for (std::int64_t n = 0; n < r.images(); ++n) {
    const Doubles last = lstm_course(r, n).hidden.back();
    for (std::size_t u = 0; u < units; ++u)
      r.out()[static_cast<std::size_t>(n) * units + u] = last[u];
  }
}
inline void lstm_backward(ReferenceNode& r) {
  const Extent& e = r.in_extent();
  const auto units = static_cast<std::size_t>(r.node().extent.channels);
  const auto width = static_cast<std::size_t>(e.channels * e.width);
  for (std::int64_t n = 0; n < r.images(); ++n) {
    const LstmCourse course = lstm_course(r, n);
    Doubles hidden(units), cell(units);
    for (std::size_t u = 0; u < units; ++u) {
      hidden[u] = r.out_gradient()[static_cast<std::size_t>(n) * units + u];
    }
    for (std::size_t row = course.cells.size(); row-- > 0;) {
      const Doubles none(units);
      const Doubles& cell_before = row > 0 ? course.cells[row - 1] : none;
      const Doubles& hidden_before = row > 0 ? course.hidden[row - 1] : none;
      const Doubles& gates = course.gates[row];
      Doubles sums(4 * units);
      for (std::size_t u = 0; u < units; ++u) {
        const double in = gates[u], forget = gates[units + u], out = gates[3 * units + u];
        const double candidate = gates[2 * units + u], squashed = std::tanh(course.cells[row][u]);
        cell[u] += hidden[u] * out * (1 - squashed * squashed);
        sums[u] = cell[u] * candidate * in * (1 - in);
        sums[units + u] = cell[u] * cell_before[u] * forget * (1 - forget);
        sums[2 * units + u] = cell[u] * in * (1 - candidate * candidate);
        sums[3 * units + u] = hidden[u] * squashed * out * (1 - out);
        cell[u] *= forget;
      }
      hidden.assign(units, 0);
      for (std::size_t g = 0; g < sums.size(); ++g) {
        r.gradient(2)[g] += sums[g];
        for (std::size_t u = 0; u < units; ++u) {
          r.gradient(1)[g * units + u] += sums[g] * hidden_before[u];
          hidden[u] += sums[g] * r.parameter(1)[g * units + u];
        }
        for (std::size_t i = 0; i < width; ++i) {
          const auto y = static_cast<std::int64_t>(row), k = static_cast<std::int64_t>(i);
          r.gradient(0)[g * width + i] += sums[g] * lstm_input(r, n, y, k);
          r.in_gradient()[ReferenceNode::at(e, n, k / e.width, y, k % e.width)] +=
              sums[g] * r.parameter(0)[g * width + i];
        }
      }
    }
  }
}

}  // namespace feedrate::testing
