#pragma once
// The part of an operator that is the same on every backend: shapes, parameters, cost and traits.
// Each backend implements it as a Layer; trainer/ops/list.inc lists every operator.

#include <cstdint>
#include <span>

#include "formats/base/kind.h"
#include "trainer/graph/graph.h"

namespace feedrate::trainer {

/// Kind of the first parameter of an operator whose outputs are sums of inputs times weights. An
/// LSTM has none: its weights have their own initial values and stay fp32.
enum class WeightKind : std::uint8_t {
  none,
  filters,  // a convolution's: O,I/groups,H,W
  matrix,   // a dense layer's: O,I
};

/// What each window of the image is reduced to.
enum class Pooling : std::uint8_t { none, maximum, mean };

/// Properties of an operator, for code that analyses graphs without knowing operators by name.
struct OpTraits {
  /// Backward reads the inputs, so their values must live until then.
  bool backward_reads_input = false;
  /// Backward reads the output, so its values must live until then.
  bool backward_reads_output = false;
  /// The output may use the first input's memory, and that input's gradient the output gradient's.
  bool in_place = false;
  /// It turns pixels into values: the first node of every graph.
  bool is_input = false;
  /// It computes a loss: no node needs to read its output.
  bool is_loss = false;
  /// It computes max(0, x) of each value: the node before or after it may do so in its place.
  bool is_relu = false;
  /// It adds a shortcut (its second input) to a residual branch (its first input).
  bool is_residual_sum = false;
  /// It runs over the rows of an image, one after the other.
  bool is_recurrent = false;
  /// Its first parameter multiplies each channel, so an initial value of 0 makes the output 0.
  bool scales_channels = false;
  /// Its first parameter holds weights of this kind.
  WeightKind weights = WeightKind::none;
  /// It reduces windows of the image to single values.
  Pooling pooling = Pooling::none;
};

/// Stateless; safe from any thread.
class Op : public formats::Kind {
 public:
  Op(std::string_view name, std::string_view summary, const OpTraits& traits = {})
      : formats::Kind(name, summary), traits_(traits) {}

  const OpTraits& traits() const { return traits_; }
  /// Extent of the output; throws Error when the inputs do not fit.
  virtual Extent extent(const Attributes& attributes, std::span<const Extent> inputs) const = 0;
  /// The parameters: names ("weight", "bias") and shapes. The Builder fills in initial values and
  /// scales, except for statistics and for parameters whose rule the op sets.
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
