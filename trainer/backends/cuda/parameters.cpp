#include "trainer/backends/cuda/parameters.cuh"

#include <algorithm>
#include <cassert>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "trainer/backends/backend.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

/// Enough work for a block, but small enough to spread a small network over the whole device.
constexpr std::size_t chunk_floats = 4096;

/// Rounded up so that the next parameter is aligned in every buffer.
constexpr std::size_t aligned(std::size_t floats, ValueType type) {
  return round_up(floats, device_alignment / bytes_of(type));
}

template <class T>
DeviceMemory on_device(std::span<const T> values) {
  DeviceMemory memory(values.size_bytes(), "update tables");
  if (!values.empty()) {
    check(cudaMemcpy(memory.data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  return memory;
}

}  // namespace

FlatParameters::FlatParameters(const Graph& graph, std::vector<Layout> layouts,
                               const Optimizer* optimizer, ValueType type)
    : type_(type),
      layouts_(std::move(layouts)),
      states_(optimizer == nullptr ? 0 : optimizer->states()) {
  std::vector<ParameterChunk> chunks;
  std::vector<ParameterFacts> facts;
  std::vector<StatisticsChunk> statistics;
  std::size_t next_floats = 0, narrow_values = 0;
  const std::vector<bool> filters = parameters_of_filters(graph);
  for (const Parameter& parameter : graph.parameters) {
    const auto count = static_cast<std::size_t>(layouts_[facts.size()].stored_elements());
    const auto first_chunk = static_cast<std::int64_t>(chunks.size());
    const bool narrows = is_narrow(type) && optimizer != nullptr && filters[facts.size()];
    for (std::size_t done = 0; done < count; done += chunk_floats) {
      const auto begin = static_cast<std::int64_t>(floats_ + done);
      const auto some = static_cast<std::int64_t>(std::min(chunk_floats, count - done));
      if (parameter.learned) {
        chunks.push_back({begin, some, static_cast<std::int64_t>(facts.size()),
                          narrows ? static_cast<std::int64_t>(narrow_values + done) : -1});
        chunk_begins_.push_back(begin);
      } else {
        statistics.push_back({begin, static_cast<std::int64_t>(next_floats + done), some});
      }
    }
    facts.push_back({update_scale(parameter), first_chunk,
                     static_cast<std::int64_t>(chunks.size()) - first_chunk});
    ranges_.push_back({floats_, count, std::nullopt, std::nullopt});
    if (narrows) {
      ranges_.back().narrow = narrow_values;
      narrow_values += aligned(count, type);
    }
    if (!parameter.learned) {
      ranges_.back().next = next_floats;
      next_floats += count;
    }
    floats_ += aligned(count, type);
  }
  values_ = DeviceMemory(floats_ * sizeof(float), "parameters");
  if (is_narrow(type)) rounded_ = DeviceMemory(floats_ * bytes_of(type), "rounded parameters");
  gradients_ = DeviceMemory(floats_ * sizeof(float), "gradients");
  narrow_gradients_ = DeviceMemory(narrow_values * bytes_of(type), "gradients");
  state_ = DeviceMemory(floats_ * states_ * sizeof(float), "the optimizer's state");
  chunk_count_ = static_cast<unsigned>(chunks.size());
  statistics_count_ = static_cast<unsigned>(statistics.size());
  next_ = DeviceMemory(next_floats * sizeof(float), "statistics");
  chunks_ = on_device(std::span<const ParameterChunk>(chunks));
  statistics_ = on_device(std::span<const StatisticsChunk>(statistics));
  facts_ = on_device(std::span<const ParameterFacts>(facts));
  rules_ = DeviceMemory(facts.size() * rule_bytes, "update tables");
  if (optimizer != nullptr && optimizer->norms()) {
    squares_ = DeviceMemory(chunks.size() * sizeof(ChunkSquares), "update tables");
  }
  // cudaMemcpy from pageable memory may return before the last bytes have arrived.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

DeviceParameter FlatParameters::parameter(std::size_t number) const {
  const auto& [begin, count, next, narrow] = ranges_.at(number);
  void* rounded = is_narrow(type_) ? rounded_.data() + begin * bytes_of(type_)
                                   : values_.data() + begin * sizeof(float);
  float* gradient = gradients() + begin;
  return {.value = values() + begin,
          .gradient = gradient,
          .rounded = rounded,
          .product_gradient =
              narrow ? static_cast<void*>(narrow_gradients_.data() + *narrow * bytes_of(type_))
                     : gradient,
          .next = next ? next_.as<float>() + *next : nullptr};
}

void FlatParameters::widen(const Context& context, std::size_t begin, std::size_t floats) const {
  const auto at = [this](std::size_t place) {
    return std::ranges::lower_bound(chunk_begins_, static_cast<std::int64_t>(place)) -
           chunk_begins_.begin();
  };
  const std::ptrdiff_t first = at(begin), last = at(begin + floats);
  if (narrow_gradients() == nullptr || first == last) return;
  widen_chunks(context, type_, chunks() + first, static_cast<unsigned>(last - first),
               narrow_gradients(), gradients());
}

float* FlatParameters::state(std::size_t slot) const {
  assert(slot < states_);
  return state_.as<float>() + slot * floats_;
}

std::vector<float> FlatParameters::read(const Context& context, const float* flat,
                                        std::size_t number) const {
  const Range& range = ranges_.at(number);
  std::vector<float> values(range.count);
  context.wait();
  check(cudaMemcpy(values.data(), flat + range.begin, range.count * sizeof(float),
                   cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  return from_stored(layouts_[number], values);
}

void FlatParameters::write(const Context& context, float* flat, std::size_t number,
                           std::span<const float> values) const {
  const Range& range = ranges_.at(number);
  const auto count = static_cast<std::size_t>(layouts_[number].elements());
  if (values.size() != count) {
    throw Error(join("parameter ", number, " has ", count, " values, not ", values.size()));
  }
  const std::vector<float> stored = to_stored(layouts_[number], values);
  context.wait();
  check(cudaMemcpyAsync(flat + range.begin, stored.data(), stored.size() * sizeof(float),
                        cudaMemcpyHostToDevice, context.compute()),
        "cudaMemcpyAsync");
  if (flat == this->values()) round(context, range);
  check(cudaStreamSynchronize(context.compute()), "cudaStreamSynchronize");
}

void FlatParameters::round(const Context& context, const Range& range) const {
  if (!is_narrow(type_)) return;
  round_values(context, type_, range.count, values() + range.begin,
               rounded_.data() + range.begin * bytes_of(type_));
}

std::size_t FlatParameters::bytes() const {
  return values_.bytes() + rounded_.bytes() + gradients_.bytes() + narrow_gradients_.bytes() +
         state_.bytes();
}

}  // namespace feedrate::trainer::cuda
