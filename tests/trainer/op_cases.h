#pragma once
// Small networks that exercise every operator in the shapes that matter. A new operator needs a
// case here; conformance_test.cpp fails until it has one.

#include <string>
#include <vector>

#include "trainer/graph/graph.h"
#include "trainer/graph/op.h"

namespace feedrate::testing {
using namespace formats;
using namespace trainer;

struct OpCase {
  std::string op;  // under test
  std::string what;
  Graph graph;
};

inline std::vector<OpCase> op_cases() {
  constexpr Shape grey{9, 8, 1}, colour{9, 8, 3};
  constexpr std::uint32_t classes = 5;
  const Builder::Layer layer{.bias = {Init::Rule::gaussian, 0.3}};
  std::vector<OpCase> cases;
  // `body` maps the scaled pixels to the input of the last dense layer, which computes the logits.
  const auto add = [&](std::string op, std::string what, Shape shape, const auto& body) {
    Builder b("case", shape, classes);
    const auto x = body(b, b.input(1.0 / 128, 120));
    cases.push_back({std::move(op), std::move(what), b.softmax_loss(b.dense(x, classes, layer))});
  };
  using V = Builder::Value;

  add("input", "grey pixels", grey, [](Builder&, V x) { return x; });
  add("input", "colour pixels", colour, [](Builder&, V x) { return x; });

  add("conv", "grey", grey, [&](Builder& b, V x) { return b.conv(x, 4, 5, 1, 0, layer); });
  add("conv", "colour, strided and padded", colour,
      [&](Builder& b, V x) { return b.conv(x, 7, 3, 2, 1, layer); });
  add("conv", "colour, blocks that its kernel fills", colour,
      [&](Builder& b, V x) { return b.conv(x, 5, 4, 2, 1, layer); });
  add("conv", "colour, a stride of 4 over the edge", colour,
      [&](Builder& b, V x) { return b.conv(x, 8, 7, 4, 3, layer); });
  add("conv", "colour, strides that leave pixels out", colour,
      [&](Builder& b, V x) { return b.conv(x, 4, 1, 2, 0, layer); });
  add("conv", "one on another", colour,
      [&](Builder& b, V x) { return b.conv(b.conv(x, 6, 3, 1, 1, layer), 5, 3, 2, 2, layer); });
  add("conv", "of one pixel", colour,
      [&](Builder& b, V x) { return b.conv(b.conv(x, 6, 1, 1, 0, layer), 5, 1, 2, 0, layer); });
  add("conv", "wide as LeNet's second", colour,
      [&](Builder& b, V x) { return b.conv(b.conv(x, 20, 3, 1, 0, layer), 50, 5, 1, 0, layer); });
  add("conv", "in blocks of 16", colour,
      [&](Builder& b, V x) { return b.conv(b.conv(x, 16, 3, 1, 1, layer), 32, 3, 1, 1, layer); });
  add("conv", "in blocks, strided, one on another", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 32, 3, 1, 1, layer), 16, 3, 2, 1, layer);
    return b.conv(x, 32, 1, 1, 0, layer);
  });
  add("conv", "in blocks that are partly filled", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 30, 3, 1, 1, layer), 30, 3, 1, 0, layer);
    return b.conv(x, 28, 3, 1, 1, layer);
  });
  add("conv", "out of blocks again", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.conv(x, 3, 3, 1, 1, layer);
  });

  add("max_pool", "side by side", grey,
      [&](Builder& b, V x) { return b.max_pool(b.conv(x, 5, 3, 1, 0, layer), 2, 2); });
  add("max_pool", "overlapping and padded", grey,
      [&](Builder& b, V x) { return b.max_pool(b.conv(x, 5, 2, 1, 1, layer), 3, 2, 1); });
  add("max_pool", "with a last partial window", grey, [&](Builder& b, V x) {
    return b.add("max_pool", {b.conv(x, 70, 2, 1, 0, layer)},
                 {{"kernel", 3}, {"stride", 2}, {"ceil", 1}}, {});
  });
  add("max_pool", "with a window larger than the image", {2, 2, 3}, [&](Builder& b, V x) {
    return b.dense(b.max_pool_ceil(b.conv(x, 6, 1, 1, 0, layer), 3, 2), 9, layer);
  });
  add("max_pool", "in blocks", grey, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.max_pool(x, 2, 2);
  });

  add("max_pool", "of relus, one of which others read", colour, [&](Builder& b, V x) {
    x = b.relu(b.conv(b.max_pool(b.relu(b.conv(x, 16, 3, 1, 1, layer)), 3, 2), 6, 1, 1, 0, layer));
    return b.sum(b.max_pool(x, 3, 1, 1), x);
  });
  add("max_pool", "at every pixel, in blocks", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.max_pool(b.max_pool(x, 3, 1, 1), 3, 1);
  });

  const Builder::Layer no_bias{.no_bias = true};
  add("conv", "without bias", colour,
      [&](Builder& b, V x) { return b.conv(b.conv(x, 6, 3, 1, 1, no_bias), 5, 1, 1, 0, no_bias); });
  add("conv", "in blocks without bias", colour, [&](Builder& b, V x) {
    return b.conv(b.conv(x, 16, 3, 1, 1, no_bias), 32, 3, 2, 1, no_bias);
  });
  add("conv", "in groups", colour, [&](Builder& b, V x) {
    Builder::Layer grouped = layer;
    grouped.groups = 2;
    return b.conv(b.conv(x, 6, 3, 1, 1, layer), 10, 3, 1, 1, grouped);
  });
  add("conv", "in groups of blocks without bias", colour, [&](Builder& b, V x) {
    x = b.conv(x, 32, 3, 1, 1, layer);
    return b.conv(x, 48, 3, 2, 1, {.no_bias = true, .groups = 2});
  });

  add("avg_pool", "of whole channels", grey,
      [&](Builder& b, V x) { return b.global_avg_pool(b.conv(x, 21, 3, 1, 0, layer)); });
  add("avg_pool", "overlapping and padded", grey, [&](Builder& b, V x) {
    return b.add("avg_pool", {b.conv(x, 5, 2, 1, 1, layer)},
                 {{"kernel", 3}, {"stride", 2}, {"pad", 1}}, {});
  });
  add("avg_pool", "with gaps and a last partial window, in blocks", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.add("avg_pool", {x}, {{"kernel", 2}, {"stride", 3}, {"ceil", 1}}, {});
  });
  add("avg_pool", "in bins that overlap", colour, [&](Builder& b, V x) {
    return b.add("avg_pool", {b.conv(x, 5, 1, 1, 0, layer)}, {{"bins", 4}}, {});
  });

  add("batch_norm", "of pixels", colour, [&](Builder& b, V x) { return b.batch_norm(x, {}); });
  // No bias: a norm cancels it, so its gradient would be only rounding errors.
  add("batch_norm", "after conv and twice", colour, [&](Builder& b, V x) {
    x = b.relu(b.batch_norm(b.conv(x, 21, 3, 1, 1, no_bias), {.momentum = 0.3}));
    return b.batch_norm(b.conv(x, 5, 3, 2, 0, no_bias), {.epsilon = 0.01, .weight = 0.5});
  });
  add("batch_norm", "in blocks that are partly filled", colour, [&](Builder& b, V x) {
    x = b.relu(b.batch_norm(b.conv(x, 30, 3, 1, 1, no_bias), {}));
    x = b.relu(b.batch_norm(b.conv(x, 30, 3, 1, 0, no_bias), {}));
    return b.conv(x, 28, 3, 1, 1, layer);
  });
  add("batch_norm", "of single values", grey, [&](Builder& b, V x) {
    x = b.global_avg_pool(b.relu(b.conv(x, 18, 3, 1, 0, no_bias)));
    return b.relu(b.batch_norm(x, {.momentum = 1}));
  });

  add("add", "of a value and what was made of it", colour, [&](Builder& b, V x) {
    x = b.relu(b.conv(x, 6, 3, 1, 1, layer));
    const V y = b.conv(b.relu(b.conv(x, 6, 3, 1, 1, layer)), 6, 3, 1, 1, layer);
    return b.relu(b.sum(y, x));
  });
  add("add", "of a value to itself", grey, [&](Builder& b, V x) {
    x = b.dense(x, 12, layer);
    return b.sum(x, x);
  });
  add("add", "of what lies in blocks and what does not", colour, [&](Builder& b, V x) {
    const V wide = b.conv(x, 16, 3, 1, 1, layer);
    const V blocked = b.conv(wide, 32, 3, 1, 1, layer);
    const V planar = b.conv(x, 32, 1, 1, 0, layer);
    return b.sum(b.sum(blocked, planar), b.relu(planar));
  });
  add("add", "of residual blocks with norms, one projected", colour, [&](Builder& b, V x) {
    x = b.relu(b.batch_norm(b.conv(x, 16, 3, 1, 1, no_bias), {}));
    for (const int stride : {1, 2}) {
      V y = b.relu(b.batch_norm(b.conv(x, 16 * stride, 3, stride, 1, no_bias), {}));
      y = b.batch_norm(b.conv(y, 16 * stride, 3, 1, 1, no_bias), {});
      if (stride == 2) x = b.batch_norm(b.conv(x, 32, 1, 2, 0, no_bias), {});
      x = b.relu(b.sum(y, x));
    }
    return b.global_avg_pool(x);
  });
  add("add", "where three nodes read one value, and pixels are one side", colour,
      [&](Builder& b, V x) {
        x = b.sum(b.conv(x, 3, 3, 1, 1, layer), x);
        const V y = b.sum(b.relu(x), b.conv(x, 3, 3, 1, 1, layer));
        return b.sum(b.dropout(x, 0.25), b.relu(y));
      });

  add("shortcut", "past a conv", colour, [&](Builder& b, V x) {
    x = b.conv(x, 6, 3, 1, 1, layer);
    return b.sum(b.shortcut(x, 9, 2), b.conv(x, 9, 3, 2, 1, layer));
  });
  add("shortcut", "past a conv in blocks that are partly filled", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.sum(b.conv(x, 45, 3, 3, 1, layer), b.shortcut(x, 45, 3));
  });

  add("concat", "of what was made of one value in three ways", colour, [&](Builder& b, V x) {
    x = b.conv(x, 6, 3, 1, 1, layer);
    return b.concat({b.relu(b.conv(x, 4, 1, 1, 0, layer)), x, b.max_pool(x, 3, 1, 1)});
  });
  add("concat", "of whole blocks", colour, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 32, 3, 1, 1, layer);
    x = b.concat({b.conv(x, 16, 1, 1, 0, layer), b.relu(x), b.conv(x, 32, 3, 1, 1, layer)});
    return b.conv(x, 16, 1, 1, 0, layer);
  });
  add("concat", "of blocks that are partly filled, and of pixels", colour, [&](Builder& b, V x) {
    const V y = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.conv(b.concat({y, x, b.relu(y), y}), 16, 1, 1, 0, layer);
  });

  const Builder::Response strong{.size = 5, .alpha = 2, .beta = 0.75, .k = 1};
  add("lrn", "of few channels", colour,
      [&](Builder& b, V x) { return b.lrn(b.conv(x, 7, 3, 1, 0, layer), strong); });
  add("lrn", "of pixels, with other numbers", colour, [&](Builder& b, V x) {
    return b.conv(b.lrn(x, {.size = 3, .alpha = 1.5, .beta = 0.6, .k = 2}), 5, 3, 1, 0, layer);
  });
  add("lrn", "in blocks that are partly filled", colour, [&](Builder& b, V x) {
    x = b.relu(b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer));
    return b.conv(b.lrn(x, strong), 16, 1, 1, 0, layer);
  });

  add("dense", "on pixels", grey, [&](Builder& b, V x) { return b.dense(x, 33, layer); });
  add("dense", "on channels, one on another", colour, [&](Builder& b, V x) {
    return b.dense(b.dense(b.conv(x, 5, 3, 1, 0, layer), 40, layer), 12, layer);
  });

  add("relu", "after dense", grey, [&](Builder& b, V x) { return b.relu(b.dense(x, 21, layer)); });
  add("relu", "after conv in blocks", colour, [&](Builder& b, V x) {
    return b.relu(b.conv(b.relu(b.conv(x, 16, 3, 1, 1, layer)), 30, 3, 1, 1, layer));
  });

  add("dropout", "after dense and relu", grey,
      [&](Builder& b, V x) { return b.dropout(b.relu(b.dense(x, 40, layer)), 0.3); });
  add("dropout", "after conv, twice", colour, [&](Builder& b, V x) {
    return b.dropout(b.conv(b.dropout(b.conv(x, 6, 3, 1, 0, layer), 0.5), 7, 3, 1, 0, layer), 0.2);
  });
  add("dropout", "on pixels and in blocks", colour, [&](Builder& b, V x) {
    x = b.conv(b.dropout(x, 0.1), 16, 3, 1, 1, layer);
    return b.dropout(b.conv(x, 30, 3, 1, 1, layer), 0.4);
  });

  add("tanh", "in place and not", colour, [&](Builder& b, V x) {
    x = b.conv(b.add("tanh", {x}, {}, {}), 5, 3, 1, 1, layer);
    return b.conv(b.add("tanh", {x}, {}, {}), 18, 3, 1, 0, layer);
  });

  add("lstm", "over grey rows", grey, [&](Builder& b, V x) { return b.lstm(x, 6, layer); });
  add("lstm", "over rows of planes, whose gradient goes on", colour,
      [&](Builder& b, V x) { return b.relu(b.lstm(b.conv(x, 5, 3, 1, 1, layer), 7, layer)); });
  add("lstm", "over rows that lie in blocks", grey, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 2, 1, layer);
    return b.lstm(x, 64, layer);
  });

  add("softmax_loss", "after a deeper network", grey, [&](Builder& b, V x) {
    x = b.relu(b.max_pool(b.conv(x, 8, 3, 1, 1, layer), 2, 2));
    return b.relu(b.dense(x, 30, layer));
  });
  add("softmax_loss", "beside those of two auxiliary heads", colour, [&](Builder& b, V x) {
    x = b.relu(b.conv(x, 8, 3, 1, 1, layer));
    b.auxiliary_loss(b.dense(x, classes, layer), 0.3);
    x = b.relu(b.conv(x, 6, 3, 2, 1, layer));
    const V y = b.dropout(b.relu(b.dense(b.avg_pool(x, 2, 2), 16, layer)), 0.4);
    b.auxiliary_loss(b.dense(y, classes, layer), 0.7);
    return b.relu(b.dense(x, 12, layer));
  });
  cases.push_back({"input", "colours with their own means and scales", cases[1].graph});
  Attributes& pixels = cases.back().graph.nodes.front().attributes;
  pixels["scale1"] = 1.0 / 32;
  pixels["mean2"] = 140;
  cases.push_back(
      {"softmax_loss", "with smoothed targets, two heads", cases[cases.size() - 2].graph});
  for (Node& node : cases.back().graph.nodes) {
    if (node.op->traits().is_loss) node.attributes["smoothing"] = 0.3;
  }
  return cases;
}

}  // namespace feedrate::testing
