#pragma once
// Batch norm on one plane at a time: its sums, and the results once the sums of the channels are
// known. Optionally with the relu that follows the norm; its output is computed again for the
// gradient, which passes where the output is positive.

#include <cstdint>

namespace feedrate::trainer::cpu {

/// A plane of pixels with `block` contiguous channels each.
struct NormPlane {
  std::int64_t pixels, block;
  std::int64_t size() const { return pixels * block; }
};

/// The coefficients of batch_normalised() and batch_norm_gradient(), by channel; zero for padding
/// channels.
struct NormCoefficients {
  float *mean, *scale, *shift;
  float *mean_gradient, *slope;  // backward
};

/// Adds to Σ x and Σ x² of each channel, in double, so that the variance can be computed as the
/// difference of two sums.
void add_moments(const float* values, const NormPlane& plane, double* sums, double* squares);
/// Adds to Σ gradient and Σ gradient · (x − mean).
void add_gradients(bool relu_follows, const float* gradients, const float* values,
                   const NormPlane& plane, const NormCoefficients& c, double* sums,
                   double* products);
void normalise(bool relu_follows, const float* in, const NormPlane& plane,
               const NormCoefficients& c, float* out);
/// Computes input gradients; `out` may be `gradients`.
void denormalise(bool relu_follows, const float* gradients, const float* in, const NormPlane& plane,
                 const NormCoefficients& c, float* out);

}  // namespace feedrate::trainer::cpu
