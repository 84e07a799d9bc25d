#include "trainer/backends/cuda/parameters.cuh"

#include <algorithm>
#include <cassert>

#include "formats/error.h"

namespace feedrate::cuda {
namespace {

constexpr std::size_t aligned_floats = device_alignment / sizeof(float);
/// Enough work to pay for a block, small enough to spread a small network over the device.
constexpr std::size_t chunk_floats = 4096;

constexpr std::size_t round_up(std::size_t floats) {
  return (floats + aligned_floats - 1) / aligned_floats * aligned_floats;
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

FlatParameters::FlatParameters(std::span<const Parameter> parameters, const Optimizer* optimizer)
    : states_(optimizer == nullptr ? 0 : optimizer->states()) {
  std::vector<ParameterChunk> chunks;
  std::vector<ParameterFacts> facts;
  for (const Parameter& parameter : parameters) {
    const auto count = static_cast<std::size_t>(parameter.elements());
    const auto first_chunk = static_cast<std::int64_t>(chunks.size());
    for (std::size_t done = 0; parameter.learned && done < count; done += chunk_floats) {
      chunks.push_back({static_cast<std::int64_t>(floats_ + done),
                        static_cast<std::int64_t>(std::min(chunk_floats, count - done)),
                        static_cast<std::int64_t>(facts.size())});
    }
    facts.push_back({{.rate = parameter.rate_scale,
                      .decay = parameter.decay_scale,
                      .matrix = parameter.shape.size() > 1},
                     first_chunk,
                     static_cast<std::int64_t>(chunks.size()) - first_chunk});
    ranges_.push_back({floats_, count});
    floats_ += round_up(count);
  }
  values_ = DeviceMemory(floats_ * sizeof(float), "parameters");
  gradients_ = DeviceMemory(floats_ * sizeof(float), "gradients");
  state_ = DeviceMemory(floats_ * states_ * sizeof(float), "the optimizer's state");
  chunk_count_ = static_cast<unsigned>(chunks.size());
  chunks_ = on_device(std::span<const ParameterChunk>(chunks));
  facts_ = on_device(std::span<const ParameterFacts>(facts));
  rules_ = DeviceMemory(facts.size() * rule_bytes, "update tables");
  if (optimizer != nullptr && optimizer->norms()) {
    squares_ = DeviceMemory(chunks.size() * sizeof(ChunkSquares), "update tables");
  }
  // From pageable memory cudaMemcpy may return before the last bytes have arrived.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

DeviceParameter FlatParameters::parameter(std::size_t number) const {
  const std::size_t begin = ranges_.at(number).begin;
  return {values() + begin, gradients() + begin};
}

float* FlatParameters::state(std::size_t slot) const {
  assert(slot < states_);
  return reinterpret_cast<float*>(state_.data()) + slot * floats_;
}

const ParameterChunk* FlatParameters::chunks() const {
  return reinterpret_cast<const ParameterChunk*>(chunks_.data());
}

const ParameterFacts* FlatParameters::facts() const {
  return reinterpret_cast<const ParameterFacts*>(facts_.data());
}

ChunkSquares* FlatParameters::squares() const {
  return reinterpret_cast<ChunkSquares*>(squares_.data());
}

std::vector<float> FlatParameters::read(const Context& context, const float* flat,
                                        std::size_t number) const {
  const Range& range = ranges_.at(number);
  std::vector<float> values(range.count);
  context.wait();
  check(cudaMemcpy(values.data(), flat + range.begin, range.count * sizeof(float),
                   cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  return values;
}

void FlatParameters::write(const Context& context, float* flat, std::size_t number,
                           std::span<const float> values) const {
  const Range& range = ranges_.at(number);
  if (values.size() != range.count) {
    throw Error(join("parameter ", number, " has ", range.count, " values, not ", values.size()));
  }
  context.wait();
  check(cudaMemcpyAsync(flat + range.begin, values.data(), values.size_bytes(),
                        cudaMemcpyHostToDevice, context.compute()),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(context.compute()), "cudaStreamSynchronize");
}

std::size_t FlatParameters::bytes() const {
  return values_.bytes() + gradients_.bytes() + state_.bytes();
}

}  // namespace feedrate::cuda
