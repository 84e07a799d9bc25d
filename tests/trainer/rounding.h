#pragma once
// How far apart two correct trainings may come, measured instead of guessed.
//
// Processors, thread counts and libraries sum in different orders, so no two agree to the last bit.
// What a last bit comes to depends on the network: a loss that is a smooth function of the weights
// keeps it a last bit, while relus, pools, norms and a high rate can make it a thousandth in ten
// steps. A constant that suits both hides faults in the first and fails the second on the next
// processor. So a test trains again with every weight moved a little before every step, and sees
// what becomes of it. What it compares may then differ by three times this effect, and never has to
// agree in less than an ulp or two.
//
// A move is of 4 ulps. What arithmetic in fp32 does by itself has the effect of about one (beside
// PyTorch's double, of half to one and a half), and where all is smooth a larger move has that many
// times the effect. But where a value lies near the kink of a relu, or two in a pool nearly tie,
// rounding takes either branch, and then the difference is of a fixed size, however small the
// rounding was. So moves come in pairs, one the other's reverse: where the branches lie closer than
// a move, one of the two takes the other branch. Larger moves would find branches that no rounding
// reaches. An effect also passes through zero by chance: what counts is the largest so far.
//
// What a move cannot show is the rounding within a long sum: a gradient of LeNet's first filters at
// batch 64 sums 36,864 products, and a library may do so in one chain, which rounds each time. The
// errors of a chain of n wander: they come to about √n half ulps at most. Whoever compares such sums
// says how long they are.
//
// A fault moves what a test watches by far more: a gradient that is wrong by a thousandth is wrong
// by 8000 ulps.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/base/random.h"
#include "trainer/backends/backend.h"

namespace feedrate::testing {

/// Moves every value but 0 up or down by 4 ulps, as random bits say, or the other way.
inline void move_by_ulps(std::vector<float>& values, std::uint64_t key, bool reverse) {
  constexpr std::uint32_t ulps = 4;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool up = ((formats::random_bits(key, i / 64) >> (i % 64) & 1) != 0) != reverse;
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    if (std::isnormal(values[i])) values[i] = std::bit_cast<float>(up ? bits + ulps : bits - ulps);
  }
}

/// One of the trainings that measure the effect, numbered from 1. Number 0 is the training itself:
/// nothing is moved.
struct Nudge {
  static constexpr unsigned count = 4;  // two pairs
  unsigned number = 0;

  /// To be called before each step. State, such as the momentum, is left alone.
  void operator()(trainer::Session& session, std::uint64_t step) const {
    if (number == 0) return;
    for (std::size_t p = 0; p < session.plan().graph.parameters.size(); ++p) {
      std::vector<float> values = session.parameter(p);
      const unsigned pair = (number + 1) / 2;
      move_by_ulps(values, formats::mix64((step << 32 | p) * (count + 1) + pair), number % 2 == 0);
      session.set_parameter(p, values);
    }
  }
};

/// The largest effects so far of such moves, by what they are an effect on.
class Rounding {
 public:
  /// Relative: what moved trainings show beside the training itself.
  void saw(const std::string& what, double effect) {
    effects_[what] = larger(effects_[what], effect);
  }
  /// Relative: by how much two correct trainings may differ, whose sums have at most so many terms.
  double tolerance(const std::string& what, double terms = 0) const {
    return floor + times * effects_.at(what) + half_ulp * std::sqrt(terms);
  }

  /// What is no number is the larger: nothing is within its tolerance.
  static double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

 private:
  static constexpr double floor = 2.0 / (1 << 23);  // two ulps
  static constexpr double half_ulp = 1.0 / (1 << 24);
  static constexpr double times = 3;  // kernels for AVX2 came to 2.1, in ResNet-50's fourth step

  std::map<std::string, double> effects_;
};

/// Difference of two tensors, in parts of the second's length.
inline double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - b[i], 2);
    length += std::pow(double{b[i]}, 2);
  }
  return length == 0 ? std::sqrt(difference) : std::sqrt(difference / length);
}

/// By how much, relatively, the tensor that `show` gives may differ from another's.
inline double rounding_of(const std::function<std::vector<float>(const Nudge&)>& show) {
  const std::vector<float> plain = show({});
  Rounding rounding;
  for (unsigned number = 1; number <= Nudge::count; ++number) {
    rounding.saw("", relative_difference(show({number}), plain));
  }
  return rounding.tolerance("");
}

/// One number that a training shows, and what it should be.
struct Shown {
  std::string what;   // such as "loss": effects on it are collected over the steps
  std::string where;  // such as "step 3"
  double found = 0;
  double expected = 0;
  double size = 0;  // differences are in parts of it; 0: of `expected`
};
using Course = std::vector<Shown>;

/// Expects every number that `train` shows to be as expected but for rounding. `train` is called
/// several times, one after the other, and each time starts anew.
inline void expect_but_for_rounding(const std::function<Course(const Nudge&)>& train) {
  const Course course = train({});
  std::vector<double> effects(course.size());
  const auto size = [](const Shown& shown) {
    return std::max(std::abs(shown.size != 0 ? shown.size : shown.expected), 1e-30);
  };
  for (unsigned number = 1; number <= Nudge::count; ++number) {
    const Course moved = train({number});
    ASSERT_EQ(moved.size(), course.size());
    for (std::size_t i = 0; i < course.size(); ++i) {
      const double effect = std::abs(moved[i].found - course[i].found) / size(course[i]);
      effects[i] = Rounding::larger(effects[i], effect);
    }
  }
  Rounding rounding;
  for (std::size_t i = 0; i < course.size(); ++i) {
    const Shown& shown = course[i];
    rounding.saw(shown.what, effects[i]);
    const double difference = std::abs(shown.found - shown.expected) / size(shown);
    const double allowed = rounding.tolerance(shown.what);
    EXPECT_LE(difference, allowed)
        << shown.what << ", " << shown.where << ": " << shown.found << ", not " << shown.expected;
  }
}

}  // namespace feedrate::testing
