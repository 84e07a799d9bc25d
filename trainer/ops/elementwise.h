#pragma once
// The maths on single values, written once for host and device. Callers compute exponentials and
// logarithms, with the platform's own functions.

#include <cstdint>

#include "formats/base/random.h"
#include "loader/pixels/pixel_scale.h"  // scaled_pixel()

namespace feedrate::trainer {

/// NaN stays NaN, so that divergence is noticed.
constexpr float relu(float x) { return 0.0F > x ? 0.0F : x; }
constexpr float relu_gradient(float gradient, float output) {
  return output > 0.0F ? gradient : 0.0F;
}

/// Which elements a dropout node keeps in a step: a pure function, so no mask is stored.
/// `element` counts through the batch in canonical order: ((image·C + c)·H + h)·W + w.
class DropoutMask {
 public:
  constexpr DropoutMask(std::uint64_t seed, std::uint64_t step, std::uint64_t node, float share)
      : key_(formats::mix64(formats::mix64(formats::mix64(seed ^ 0xd209U) + step) + node)),
        dropped_below_(static_cast<std::uint64_t>(share * 16777216.0F)),
        scale_(1.0F / (1.0F - share)) {}
  constexpr float scale() const { return scale_; }
  /// The factor of a value and of its gradient: 0 or 1 / (1 − share).
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
/// The gradient of x. `mean_gradient` is the mean of the channel's output gradients, `slope` the
/// mean of gradient × (x − mean), divided by the variance; they account for the dependence of the
/// channel's mean and variance on x.
constexpr float batch_norm_gradient(float gradient, float x, float mean, float scale,
                                    float mean_gradient, float slope) {
  return ((gradient - mean_gradient) - (x - mean) * slope) * scale;
}
/// A running statistic after a batch.
constexpr double running_statistic(double before, double of_batch, double momentum) {
  return before + (of_batch - before) * momentum;
}
/// Unbiased estimate (Bessel's correction) from the variance of `values` values; unchanged for one.
constexpr double unbiased_variance(double variance, double values) {
  return values > 1 ? variance * values / (values - 1) : variance;
}

/// lrn: s, of the sum of squares in the window; `share` = alpha / size.
constexpr float lrn_scale(float squares, float share, float k) { return k + share * squares; }
/// A value's term in the gradients of its window; `power` = s^-beta.
constexpr float lrn_term(float gradient, float x, float power, float scale) {
  return gradient * x * power / scale;
}
/// `terms` is the sum of the window's terms; `factor` = 2 · alpha · beta / size.
constexpr float lrn_gradient(float gradient, float x, float power, float terms, float factor) {
  return gradient * power - factor * x * terms;
}

/// softmax_loss, one image: e_k = exp(logit_k − max), sum = Σ e_k.
constexpr float softmax_probability(float exponential, float sum) { return exponential / sum; }
/// −log of the label's probability.
constexpr double cross_entropy(double log_sum, float max, float label_logit) {
  return log_sum - (static_cast<double>(label_logit) - static_cast<double>(max));
}
/// The same, with `smoothing` of the target spread evenly over all classes.
constexpr double smoothed_cross_entropy(double log_sum, float max, float label_logit,
                                        double mean_logit, double smoothing) {
  if (!(smoothing > 0)) return cross_entropy(log_sum, max, label_logit);
  const double target = (1 - smoothing) * static_cast<double>(label_logit) + smoothing * mean_logit;
  return log_sum - (target - static_cast<double>(max));
}
/// The target of a class.
constexpr float softmax_target(bool is_label, float smoothing, std::int64_t classes) {
  return (is_label ? 1.0F - smoothing : 0.0F) + smoothing / static_cast<float>(classes);
}
/// The gradient of a logit; `image_weight` is the weight of the loss / the number of images.
constexpr float softmax_loss_gradient(float probability, float target, float image_weight) {
  return (probability - target) * image_weight;
}
/// Whether a class replaces the best of the earlier ones. Top-1 is the first of the largest logits.
constexpr bool is_new_maximum(float logit, float best) { return logit > best; }
/// For top-5: whether a class ranks before the label, by its logit and then by its number. NaN on
/// either side counts as before.
constexpr bool ranks_before(float logit, std::int64_t number, float label_logit,
                            std::int64_t label) {
  return number < label ? !(logit < label_logit) : number > label && !(logit <= label_logit);
}
inline constexpr std::int64_t top_five = 5;

}  // namespace feedrate::trainer
