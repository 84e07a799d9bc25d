#include "trainer/backends/cpu/parameters.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

// Enough to be worth waking the threads, and little enough for a second-level cache.
constexpr std::size_t update_floats = std::size_t{1} << 16;

}  // namespace

Parameters::Parameters(const Site& site)
    : site_(site),
      states_(site.optimizer == nullptr ? 0 : site.optimizer->states()),
      update_(site.optimizer == nullptr ? nullptr : update_of(*site.optimizer)),
      places_(site.graph.parameters.size()) {
  for (std::size_t i = 0; i < site_.layers.size(); ++i) {
    const std::vector<std::size_t>& numbers = site_.graph.nodes[i].parameters;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      places_[numbers[k]] = {
          .layer = i, .k = k, .offset = flat_size_, .size = site_.layers[i]->stored_size(k)};
      flat_size_ += round_up(places_[numbers[k]].size, line_floats);
    }
  }
  for (const Parameter& parameter : site_.graph.parameters) {
    scales_.push_back(update_scale(parameter));
  }
  plan_updates();
  const std::size_t bytes = flat_size_ * sizeof(float);
  values_ = Memory(bytes);
  state_ = Memory(bytes * states_);
}

std::vector<GradientBucket> Parameters::buckets(std::size_t min_floats) const {
  return gradient_buckets(site_.graph, flat_size_, min_floats,
                          [this](std::size_t number) { return places_[number].offset; });
}

// Gradients that are kept are one bucket.
void Parameters::plan_updates() {
  updates_ = buckets(site_.keeps_gradients ? flat_size_ : update_floats);
  std::size_t floats = 0;
  for (const GradientBucket& bucket : updates_) {
    floats = std::max(floats, bucket.floats);
    for (std::size_t number = 0; number < places_.size(); ++number) {
      Place& place = places_[number];
      if (contains(bucket, number)) place.gradient = place.offset - bucket.begin;
    }
  }
  gradients_ = Memory(floats * sizeof(float));
  if (site_.optimizer != nullptr && site_.optimizer->norms()) {
    squares_.resize(site_.threads * places_.size());
  }
}

bool Parameters::contains(const GradientBucket& bucket, std::size_t number) const {
  const std::size_t offset = places_[number].offset;
  return bucket.begin <= offset && offset < bucket.begin + bucket.floats;
}

void Parameters::update_after(std::size_t node, const UpdateSettings& settings) {
  for (const GradientBucket& bucket : updates_) {
    if (bucket.node == node) update(bucket, settings);
  }
}

void Parameters::update_all(const UpdateSettings& settings) {
  for (const GradientBucket& bucket : updates_) update(bucket, settings);
}

void Parameters::measure_norms(const GradientBucket& bucket) {
  const std::size_t count = places_.size();
  on_threads(site_.threads, [&](unsigned thread) {
    for (std::size_t number = 0; number < count; ++number) {
      if (!contains(bucket, number)) continue;
      const Range range = share_of(static_cast<std::int64_t>(places_[number].size), thread,
                                   site_.threads, line_floats);
      squares_[thread * count + number] = {
          sum_of_squares(value(number) + range.begin, range.size()),
          sum_of_squares(gradient(number) + range.begin, range.size())};
    }
  });
  for (std::size_t number = 0; number < count; ++number) {
    if (!contains(bucket, number)) continue;
    Squares all{};
    for (std::size_t thread = 0; thread < site_.threads; ++thread) {
      all.weights += squares_[thread * count + number].weights;
      all.gradients += squares_[thread * count + number].gradients;
    }
    scales_[number].weight_norm = std::sqrt(all.weights);
    scales_[number].gradient_norm = std::sqrt(all.gradients);
  }
}

void Parameters::update(const GradientBucket& bucket, const UpdateSettings& settings) {
  if (!squares_.empty()) measure_norms(bucket);
  on_threads(site_.threads, [&](unsigned thread) {
    for (std::size_t number = 0; number < places_.size(); ++number) {
      if (!contains(bucket, number) || !site_.graph.parameters[number].learned) continue;
      const Range range = share_of(static_cast<std::int64_t>(places_[number].size), thread,
                                   site_.threads, line_floats);
      if (range.size() == 0) continue;
      update_({.weights = value(number) + range.begin,
               .gradients = gradient(number) + range.begin,
               .state = state_.floats() + places_[number].offset + range.begin,
               .slot_stride = static_cast<std::int64_t>(flat_size_),
               .size = range.size()},
              settings, scales_[number]);
    }
  });
}

std::vector<float> Parameters::canonical(std::size_t number, const float* stored) const {
  const Place& place = places_.at(number);
  const Parameter& parameter = site_.graph.parameters[number];
  std::vector<float> values(static_cast<std::size_t>(parameter.elements()));
  site_.layers[place.layer]->from_stored(place.k, stored, values);
  return values;
}

void Parameters::set(std::size_t number, float* stored, std::span<const float> values) {
  const Place& place = places_.at(number);
  assert(values.size() == static_cast<std::size_t>(site_.graph.parameters[number].elements()));
  site_.layers[place.layer]->to_stored(place.k, values, stored);
}

float* Parameters::state(std::size_t number, std::size_t slot) const {
  assert(slot < states_);
  return state_.floats() + slot * flat_size_ + places_.at(number).offset;
}

std::vector<float> Parameters::read_value(std::size_t number) const {
  return canonical(number, value(number));
}
void Parameters::write_value(std::size_t number, std::span<const float> values) {
  set(number, value(number), values);
}
std::vector<float> Parameters::read_gradient(std::size_t number) const {
  return canonical(number, gradient(number));
}
std::vector<float> Parameters::read_state(std::size_t number, std::size_t slot) const {
  return canonical(number, state(number, slot));
}
void Parameters::write_state(std::size_t number, std::size_t slot, std::span<const float> values) {
  set(number, state(number, slot), values);
}

}  // namespace feedrate::trainer::cpu
