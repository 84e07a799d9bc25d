#pragma once
// Residual blocks of every kind, for tests of fused passes.

#include "trainer/graph/graph.h"

namespace feedrate::testing {

/// An identity behind a norm, behind a pool and behind a block; projections after and before the
/// branch; a shortcut without parameters; a branch that ends without a norm; a sum that cannot work
/// in place; three readers.
inline trainer::Graph blocks(std::int64_t width, const formats::Shape& image = {8, 8, 3},
                             std::uint32_t classes = 5) {
  using trainer::Builder;
  Builder b("blocks", image, classes);
  const auto conv_norm = [&](Builder::Value x, std::int64_t filters, std::int64_t kernel,
                             std::int64_t stride) {
    return b.batch_norm(b.conv(x, filters, kernel, stride, kernel / 2, {.no_bias = true}), {});
  };
  auto x = b.relu(conv_norm(b.input(1.0 / 64, 120), width, 3, 1));
  x = b.relu(conv_norm(b.max_pool(x, 3, 1, 1), width, 3, 1));
  x = b.relu(b.sum(conv_norm(b.relu(conv_norm(x, width, 1, 1)), width, 3, 1), x));
  x = b.max_pool(x, 2, 2);
  for (int i = 0; i < 2; ++i) {
    x = b.relu(b.sum(conv_norm(b.relu(conv_norm(x, width, 1, 1)), width, 3, 1), x));
  }
  auto first = conv_norm(x, 2 * width, 3, 2);
  x = b.relu(b.sum(first, conv_norm(x, 2 * width, 1, 2)));
  first = conv_norm(x, 2 * width, 1, 1);
  x = b.relu(b.sum(conv_norm(x, 2 * width, 3, 1), first));
  x = b.relu(b.sum(conv_norm(x, 4 * width, 3, 2), b.shortcut(x, 4 * width, 2)));
  first = b.conv(x, 4 * width, 1, 1, 0, {});
  x = b.relu(b.sum(first, conv_norm(x, 4 * width, 1, 1)));
  x = b.relu(b.sum(x, conv_norm(x, 4 * width, 1, 1)));
  x = b.sum(b.relu(conv_norm(x, 4 * width, 1, 1)), b.sum(x, conv_norm(x, 4 * width, 1, 1)));
  return b.softmax_loss(b.dense(b.global_avg_pool(x), classes, {}));
}

}  // namespace feedrate::testing
