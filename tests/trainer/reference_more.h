#pragma once
// The rest of reference.h: operators that came with deeper networks, as plainly.

#include <limits>

#include "tests/trainer/reference.h"

namespace feedrate::testing {
using namespace trainer;

inline void add_forward(Reference& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) r.out()[i] = r.in(0)[i] + r.in(1)[i];
}
inline void add_backward(Reference& r) {
  for (const std::size_t k : {0U, 1U}) {
    for (std::size_t i = 0; i < r.out().size(); ++i) r.in_gradient(k)[i] += r.out_gradient()[i];
  }
}

// The input that an output of max pooling comes from.
inline std::size_t winner(const Reference& r, std::int64_t n, std::int64_t c, std::int64_t y,
                          std::int64_t x) {
  const Extent& i = r.in_extent();
  double best = -std::numeric_limits<double>::infinity();
  std::size_t place = 0;
  for (std::int64_t ky = 0; ky < r.attribute("kernel"); ++ky) {
    for (std::int64_t kx = 0; kx < r.attribute("kernel"); ++kx) {
      const std::int64_t row = y * r.attribute("stride") - r.attribute("pad") + ky;
      const std::int64_t column = x * r.attribute("stride") - r.attribute("pad") + kx;
      if (row < 0 || row >= i.height || column < 0 || column >= i.width) continue;
      const std::size_t here = Reference::at(i, n, c, row, column);
      if (r.in()[here] > best) best = r.in()[here], place = here;
    }
  }
  return place;
}
inline void max_pool_forward(Reference& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    r.out()[Reference::at(r.node().extent, n, c, y, x)] = r.in()[winner(r, n, c, y, x)];
  });
}
inline void max_pool_backward(Reference& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    const double gradient = r.out_gradient()[Reference::at(r.node().extent, n, c, y, x)];
    r.in_gradient()[winner(r, n, c, y, x)] += gradient;
  });
}

// Calls visit(input, place in it, place in the output).
template <class Visit>
void each_joined(const Reference& r, const Visit& visit) {
  std::int64_t first = 0;
  for (std::size_t k = 0; k < r.inputs(); ++k) {
    const Extent &i = r.in_extent(k), &o = r.node().extent;
    r.each(i, [&](auto n, auto c, auto y, auto x) {
      visit(k, Reference::at(i, n, c, y, x), Reference::at(o, n, first + c, y, x));
    });
    first += i.channels;
  }
}
inline void concat_forward(Reference& r) {
  each_joined(r, [&](std::size_t k, std::size_t i, std::size_t o) { r.out()[o] = r.in(k)[i]; });
}
inline void concat_backward(Reference& r) {
  each_joined(r, [&](std::size_t k, std::size_t i, std::size_t o) {
    r.in_gradient(k)[i] += r.out_gradient()[o];
  });
}

