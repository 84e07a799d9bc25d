#pragma once
// An operator's backend-free half: shapes, parameters, cost and traits. Each backend adds its own
// half, a Layer; trainer/ops/list.inc names every operator once.

#include <cstdint>
#include <span>

#include "formats/base/kind.h"
#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// What the first parameter is where every output is a sum of inputs times weights. An LSTM's
/// weights are neither: they have start values of their own and stay fp32.
enum class WeightKind : std::uint8_t {
  none,
  filters,  // a convolution's: O,I/groups,H,W
  matrix,   // a dense layer's: O,I
};

/// What is left of each window.
enum class Pooling : std::uint8_t { none, maximum, mean };

/// What an operator can do, for all who look at graphs without knowing their operators by name.
struct OpTraits {
  /// Backward reads the inputs: their values live until then.
  bool backward_reads_input = false;
  /// Backward reads the output: its values live until then.
  bool backward_reads_output = false;
  /// The output may take the first input's memory, and that input's gradient the output's.
  bool in_place = false;
  /// It makes values of pixels: every graph starts with one.
  bool is_input = false;
  /// The graph may end here: nothing reads the output.
  bool is_loss = false;
  /// max(0, x) of each value: the node before it or after it may do its work.
  bool is_relu = false;
  /// It adds a shortcut, its second input, to a residual branch, its first.
  bool is_residual_sum = false;
  /// Its first parameter multiplies each channel: where that starts at 0, so does the output.
  bool scales_channels = false;
  /// Its first parameter holds weights of this kind.
  WeightKind weights = WeightKind::none;
  /// It reduces windows of the image to single values.
  Pooling pooling = Pooling::none;
};

/// Stateless; any thread.
class Op : public formats::Kind {
 public:
  Op(std::string_view name, std::string_view summary, const OpTraits& traits = {})
      : formats::Kind(name, summary), traits_(traits) {}

  const OpTraits& traits() const { return traits_; }
  /// Extent of the output; throws Error when the inputs do not fit.
  virtual Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const = 0;
  /// Parameters' names ("weight", "bias"), shapes; inits and scales are filled in by the Builder,
  /// but for statistics that are not learned.
  virtual std::vector<Parameter> parameters(const Attributes& attributes,
                                            std::span<const Extent> inputs) const;
  /// Multiply-adds forward for one image; only conv, dense and lstm have any.
  virtual std::uint64_t macs(const Attributes& attributes, std::span<const Extent> inputs,
                             Extent output) const;

 private:
  OpTraits traits_;
};

/// All ops, in the order of help.
std::span<const Op* const> ops();
const Op& op(std::string_view name);

}  // namespace feedrate::trainer
