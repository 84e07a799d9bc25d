#pragma once
// Batch norm on one plane at a time: its sums, and the results once the sums of the channels are
// known. Optionally with the relu that follows the norm; its output is computed again for the
// gradient, which passes where the output is positive.

#include <cstdint>

#include "trainer/backends/cpu/value_type.h"

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

// T is float or Bf16.

/// Adds to Σ x and Σ x² of each channel, in double, so that the variance can be computed as the
/// difference of two sums.
template <class T>
void add_moments(const T* values, const NormPlane& plane, double* sums, double* squares);
/// Adds to Σ gradient and Σ gradient · (x − mean).
template <class T>
void add_gradients(bool relu_follows, const T* gradients, const T* values, const NormPlane& plane,
                   const NormCoefficients& c, double* sums, double* products);
template <class T>
void normalise(bool relu_follows, const T* in, const NormPlane& plane, const NormCoefficients& c,
               T* out);
/// Computes input gradients; `out` may be `gradients`.
template <class T>
void denormalise(bool relu_follows, const T* gradients, const T* in, const NormPlane& plane,
                 const NormCoefficients& c, T* out);

}  // namespace feedrate::trainer::cpu
