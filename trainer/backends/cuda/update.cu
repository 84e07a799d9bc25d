// The optimizers' rules over the whole flat buffer: one launch makes the rule of each parameter,
// and one updates all values. Whatever reads gradients first widens those in 16 bits as it reads
// them, unless ranks have summed them. Sums have a fixed order.

#include "formats/base/error.h"
#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/parameters.cuh"
#include "trainer/optimizers/rules.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

// Gradients where they lie: those of filters may still be what products wrote.
template <class T>
struct Gradients {
  const float* wide;
  const T* narrow;  // null: all are in `wide`
  __device__ float of(const ParameterChunk& chunk, std::int64_t i) const {
    return narrow != nullptr && chunk.narrow >= 0 ? static_cast<float>(narrow[chunk.narrow + i])
                                                  : wide[chunk.begin + i];
  }
};

// One block per chunk. Every thread that finds an overflow writes the same value.
template <class T>
__global__ void unscale_kernel(const ParameterChunk* chunks, Gradients<T> scaled, float* unscaled,
                               DeviceLossScale* loss_scale) {
  begin_kernel();
  const ParameterChunk chunk = chunks[blockIdx.x];
  const float scale = loss_scale->scale;
  bool finite = true;
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const float gradient = scaled.of(chunk, i) / scale;
    unscaled[chunk.begin + i] = gradient;
    finite = finite && isfinite(gradient);
  }
  if (!finite && loss_scale->may_skip()) loss_scale->overflowed = 1;
}

// A step whose loss is not finite says nothing about the scale.
__global__ void rescale_kernel(UpdateGuard guard) {
  begin_kernel();
  if (isfinite(guard.metrics->loss_sum)) *guard.loss_scale = guard.loss_scale->next();
  guard.loss_scale->overflowed = 0;
}

// One block per chunk.
template <class T>
__global__ void squares_kernel(const ParameterChunk* chunks, const float* values,
                               Gradients<T> gradients, ChunkSquares* squares) {
  begin_kernel();
  const ParameterChunk chunk = chunks[blockIdx.x];
  ChunkSquares mine{};
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const double value = values[chunk.begin + i];
    const double gradient = gradients.of(chunk, i);
    mine.weights += value * value;
    mine.gradients += gradient * gradient;
  }
  const double weights = block_sum<block_threads>(mine.weights);
  __syncthreads();
  const double of_gradients = block_sum<block_threads>(mine.gradients);
  if (threadIdx.x == 0) squares[blockIdx.x] = {weights, of_gradients};
}

// One block per parameter.
template <class Rule>
__global__ void rules_kernel(const ParameterFacts* facts, const ChunkSquares* squares,
                             const UpdateSettings* settings, UpdateGuard guard, std::byte* rules) {
  begin_kernel();
  if (blockIdx.x == 0 && threadIdx.x == 0 && !isfinite(guard.metrics->loss_sum) &&
      *guard.diverged_at == never_diverged) {
    *guard.diverged_at = settings->step;
  }
  const ParameterFacts fact = facts[blockIdx.x];
  UpdateScale scale = fact.scale;
  if constexpr (Rule::norms) {
    ChunkSquares mine{};
    for (std::int64_t i = threadIdx.x; i < fact.chunks; i += blockDim.x) {
      mine.weights += squares[fact.first_chunk + i].weights;
      mine.gradients += squares[fact.first_chunk + i].gradients;
    }
    scale.weight_norm = std::sqrt(block_sum<block_threads>(mine.weights));
    __syncthreads();
    scale.gradient_norm = std::sqrt(block_sum<block_threads>(mine.gradients));
  }
  if (threadIdx.x == 0) {
    *reinterpret_cast<Rule*>(rules + blockIdx.x * rule_bytes) = Rule(*settings, scale);
  }
}

// One block per chunk. T is the type of the copy that products read.
template <class Rule, class T>
__global__ void update_kernel(const ParameterChunk* chunks, const std::byte* rules, float* values,
                              T* rounded, Gradients<T> gradients, float* first, float* second,
                              UpdateGuard guard) {
  begin_kernel();
  if (!isfinite(guard.metrics->loss_sum)) return;
  if (guard.loss_scale != nullptr && guard.loss_scale->overflowed != 0) return;
  const ParameterChunk chunk = chunks[blockIdx.x];
  const Rule rule = *reinterpret_cast<const Rule*>(
      rules + static_cast<std::size_t>(chunk.parameter) * rule_bytes);
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    const std::int64_t at = chunk.begin + i;
    if constexpr (Rule::states == 1) {
      rule.update(values[at], gradients.of(chunk, i), first[at]);
    } else {
      rule.update(values[at], gradients.of(chunk, i), first[at], second[at]);
    }
    if constexpr (!std::is_same_v<T, float>) rounded[at] = static_cast<T>(values[at]);
  }
}

