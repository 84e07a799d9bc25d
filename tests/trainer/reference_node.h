#pragma once
// A node of a graph for the reference operators: its extents, attributes, parameters, values and
// gradients, in double and canonical order.

#include <cstdint>
#include <string_view>
#include <vector>

#include "loader/batch.h"
#include "trainer/graph/graph.h"

namespace feedrate::testing {
using namespace loader;
using namespace trainer;

using Doubles = std::vector<double>;

class ReferenceNode {
 public:
  struct Mode {
    bool training = true;
    std::uint64_t seed = 1;
    std::uint64_t step = 0;
  };

  const Node& node() const { return graph_.nodes[number_]; }
  std::size_t number() const { return number_; }
  const Mode& mode() const { return mode_; }
  bool training() const { return mode_.training; }
  const Batch& batch() const { return *batch_; }
  std::int64_t images() const { return batch_->count; }
  std::int64_t attribute(std::string_view name) const { return node().attributes.integer(name); }

  std::size_t inputs() const { return node().inputs.size(); }
  const Extent& in_extent(std::size_t k = 0) const { return graph_.nodes[node().inputs[k]].extent; }
  const Doubles& in(std::size_t k = 0) const { return outputs_[node().inputs[k]]; }
  Doubles& in_gradient(std::size_t k = 0) { return output_gradients_[node().inputs[k]]; }
  Doubles& out() { return outputs_[number_]; }
  Doubles& out_gradient() { return output_gradients_[number_]; }
  bool has_parameter(std::size_t k) const { return node().parameters.size() > k; }
  Doubles& parameter(std::size_t k) { return parameters[node().parameters[k]]; }
  Doubles& gradient(std::size_t k) { return gradients[node().parameters[k]]; }

  /// Of the whole network.
  void add_loss(double loss) { loss_ += loss; }
  void set_correct(std::uint64_t images) { correct_ = images; }

  static std::size_t at(const Extent& e, std::int64_t n, std::int64_t c, std::int64_t y,
                        std::int64_t x) {
    return static_cast<std::size_t>(((n * e.channels + c) * e.height + y) * e.width + x);
  }
  template <class Visit>
  void each(const Extent& e, const Visit& visit) const {
    for (std::int64_t n = 0; n < images(); ++n) {
      for (std::int64_t c = 0; c < e.channels; ++c) {
        for (std::int64_t y = 0; y < e.height; ++y) {
          for (std::int64_t x = 0; x < e.width; ++x) visit(n, c, y, x);
        }
      }
    }
  }

  std::vector<Doubles> parameters;
  std::vector<Doubles> gradients;  // of parameters, after backward

 protected:
  ReferenceNode(const Graph& graph, std::vector<Doubles> start)
      : parameters(std::move(start)), graph_(graph) {}

  const Graph& graph_;
  const Batch* batch_ = nullptr;
  Mode mode_;
  std::size_t number_ = 0;
  std::vector<Doubles> outputs_, output_gradients_;
  double loss_ = 0;
  std::uint64_t correct_ = 0;
};

}  // namespace feedrate::testing
