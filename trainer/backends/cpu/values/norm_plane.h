#pragma once
// Batch norm on one plane at a time: its sums, and what is made of every value once the channels'
// sums are known. With the relu behind the norm, if it follows; a gradient then comes through where
// that relu's output, computed once more, is positive.

#include <cstdint>

namespace feedrate::trainer::cpu {

/// `block` channels side by side at every pixel.
struct NormPlane {
  std::int64_t pixels, block;
  std::int64_t size() const { return pixels * block; }
};

/// What every value of a channel meets, by channel; zero for channels that fill up a block. See
/// batch_normalised() and batch_norm_gradient().
struct NormCoefficients {
  float *mean, *scale, *shift;
  float *mean_gradient, *slope;  // backward
};

/// Adds to Σ x and Σ x² of each channel. In double, so that a variance may be taken as the
/// difference of two sums.
void add_moments(const float* values, const NormPlane& plane, double* sums, double* squares);
/// Adds to Σ gradient and Σ gradient · (x − mean).
void add_gradients(bool relu_follows, const float* gradients, const float* values,
                   const NormPlane& plane, const NormCoefficients& c, double* sums,
                   double* products);
void normalise(bool relu_follows, const float* in, const NormPlane& plane,
               const NormCoefficients& c, float* out);
/// The gradient may be written over the output's.
void denormalise(bool relu_follows, const float* gradients, const float* in, const NormPlane& plane,
                 const NormCoefficients& c, float* out);

}  // namespace feedrate::trainer::cpu
