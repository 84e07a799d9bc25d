#pragma once
// Parameters, gradients and optimizer state: one flat device buffer each, all fp32 and laid out
// alike, so that one kernel updates all parameters. If values have 16 bits, products read a rounded
// copy of the parameters, which each update renews.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/layout.cuh"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer::cuda {

/// A run of one parameter's elements, which one block updates.
struct ParameterChunk {
  std::int64_t begin;  // in the flat buffer
  std::int64_t count;
  std::int64_t parameter;
  std::int64_t narrow;  // of filters in 16 bits: where products write their gradients; else -1
};

/// A run of running statistics, which are parameters that are not learned. Their next values lie in
/// a buffer of their own.
struct StatisticsChunk {
  std::int64_t begin;  // in the flat buffer
  std::int64_t next;   // in the buffer of next values
  std::int64_t count;
};

/// What an update needs to know about a parameter.
struct ParameterFacts {
  UpdateScale scale;  // without the norms, which each update computes
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
  /// `optimizer`: null for a session that only evaluates, which has no state.
  FlatParameters(const Graph& graph, std::vector<Layout> layouts, const Optimizer* optimizer,
                 ValueType type);

  DeviceParameter parameter(std::size_t number) const;
  float* values() const { return values_.as<float>(); }
  float* gradients() const { return gradients_.as<float>(); }
  float* state(std::size_t slot) const;
  /// The rounded copy of values(); null in fp32.
  void* rounded() const { return rounded_.data(); }
  const ParameterChunk* chunks() const { return chunks_.as<ParameterChunk>(); }
  unsigned chunk_count() const { return chunk_count_; }
  const StatisticsChunk* statistics() const { return statistics_.as<StatisticsChunk>(); }
  unsigned statistics_count() const { return statistics_count_; }
  const float* next() const { return next_.as<float>(); }  // of statistics
  unsigned count() const { return static_cast<unsigned>(ranges_.size()); }
  const ParameterFacts* facts() const { return facts_.as<ParameterFacts>(); }  // by parameter
  std::byte* rules() const { return rules_.data(); }
  /// By chunk; null if the optimizer uses no norms.
  ChunkSquares* squares() const { return squares_.as<ChunkSquares>(); }

  /// The gradients that products write in 16 bits; null in fp32. An update can read them here.
  const void* narrow_gradients() const { return narrow_gradients_.data(); }

  /// Queues the widening of those for the `floats` floats of the flat buffer from `begin` on. Call
  /// it before anything but an update reads gradients().
  void widen(const Context& context, std::size_t begin, std::size_t floats) const;
  void widen(const Context& context) const { widen(context, 0, floats_); }

  /// Reads or writes parameter `number`, in canonical order, in one of the flat buffers above.
  /// Waits for the device.
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
    std::optional<std::size_t> next;    // statistics only: where their next values begin
    std::optional<std::size_t> narrow;  // filters in 16 bits only: where their gradients begin
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
  DeviceMemory narrow_gradients_;
  std::vector<std::int64_t> chunk_begins_;  // in the flat buffer
  DeviceMemory state_;
  DeviceMemory next_;
  DeviceMemory chunks_;
  DeviceMemory statistics_;
  DeviceMemory facts_;
  DeviceMemory rules_;
  DeviceMemory squares_;
};

/// An update is skipped if a loss since the last take_metrics() is not finite; the number of the
/// first such step is stored in `diverged_at`. The update of learned parameters is also skipped if
/// scaled gradients are not finite: then the scale is too large, and training has not diverged.
struct UpdateGuard {
  const DeviceMetrics* metrics;  // of all ranks
  std::uint64_t* diverged_at;    // host memory that the device writes
  DeviceLossScale* loss_scale;   // null: gradients are not scaled
};
inline constexpr std::uint64_t never_diverged = ~std::uint64_t{0};

/// Where an update reads the gradients of filters in 16 bits: where products wrote them, or in
/// FlatParameters::gradients(), after widen().
enum class FilterGradients : std::uint8_t { narrow, widened };

/// Queues the update of all parameters by one rule of trainer/optimizers/ (update.cu). `settings`
/// lies on the device.
using Update = void (*)(const Context& context, const FlatParameters& flat,
                        const UpdateSettings* settings, const UpdateGuard& guard,
                        FilterGradients filters);
Update update_of(const Optimizer& optimizer);
/// Writes `to`, on the device, after the work queued so far. The settings travel as a kernel
/// argument, so the host can prepare the next step without waiting for this one.
void set_settings(const Context& context, const UpdateSettings& settings, UpdateSettings* to);
/// to[i] = from[i], rounded to `type`.
void round_values(const Context& context, ValueType type, std::size_t count, const float* from,
                  void* to);
/// to[chunk] = from[chunk] for those of `count` chunks that are narrow; `from` holds values of `type`.
void widen_chunks(const Context& context, ValueType type, const ParameterChunk* chunks,
                  unsigned count, const void* from, float* to);
/// Bytes on the device for one parameter's rule.
inline constexpr std::size_t rule_bytes = 64;

}  // namespace feedrate::trainer::cuda
