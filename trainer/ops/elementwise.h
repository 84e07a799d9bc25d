#pragma once
// The maths that every backend runs on one value at a time, written once for host and device.
// Exponentials and logarithms are left to the caller: they are the platform's own.

#include <cstdint>

#include "formats/base/random.h"
#include "loader/pixels/pixel_scale.h"  // scaled_pixel, of input

namespace feedrate::trainer {

/// NaN stays NaN, so that a network that has blown up says so.
constexpr float relu(float x) { return 0.0F > x ? 0.0F : x; }
constexpr float relu_gradient(float gradient, float output) {
  return output > 0.0F ? gradient : 0.0F;
}

/// Which elements one dropout node keeps in one step: a pure function, so no mask is stored.
/// `element` counts through the batch in canonical order: ((image·C + c)·H + h)·W + w.
class DropoutMask {
 public:
  constexpr DropoutMask(std::uint64_t seed, std::uint64_t step, std::uint64_t node, float share)
      : key_(formats::mix64(formats::mix64(formats::mix64(seed ^ 0xd209U) + step) + node)),
        dropped_below_(static_cast<std::uint64_t>(share * 16777216.0F)),
        scale_(1.0F / (1.0F - share)) {}
  constexpr float scale() const { return scale_; }
  /// What to multiply a value or its gradient by: 0 or 1 / (1 − share).
  constexpr float factor(std::uint64_t element) const {
    return (formats::random_bits(key_, element) >> 40) < dropped_below_ ? 0.0F : scale_;
  }

 private:
  std::uint64_t key_;
  std::uint64_t dropped_below_;  // of 2^24
  float scale_;
};

/// batch_norm: scale = weight / deviation, shift = bias.
constexpr float batch_normalised(float x, float mean, float scale, float shift) {
  return (x - mean) * scale + shift;
}
/// With `mean_gradient` the mean of the channel's output gradients and `slope` the mean of gradient
/// × (x − mean), divided by the variance: what the channel's own mean and variance take away.
constexpr float batch_norm_gradient(float gradient, float x, float mean, float scale,
                                    float mean_gradient, float slope) {
  return ((gradient - mean_gradient) - (x - mean) * slope) * scale;
}
/// A running statistic after a batch.
constexpr double running_statistic(double before, double of_batch, double momentum) {
  return before + (of_batch - before) * momentum;
}
/// Variance of all that a batch of `values` is drawn from (Bessel's); of one value its own.
constexpr double unbiased_variance(double variance, double values) {
  return values > 1 ? variance * values / (values - 1) : variance;
}

/// lrn: s, of the sum of squares in the window; `share` = alpha / size.
constexpr float lrn_scale(float squares, float share, float k) { return k + share * squares; }
/// What a value of the window takes part with in a gradient; `power` = s^-beta.
constexpr float lrn_term(float gradient, float x, float power, float scale) {
  return gradient * x * power / scale;
}
/// With the sum of the window's terms; `factor` = 2 · alpha · beta / size.
constexpr float lrn_gradient(float gradient, float x, float power, float terms, float factor) {
  return gradient * power - factor * x * terms;
}

/// softmax_loss, one image: e_k = exp(logit_k − max), sum = Σ e_k.
constexpr float softmax_probability(float exponential, float sum) { return exponential / sum; }
/// −log of the label's probability.
constexpr double cross_entropy(double log_sum, float max, float label_logit) {
  return log_sum - (static_cast<double>(label_logit) - static_cast<double>(max));
}
/// The same, when `smoothing` of the target is shared among all classes evenly.
constexpr double smoothed_cross_entropy(double log_sum, float max, float label_logit,
                                        double mean_logit, double smoothing) {
  if (!(smoothing > 0)) return cross_entropy(log_sum, max, label_logit);
  const double target = (1 - smoothing) * static_cast<double>(label_logit) + smoothing * mean_logit;
  return log_sum - (target - static_cast<double>(max));
}
/// The target's share of a class.
constexpr float softmax_target(bool is_label, float smoothing, std::int64_t classes) {
  return (is_label ? 1.0F - smoothing : 0.0F) + smoothing / static_cast<float>(classes);
}
/// With respect to a logit; `image_weight` is one image's in the whole: weight / count.
constexpr float softmax_loss_gradient(float probability, float target, float image_weight) {
  return (probability - target) * image_weight;
}
/// Top-1 is the first of the largest logits: whether a class takes the lead from an earlier one.
constexpr bool is_new_maximum(float logit, float best) { return logit > best; }
/// Top-5: whether a class stands before the label, by its logit and then by its number. NaN stands
/// before and after everything.
constexpr bool ranks_before(float logit, std::int64_t number, float label_logit,
                            std::int64_t label) {
  return number < label ? !(logit < label_logit) : number > label && !(logit <= label_logit);
}
inline constexpr std::int64_t top_five = 5;

}  // namespace feedrate::trainer