// One block per chunk.
__global__ void statistics_kernel(const StatisticsChunk* chunks, const float* next, float* values,
                                  UpdateGuard guard) {
  begin_kernel();
  if (!isfinite(guard.metrics->loss_sum)) return;
  const StatisticsChunk chunk = chunks[blockIdx.x];
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    values[chunk.begin + i] = next[chunk.next + i];
  }
}

template <class Rule, class T>
void run_typed(const Context& context, const FlatParameters& flat, const UpdateSettings* settings,
               const UpdateGuard& guard, FilterGradients filters) {
  static_assert(sizeof(Rule) <= rule_bytes && Rule::states <= 2);
  const bool narrow = filters == FilterGradients::narrow;
  Gradients<T> gradients{flat.gradients(),
                         narrow ? static_cast<const T*>(flat.narrow_gradients()) : nullptr};
  if (guard.loss_scale != nullptr) {
    launch(context, "unscale", unscale_kernel<T>, flat.chunk_count(), block_threads, flat.chunks(),
           gradients, flat.gradients(), guard.loss_scale);
    gradients.narrow = nullptr;
  }
  if constexpr (Rule::norms) {
    launch(context, "squares", squares_kernel<T>, flat.chunk_count(), block_threads, flat.chunks(),
           flat.values(), gradients, flat.squares());
  }
  launch(context, "rules", rules_kernel<Rule>, flat.count(), Rule::norms ? block_threads : 1,
         flat.facts(), flat.squares(), settings, guard, flat.rules());
  launch(context, Rule::name, update_kernel<Rule, T>, flat.chunk_count(), block_threads,
         flat.chunks(), flat.rules(), flat.values(), static_cast<T*>(flat.rounded()), gradients,
         flat.state(0), Rule::states == 2 ? flat.state(1) : nullptr, guard);
  if (flat.statistics_count() != 0) {
    launch(context, "statistics", statistics_kernel, flat.statistics_count(), block_threads,
           flat.statistics(), flat.next(), flat.values(), guard);
  }
  if (guard.loss_scale != nullptr) launch(context, "rescale", rescale_kernel, 1, 1, guard);
}

template <class Rule>
void run_rule(const Context& context, const FlatParameters& flat, const UpdateSettings* settings,
              const UpdateGuard& guard, FilterGradients filters) {
  with_type(context.values(), [&](auto value) {
    run_typed<Rule, decltype(value)>(context, flat, settings, guard, filters);
  });
}

__global__ void settings_kernel(UpdateSettings settings, UpdateSettings* to) {
  begin_kernel();
  *to = settings;
}

}  // namespace

void set_settings(const Context& context, const UpdateSettings& settings, UpdateSettings* to) {
  launch(context, "settings", settings_kernel, 1, 1, settings, to);
}

void round_values(const Context& context, ValueType type, std::size_t count, const float* from,
                  void* to) {
  with_type(type, [&](auto value) {
    convert(context, "rounded parameters", static_cast<std::int64_t>(count), from,
            static_cast<decltype(value)*>(to));
  });
}

namespace {

// One block per chunk.
template <class T>
__global__ void widen_kernel(const ParameterChunk* chunks, const T* from, float* to) {
  begin_kernel();
  const ParameterChunk chunk = chunks[blockIdx.x];
  if (chunk.narrow < 0) return;
  for (std::int64_t i = threadIdx.x; i < chunk.count; i += blockDim.x) {
    to[chunk.begin + i] = static_cast<float>(from[chunk.narrow + i]);
  }
}

}  // namespace

void widen_chunks(const Context& context, ValueType type, const ParameterChunk* chunks,
                  unsigned count, const void* from, float* to) {
  with_type(type, [&](auto value) {
    using T = decltype(value);
    launch(context, "widened gradients", widen_kernel<T>, count, block_threads, chunks,
           static_cast<const T*>(from), to);
  });
}

Update update_of(const Optimizer& optimizer) {
#define FEEDRATE_ROW(prefix) \
  if (optimizer.name() == prefix##Rule::name) return run_rule<prefix##Rule>;
#include "trainer/optimizers/list.inc"
#undef FEEDRATE_ROW
  throw Error(join("the cuda backend does not know the optimizer ", optimizer.name()));
}

}  // namespace feedrate::trainer::cuda
