#pragma once
// Operators over windows of pixels or channels: max_pool, avg_pool and lrn.

#include <cmath>
#include <limits>

#include "tests/trainer/reference_node.h"

namespace feedrate::testing {
using namespace trainer;

// The index of the input that an output of max pooling comes from: the first of the largest values,
// or the last NaN.
inline std::size_t winner(const ReferenceNode& r, std::int64_t n, std::int64_t c, std::int64_t y,
                          std::int64_t x) {
  const Extent& i = r.in_extent();
  double best = -std::numeric_limits<double>::infinity();
  std::size_t place = 0;
  for (std::int64_t ky = 0; ky < r.attribute("kernel"); ++ky) {
    for (std::int64_t kx = 0; kx < r.attribute("kernel"); ++kx) {
      const std::int64_t row = y * r.attribute("stride") - r.attribute("pad") + ky;
      const std::int64_t column = x * r.attribute("stride") - r.attribute("pad") + kx;
      if (row < 0 || row >= i.height || column < 0 || column >= i.width) continue;
      const std::size_t here = ReferenceNode::at(i, n, c, row, column);
      if (r.in()[here] > best || std::isnan(r.in()[here])) best = r.in()[here], place = here;
    }
  }
  return place;
}
inline void max_pool_forward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    r.out()[ReferenceNode::at(r.node().extent, n, c, y, x)] = r.in()[winner(r, n, c, y, x)];
  });
}
inline void max_pool_backward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    const double gradient = r.out_gradient()[ReferenceNode::at(r.node().extent, n, c, y, x)];
    r.in_gradient()[winner(r, n, c, y, x)] += gradient;
  });
}

// Calls visit(input) for every position of an output's window inside the image; returns their
// number.
template <class Visit>
int each_place(const ReferenceNode& r, std::int64_t n, std::int64_t c, std::int64_t y,
               std::int64_t x, const Visit& visit) {
  const Extent &i = r.in_extent(), &o = r.node().extent;
  const auto sees = [&r](std::int64_t at, std::int64_t to, std::int64_t side, std::int64_t bins) {
    if (r.node().attributes.contains("bins")) {
      // Bin b of B covers the real interval from b·side/B to (b+1)·side/B, rounded outwards to
      // whole positions.
      return (at + 1) * bins > to * side && at * bins < (to + 1) * side;
    }
    const std::int64_t start = to * r.attribute("stride") - r.attribute("pad");
    return at >= start && at < start + r.attribute("kernel");
  };
  int places = 0;
  for (std::int64_t row = 0; row < i.height; ++row) {
    for (std::int64_t column = 0; column < i.width; ++column) {
      if (!sees(row, y, i.height, o.height) || !sees(column, x, i.width, o.width)) continue;
      visit(ReferenceNode::at(i, n, c, row, column));
      ++places;
    }
  }
  return places;
}
inline void avg_pool_forward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    double sum = 0;
    const int places = each_place(r, n, c, y, x, [&](std::size_t i) { sum += r.in()[i]; });
    r.out()[ReferenceNode::at(r.node().extent, n, c, y, x)] = sum / places;
  });
}
inline void avg_pool_backward(ReferenceNode& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    const double gradient = r.out_gradient()[ReferenceNode::at(r.node().extent, n, c, y, x)];
    const int places = each_place(r, n, c, y, x, [](std::size_t) {});
    each_place(r, n, c, y, x, [&](std::size_t i) { r.in_gradient()[i] += gradient / places; });
  });
}

// Calls visit(index of the output, indices of its window).
template <class Visit>
void each_response(const ReferenceNode& r, const Visit& visit) {
  const Extent& e = r.node().extent;
  r.each(e, [&](auto n, auto c, auto y, auto x) {
    std::vector<std::size_t> window;
    for (std::int64_t d = -(r.attribute("size") / 2); d <= r.attribute("size") / 2; ++d) {
      if (c + d >= 0 && c + d < e.channels) window.push_back(ReferenceNode::at(e, n, c + d, y, x));
    }
    visit(ReferenceNode::at(e, n, c, y, x), window);
  });
}
inline double response(const ReferenceNode& r, const std::vector<std::size_t>& window) {
  const Attributes& a = r.node().attributes;
  double squares = 0;
  for (const std::size_t i : window) squares += r.in()[i] * r.in()[i];
  return a.number("k") + a.number("alpha") / a.number("size") * squares;
}
inline void lrn_forward(ReferenceNode& r) {
  each_response(r, [&](std::size_t at, const std::vector<std::size_t>& window) {
    r.out()[at] = r.in()[at] * std::pow(response(r, window), -r.node().attributes.number("beta"));
  });
}
inline void lrn_backward(ReferenceNode& r) {
  const Attributes& a = r.node().attributes;
  const double beta = a.number("beta");
  const double factor = 2 * beta * a.number("alpha") / a.number("size");
  each_response(r, [&](std::size_t at, const std::vector<std::size_t>& window) {
    const double s = response(r, window), gradient = r.out_gradient()[at];
    r.in_gradient()[at] += gradient * std::pow(s, -beta);
    for (const std::size_t i : window) {
      r.in_gradient()[i] -= gradient * factor * r.in()[at] * r.in()[i] * std::pow(s, -beta - 1);
    }
  });
}

}  // namespace feedrate::testing
