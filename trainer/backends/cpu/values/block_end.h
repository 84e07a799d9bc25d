#pragma once
// The end of a residual block, relu(norm + other), in the passes of the norm: on one plane of each
// tensor, at a time when the norm reads its values anyway. See norm_plane.h for the other passes.

#include "trainer/backends/cpu/values/norm_plane.h"

namespace feedrate::trainer::cpu {

// T is float or Bf16.

/// relu(normalised + other), as normalise() and an addition would compute it in fp32. `out` may be
/// `other`.
template <class T>
void normalise_and_add(const T* in, const T* other, const NormPlane& plane,
                       const NormCoefficients& c, T* out);

template <class T>
struct EndGradients {
  const T* gradient;  // of the relu's output
  const T* term;      // to be added to it; null if there is none
  const T* output;    // of the relu
  T* masked;          // result: the gradient of the norm and of `other`; may be `gradient`

  EndGradients from(std::int64_t at) const {
    return {gradient + at, term == nullptr ? nullptr : term + at, output + at, masked + at};
  }
};
/// Takes the gradient through the relu, and adds to Σ masked and Σ masked · (x − mean), where x are
/// the norm's `values`.
template <class T>
void add_end_gradients(const EndGradients<T>& end, const T* values, const NormPlane& plane,
                       const NormCoefficients& c, double* sums, double* products);

}  // namespace feedrate::trainer::cpu
