// How a session learns: parameters are updated as soon as their gradients are known.

#include <algorithm>
#include <cmath>

#include "trainer/backends/cpu/session.h"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

// Enough to be worth waking the threads, and little enough for a second-level cache.
constexpr std::size_t update_floats = std::size_t{1} << 16;

}  // namespace

// The gradients of all ranks are known only when backward is done: then all are one bucket.
void CpuSession::plan_updates() {
  const bool at_once = keeps_gradients_ || communicator_ != nullptr;
  updates_ =
      gradient_buckets(plan_.graph, flat_size_, at_once ? flat_size_ : update_floats,
                       [this](std::size_t number) { return parameter_places_[number].offset; });
  std::size_t floats = 0;
  for (const GradientBucket& bucket : updates_) {
    floats = std::max(floats, bucket.floats);
    for (std::size_t number = 0; number < parameter_places_.size(); ++number) {
      ParameterPlace& place = parameter_places_[number];
      if (contains(bucket, number)) place.gradient = place.offset - bucket.begin;
    }
  }
  gradients_.emplace(floats * sizeof(float));
  if (optimizer_ != nullptr && optimizer_->norms()) {
    squares_.resize(threads_ * parameter_places_.size());
  }
}

bool CpuSession::contains(const GradientBucket& bucket, std::size_t number) const {
  const std::size_t offset = parameter_places_[number].offset;
  return bucket.begin <= offset && offset < bucket.begin + bucket.floats;
}

void CpuSession::update_after(std::size_t node, const UpdateSettings& settings) {
  for (const GradientBucket& bucket : updates_) {
    if (bucket.node == node) update(bucket, settings);
  }
}

void CpuSession::measure_norms(const GradientBucket& bucket) {
  const std::size_t count = parameter_places_.size();
  on_threads(threads_, [&](unsigned thread) {
    for (std::size_t number = 0; number < count; ++number) {
      if (!contains(bucket, number)) continue;
      const ParameterPlace& place = parameter_places_[number];
      const Range range =
          share_of(static_cast<std::int64_t>(place.size), thread, threads_, line_floats);
      const auto start = static_cast<std::size_t>(range.begin);
      squares_[thread * count + number] = {
          sum_of_squares(parameters_->floats() + place.offset + start, range.size()),
          sum_of_squares(gradients_->floats() + place.gradient + start, range.size())};
    }
  });
  for (std::size_t number = 0; number < count; ++number) {
    if (!contains(bucket, number)) continue;
    Squares all{};
    for (std::size_t thread = 0; thread < threads_; ++thread) {
      all.weights += squares_[thread * count + number].weights;
      all.gradients += squares_[thread * count + number].gradients;
    }
    scales_[number].weight_norm = std::sqrt(all.weights);
    scales_[number].gradient_norm = std::sqrt(all.gradients);
  }
}

void CpuSession::update(const GradientBucket& bucket, const UpdateSettings& settings) {
  if (!squares_.empty()) measure_norms(bucket);
  on_threads(threads_, [&](unsigned thread) {
    for (std::size_t number = 0; number < parameter_places_.size(); ++number) {
      if (!contains(bucket, number) || !plan_.graph.parameters[number].learned) continue;
      const ParameterPlace& place = parameter_places_[number];
      const Range range =
          share_of(static_cast<std::int64_t>(place.size), thread, threads_, line_floats);
      if (range.size() == 0) continue;
      const auto start = static_cast<std::size_t>(range.begin);
      update_({.weights = parameters_->floats() + place.offset + start,
               .gradients = gradients_->floats() + place.gradient + start,
               .state = state_->floats() + place.offset + start,
               .slot_stride = static_cast<std::int64_t>(flat_size_),
               .size = range.size()},
              settings, scales_[number]);
    }
  });
}

std::vector<float> CpuSession::gradient(std::size_t number) const {
  if (!keeps_gradients_) throw Error("gradients are kept only where the session's options say so");
  const ParameterPlace& place = parameter_places_.at(number);
  std::vector<float> values(static_cast<std::size_t>(plan_.graph.parameters[number].elements()));
  layers_[place.layer]->from_stored(place.k, gradients_->floats() + place.gradient, values);
  return values;
}

}  // namespace feedrate::trainer::cpu
