#pragma once
// Small networks that put every operator to work in the shapes that matter. A new operator needs a
// case here; conformance_test.cpp fails until it has one.

#include <string>
#include <vector>

#include "trainer/graph.h"

namespace feedrate::testing {

struct OpCase {
  std::string op;  // the one it is about
  std::string what;
  Graph graph;
};

inline std::vector<OpCase> op_cases() {
  constexpr Shape grey{9, 8, 1}, colour{9, 8, 3};
  constexpr std::uint32_t classes = 5;
  const Builder::Layer layer{.bias = {Init::Rule::gaussian, 0.3}};
  std::vector<OpCase> cases;
  // `body` gets from the scaled pixels to the values that a last dense layer turns into logits.
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
  add("max_pool", "in blocks", grey, [&](Builder& b, V x) {
    x = b.conv(b.conv(x, 16, 3, 1, 1, layer), 30, 3, 1, 1, layer);
    return b.max_pool(x, 2, 2);
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

  add("softmax_loss", "after a deeper network", grey, [&](Builder& b, V x) {
    x = b.relu(b.max_pool(b.conv(x, 8, 3, 1, 1, layer), 2, 2));
    return b.relu(b.dense(x, 30, layer));
  });
  return cases;
}

}  // namespace feedrate::testing
