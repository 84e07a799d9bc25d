// Compiled without fused multiply-add (CMakeLists.txt), as all of this folder.

#include "loader/order/draws.h"

#include <cmath>

namespace feedrate::loader {

// A Taylor series, exact to the last bit or two for |x| < 0.3: the next term is below 1e-18. Beyond,
// the square of the exponential of half of x.
double exponential(double x) {
  if (std::abs(x) >= 0.3) {
    const double root = exponential(x / 2);
    return root * root;
  }
  double sum = 1.0;
  for (int i = 13; i > 0; --i) sum = 1.0 + x * sum / i;
  return sum;
}

// Halley's iteration on the exponential, which triples the correct digits in each step.
double logarithm(double value) {
  if (value < 0.01 || value > 100) {
    constexpr double log_2 = 0.69314718055994530942;
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return exponent * log_2 + logarithm(fraction);
  }
  double x = 0;
  for (int step = 0; step < 12; ++step) {
    const double power = exponential(x);
    x += 2 * (value - power) / (value + power);
  }
  return x;
}

double Draws::beta(double alpha) {
  const auto log_uniform = [this] { return logarithm(uniform(0x1p-53, 1)); };
  if (alpha <= 1) {
    // Jöhnk's algorithm, in logarithms: powers of small numbers would vanish.
    for (;;) {
      const double one = log_uniform() / alpha, other = log_uniform() / alpha;
      if (exponential(one) + exponential(other) > 1) continue;
      return 1 / (1 + exponential(other - one));
    }
  }
  // Cheng's algorithm BB for equal parameters.
  const double root = std::sqrt(alpha);
  for (;;) {
    const double first = uniform(0x1p-53, 1), second = uniform(0x1p-53, 1);
    const double v = logarithm(first / (1 - first)) / root;
    const double w = alpha * exponential(v);
    const double z = first * first * second;
    const double r = (alpha + root) * v - 1.38629436111989061883;  // log 4
    const double s = alpha + r - w;
    if (s + 2.60943791243410037460 >= 5 * z) return w / (alpha + w);  // 1 + log 5
    const double log_z = logarithm(z);
    if (s >= log_z || r + 2 * alpha * logarithm(2 * alpha / (alpha + w)) >= log_z)
      return w / (alpha + w);
  }
}

}  // namespace feedrate::loader
