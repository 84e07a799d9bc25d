#pragma once
// The reference for the backends: every operator written as simply as possible, in double and
// canonical order. conformance_test.cpp checks its gradients against finite differences.

#include <map>
#include <string_view>

#include "tests/trainer/reference_products.h"
#include "tests/trainer/reference_values.h"
#include "tests/trainer/reference_windows.h"
#include "trainer/graph/op.h"

namespace feedrate::testing {
using namespace loader;
using namespace trainer;

/// A graph with its parameters. run() returns the mean loss and computes its gradients. Training
/// updates the running statistics.
class Reference : public ReferenceNode {
 public:
  Reference(const Graph& graph, std::vector<Doubles> start)
      : ReferenceNode(graph, std::move(start)) {}

  double run(const Batch& batch, const Mode& mode) {
    batch_ = &batch;
    mode_ = mode;
    loss_ = 0;
    const std::vector<bool> training_only = graph_.training_only();
    outputs_.assign(graph_.nodes.size(), {});
    for (number_ = 0; number_ < graph_.nodes.size(); ++number_) {
      if (training_only[number_] && !mode.training) continue;
      out().resize(static_cast<std::size_t>(node().extent.elements()) * batch.count);
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

  std::uint64_t correct() const { return correct_; }

 private:
  struct Row {
    void (*forward)(ReferenceNode&);
    void (*backward)(ReferenceNode&);
  };
  static const std::map<std::string_view, Row>& rows() {
    static const std::map<std::string_view, Row> all = {
#define FEEDRATE_ROW(name) {#name, {name##_forward, name##_backward}},
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW
    };
    return all;
  }
};

}  // namespace feedrate::testing
