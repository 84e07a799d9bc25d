#pragma once
// Parameters, gradients and optimizer state: one flat device buffer each, laid out alike, so that
// an update is one kernel; all fp32. Where values have 16 bits, products read parameters from a
// copy of such, which each update renews.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/layout.cuh"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer::cuda {

/// A run of one parameter's elements: what one block updates.
struct ParameterChunk {
  std::int64_t begin;  // in the flat buffer
  std::int64_t count;
  std::int64_t parameter;
};

/// A run of one parameter that is not learned: statistics, whose next values lie by themselves.
struct StatisticsChunk {
  std::int64_t begin;  // in the flat buffer
  std::int64_t next;   // in the buffer of next values
  std::int64_t count;
};

/// What an update has to know of a parameter.
struct ParameterFacts {
  UpdateScale scale;  // its lengths are those of the last update
  std::int64_t first_chunk;
  std::int64_t chunks;
};

/// Sums of squares over a chunk.
struct ChunkSquares {
  double weights;
  double gradients;
};

class FlatParameters {
 public:
  /// Without an optimizer there is no state.
  FlatParameters(std::span<const Parameter> parameters, std::vector<Layout> layouts,
                 const Optimizer* optimizer, ValueType type);

  DeviceParameter parameter(std::size_t number) const;
  float* values() const { return reinterpret_cast<float*>(values_.data()); }
  float* gradients() const { return reinterpret_cast<float*>(gradients_.data()); }
  float* state(std::size_t slot) const;
  /// The copy of values(); null where they are fp32.
  void* rounded() const { return rounded_.data(); }
  const ParameterChunk* chunks() const;
  unsigned chunk_count() const { return chunk_count_; }
  const StatisticsChunk* statistics() const;
  unsigned statistics_count() const { return statistics_count_; }
  const float* next() const;  // of statistics
  unsigned count() const { return static_cast<unsigned>(ranges_.size()); }
  const ParameterFacts* facts() const;  // by parameter
  std::byte* rules() const { return rules_.data(); }
  ChunkSquares* squares() const;  // by chunk; null where the optimizer does not ask

  /// Parameter `number` in canonical order out of, or into, one of the flat buffers above. Waits
  /// for the device.
  std::vector<float> read(const Context& context, const float* flat, std::size_t number) const;
  void write(const Context& context, float* flat, std::size_t number,
             std::span<const float> values) const;

  std::size_t floats() const { return floats_; }  // of one flat buffer
  std::size_t states() const { return states_; }
  std::size_t bytes() const;

 private:
  struct Range {
    std::size_t begin;
    std::size_t count;
    std::optional<std::size_t> next;  // of statistics: where their next values begin
  };
  void round(const Context& context, const Range& range) const;

  ValueType type_;
  std::vector<Layout> layouts_;  // by parameter
  std::vector<Range> ranges_;    // by parameter, in floats
  std::size_t floats_ = 0;       // of one flat buffer
  std::size_t states_;
  unsigned chunk_count_ = 0;
  unsigned statistics_count_ = 0;
  DeviceMemory values_;
  DeviceMemory rounded_;
  DeviceMemory gradients_;
  DeviceMemory state_;
  DeviceMemory next_;
  DeviceMemory chunks_;
  DeviceMemory statistics_;
  DeviceMemory facts_;
  DeviceMemory rules_;
  DeviceMemory squares_;
};

/// An update is left out when a loss since the last take_metrics() was not finite; the first step
/// to find that is written down. That of learned parameters is left out, too, where scaled
/// gradients are not finite: that is no divergence but a scale too large.
struct UpdateGuard {
  const DeviceMetrics* metrics;  // of all ranks
  std::uint64_t* diverged_at;    // host memory that the device writes
  DeviceLossScale* loss_scale;   // null: gradients are as they are
};
inline constexpr std::uint64_t never_diverged = ~std::uint64_t{0};

/// A rule of trainer/optimizers/ over the whole buffer, with settings that lie on the device.
/// trainer/backends/cuda/update.cu has them all.
using Update = void (*)(const Context& context, const FlatParameters& flat,
                        const UpdateSettings* settings, const UpdateGuard& guard);
Update update_of(const Optimizer& optimizer);
/// Writes `to`, on the device, once the work given so far is done. A kernel's arguments are its
/// own, so the host need not wait for a step before it prepares the next.
void set_settings(const Context& context, const UpdateSettings& settings, UpdateSettings* to);
/// to[i] = from[i], as a value of `type`.
void round_values(const Context& context, ValueType type, std::size_t count, const float* from,
                  void* to);
/// Room on the device for one parameter's rule.
inline constexpr std::size_t rule_bytes = 64;

}  // namespace feedrate::trainer::cuda
