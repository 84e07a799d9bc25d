#pragma once
// Parameters, gradients and optimizer state: one flat device buffer each, laid out alike, so that
// an update is one kernel. A parameter's own layout is the canonical one.

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/backends/cuda/op.cuh"
#include "trainer/optimizer.h"

namespace feedrate::cuda {

/// A run of one parameter's elements: what one block updates.
struct ParameterChunk {
  std::int64_t begin;  // in the flat buffer
  std::int64_t count;
  double rate_scale;
  double decay_scale;
};

class FlatParameters {
 public:
  FlatParameters(std::span<const Parameter> parameters, std::size_t states);

  DeviceParameter parameter(std::size_t number) const;
  float* values() const { return reinterpret_cast<float*>(values_.data()); }
  float* gradients() const { return reinterpret_cast<float*>(gradients_.data()); }
  float* state(std::size_t slot) const;
  const ParameterChunk* chunks() const;
  unsigned chunk_count() const { return chunk_count_; }

  /// Parameter `number` out of, or into, one of the flat buffers above. Waits for the device.
  std::vector<float> read(const Context& context, const float* flat, std::size_t number) const;
  void write(const Context& context, float* flat, std::size_t number,
             std::span<const float> values) const;

  std::size_t states() const { return states_; }
  std::size_t bytes() const;

 private:
  struct Range {
    std::size_t begin;
    std::size_t count;
  };
  std::vector<Range> ranges_;  // by parameter, in floats
  std::size_t floats_ = 0;     // of one flat buffer
  std::size_t states_;
  unsigned chunk_count_ = 0;
  DeviceMemory values_;
  DeviceMemory gradients_;
  DeviceMemory state_;
  DeviceMemory chunks_;
};

/// The update rules, each over the whole buffer. trainer/optimizers/<name>.cu holds each.
void sgd_cuda(const Context& context, const FlatParameters& flat, const UpdateSettings& settings);

}  // namespace feedrate::cuda
