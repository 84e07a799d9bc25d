#pragma once
// A session's parameters on the CPU: values, gradients and optimizer state in flat buffers, each
// parameter in its layer's layout. Parameters are updated together in buckets, as soon as their
// gradients are known: these are still in a cache then, and all buckets use the same memory.

#include <memory>
#include <span>
#include <vector>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/memory.h"
#include "trainer/backends/cpu/update.h"
#include "trainer/backends/rank_sums.h"

namespace feedrate::trainer::cpu {

class Parameters {
 public:
  struct Site {
    const Graph& graph;
    const std::vector<std::unique_ptr<Layer>>& layers;  // by node
    const Optimizer* optimizer;                         // null: evaluation only
    unsigned threads;
    bool keeps_gradients;  // the gradients of a step stay until the next
  };
  /// What the site refers to must outlive this object.
  explicit Parameters(const Site& site);

  /// Where a layer finds its parameter and writes its gradient.
  float* value(std::size_t number) const { return values_.floats() + places_.at(number).offset; }
  float* gradient(std::size_t number) const {
    return gradients_.floats() + places_.at(number).gradient;
  }

  /// The gradients as messages of at least `min_floats` to other ranks; needs kept gradients.
  std::vector<GradientBucket> buckets(std::size_t min_floats) const;
  std::span<float> gradients(const GradientBucket& bucket) const {
    return {gradients_.floats() + bucket.begin, bucket.floats};
  }

  /// Updates the parameters whose gradients are complete after the backward of `node`.
  void update_after(std::size_t node, const UpdateSettings& settings);
  void update_all(const UpdateSettings& settings);

  /// In canonical order. A slot of state is below states(); gradients must be kept.
  std::vector<float> read_value(std::size_t number) const;
  void write_value(std::size_t number, std::span<const float> values);
  std::vector<float> read_gradient(std::size_t number) const;
  std::size_t states() const { return states_; }
  std::vector<float> read_state(std::size_t number, std::size_t slot) const;
  void write_state(std::size_t number, std::size_t slot, std::span<const float> values);

  std::size_t bytes() const { return values_.bytes() + gradients_.bytes() + state_.bytes(); }

 private:
  // The place of a parameter in the flat buffers, and its layer.
  struct Place {
    std::size_t layer;
    std::size_t k;             // which of the layer's parameters
    std::size_t offset;        // floats
    std::size_t size;          // floats, in the layer's layout
    std::size_t gradient = 0;  // floats: its gradient's offset
  };
  struct Squares {
    double weights, gradients;
  };

  void plan_updates();
  void update(const GradientBucket& bucket, const UpdateSettings& settings);
  void measure_norms(const GradientBucket& bucket);
  bool contains(const GradientBucket& bucket, std::size_t number) const;
  std::vector<float> canonical(std::size_t number, const float* stored) const;
  void set(std::size_t number, float* stored, std::span<const float> values);
  float* state(std::size_t number, std::size_t slot) const;

  Site site_;
  std::size_t states_;
  Update update_;                    // null without an optimizer
  std::vector<Place> places_;        // by parameter
  std::size_t flat_size_ = 0;        // floats
  std::vector<UpdateScale> scales_;  // by parameter
  std::vector<Squares> squares_;     // by thread, by parameter; empty if the optimizer needs none
  std::vector<GradientBucket> updates_;  // in the order of backward
  Memory values_{0}, gradients_{0}, state_{0};
};

}  // namespace feedrate::trainer::cpu