// Calls visit(place of the output, places of its window).
template <class Visit>
void each_response(const Reference& r, const Visit& visit) {
  const Extent& e = r.node().extent;
  r.each(e, [&](auto n, auto c, auto y, auto x) {
    std::vector<std::size_t> window;
    for (std::int64_t d = -(r.attribute("size") / 2); d <= r.attribute("size") / 2; ++d) {
      if (c + d >= 0 && c + d < e.channels) window.push_back(Reference::at(e, n, c + d, y, x));
    }
    visit(Reference::at(e, n, c, y, x), window);
  });
}
inline double response(const Reference& r, const std::vector<std::size_t>& window) {
  const Attributes& a = r.node().attributes;
  double squares = 0;
  for (const std::size_t i : window) squares += r.in()[i] * r.in()[i];
  return a.number("k") + a.number("alpha") / a.number("size") * squares;
}
inline void lrn_forward(Reference& r) {
  each_response(r, [&](std::size_t at, const std::vector<std::size_t>& window) {
    r.out()[at] = r.in()[at] * std::pow(response(r, window), -r.node().attributes.number("beta"));
  });
}
inline void lrn_backward(Reference& r) {
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

template <class Visit>
void each_kept(const Reference& r, const Visit& visit) {
  const Extent &i = r.in_extent(), &o = r.node().extent;
  const std::int64_t stride = r.attribute("stride");
  r.each(i, [&](auto n, auto c, auto y, auto x) {
    if (y % stride != 0 || x % stride != 0) return;
    visit(Reference::at(i, n, c, y, x), Reference::at(o, n, c, y / stride, x / stride));
  });
}
inline void shortcut_forward(Reference& r) {
  std::fill(r.out().begin(), r.out().end(), 0.0);
  each_kept(r, [&](std::size_t i, std::size_t o) { r.out()[o] = r.in()[i]; });
}
inline void shortcut_backward(Reference& r) {
  each_kept(r, [&](std::size_t i, std::size_t o) { r.in_gradient()[i] += r.out_gradient()[o]; });
}

// Calls visit(input) for every place of an output's window that is on the image; gives their
// number.
template <class Visit>
int each_place(const Reference& r, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
               const Visit& visit) {
  const Extent &i = r.in_extent(), &o = r.node().extent;
  const auto sees = [&r](std::int64_t at, std::int64_t to, std::int64_t side, std::int64_t bins) {
    if (r.node().attributes.contains("bins")) {
      // Bin b of B covers the real interval from b·side/B to (b+1)·side/B, whole places of it.
      return (at + 1) * bins > to * side && at * bins < (to + 1) * side;
    }
    const std::int64_t start = to * r.attribute("stride") - r.attribute("pad");
    return at >= start && at < start + r.attribute("kernel");
  };
  int places = 0;
  for (std::int64_t row = 0; row < i.height; ++row) {
    for (std::int64_t column = 0; column < i.width; ++column) {
      if (!sees(row, y, i.height, o.height) || !sees(column, x, i.width, o.width)) continue;
      visit(Reference::at(i, n, c, row, column));
      ++places;
    }
  }
  return places;
}
inline void avg_pool_forward(Reference& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    double sum = 0;
    const int places = each_place(r, n, c, y, x, [&](std::size_t i) { sum += r.in()[i]; });
    r.out()[Reference::at(r.node().extent, n, c, y, x)] = sum / places;
  });
}
inline void avg_pool_backward(Reference& r) {
  r.each(r.node().extent, [&](auto n, auto c, auto y, auto x) {
    const double gradient = r.out_gradient()[Reference::at(r.node().extent, n, c, y, x)];
    const int places = each_place(r, n, c, y, x, [](std::size_t) {});
    each_place(r, n, c, y, x, [&](std::size_t i) { r.in_gradient()[i] += gradient / places; });
  });
}

// Calls visit(place in the tensor) for each value of channel c.
template <class Visit>
void each_of_channel(const Reference& r, std::size_t c, const Visit& visit) {
  const Extent& e = r.node().extent;
  r.each(e, [&](auto n, auto channel, auto y, auto x) {
    if (static_cast<std::size_t>(channel) == c) visit(Reference::at(e, n, channel, y, x));
  });
}
struct ChannelMoments {
  double values = 0, mean = 0, variance = 0;
};
inline ChannelMoments moments(const Reference& r, std::size_t c) {
  ChannelMoments m;
  each_of_channel(r, c, [&](std::size_t i) { m.mean += r.in()[i], m.values += 1; });
  m.mean /= m.values;
  each_of_channel(r, c, [&](std::size_t i) { m.variance += std::pow(r.in()[i] - m.mean, 2); });
  m.variance /= m.values;
  return m;
}
inline void batch_norm_forward(Reference& r) {
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
inline void batch_norm_backward(Reference& r) {
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

inline void tanh_forward(Reference& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) r.out()[i] = std::tanh(r.in()[i]);
}
inline void tanh_backward(Reference& r) {
  for (std::size_t i = 0; i < r.out().size(); ++i) {
    r.in_gradient()[i] += r.out_gradient()[i] * (1 - r.out()[i] * r.out()[i]);
  }
}

// One image through an LSTM: gates (in, forget, cell, out), cells and hidden states by row.
struct LstmCourse {
  std::vector<Doubles> gates, cells, hidden;
};
inline double lstm_input(const Reference& r, std::int64_t n, std::int64_t row, std::int64_t i) {
  const Extent& e = r.in_extent();
  return r.in()[Reference::at(e, n, i / e.width, row, i % e.width)];
}
inline LstmCourse lstm_course(Reference& r, std::int64_t n) {
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
inline void lstm_forward(Reference& r) {
  const auto units = static_cast<std::size_t>(r.node().extent.channels);
  for (std::int64_t n = 0; n < r.images(); ++n) {
    const Doubles last = lstm_course(r, n).hidden.back();
    for (std::size_t u = 0; u < units; ++u)
      r.out()[static_cast<std::size_t>(n) * units + u] = last[u];
  }
}
inline void lstm_backward(Reference& r) {
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
          r.in_gradient()[Reference::at(e, n, k / e.width, y, k % e.width)] +=
              sums[g] * r.parameter(0)[g * width + i];
        }
      }
    }
  }
}

}  // namespace feedrate::testing
