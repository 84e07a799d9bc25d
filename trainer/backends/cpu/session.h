#pragma once
// A network on the CPU.

#include <optional>

#include "trainer/backends/backend.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/memory.h"
#include "trainer/backends/cpu/update.h"
#include "trainer/backends/ranks.h"
#include "trainer/graph/places.h"

namespace feedrate::trainer::cpu {

class CpuSession final : public Session {
 public:
  /// Uses `threads` OpenMP threads, at least 1, instead of options.threads.
  CpuSession(Plan plan, const SessionOptions& options, unsigned threads);

  const Plan& plan() const override { return plan_; }
  void upload(const loader::Batch& batch) override;
  std::uint32_t reuse_batch() override { return count_; }
  void train_step(const UpdateSettings& settings, std::uint64_t number) override;
  void evaluate_step() override;
  void forward_to(std::size_t node, std::span<float> values) override;
  const std::optional<Divergence>& divergence() const override { return divergence_; }
  Metrics take_metrics() override;
  void wait() override {}

  std::vector<float> parameter(std::size_t number) const override;
  void set_parameter(std::size_t number, std::span<const float> values) override;
  const Optimizer* optimizer() const override { return optimizer_; }
  std::size_t states() const override { return states_; }
  std::vector<float> state(std::size_t number, std::size_t slot) const override;
  void set_state(std::size_t number, std::size_t slot, std::span<const float> values) override;
  std::vector<float> gradient(std::size_t number) const override;
  std::size_t planned_bytes() const override;

 private:
  // The place of a parameter in the flat buffers, and its layer.
  struct ParameterPlace {
    std::size_t layer;
    std::size_t k;             // which of the layer's parameters
    std::size_t offset;        // floats
    std::size_t size;          // floats, in the layer's layout
    std::size_t gradient = 0;  // floats: its gradient's offset
  };

  void make_layers(const SessionOptions& options);
  std::vector<LayerSite> make_sites(const SessionOptions& options);
  void place_parameters();
  void plan_updates();
  void fuse_sums();
  void place_values();
  // Whether the node is the input and its output the uploaded floats.
  bool is_given(std::size_t node) const;
  void bind(const Places& places);
  BlockEndOf<std::byte> block_end(std::size_t norm, const Places& places) const;
  void take_pixels(const loader::Batch& batch);
  void take_numbers(const loader::Batch& batch);
  void forward(const Step& step);
  Divergence find_divergence(Step step);
  // The output of a node for the uploaded images, in the layer's layout.
  std::vector<float> output(std::size_t node) const;
  void backward(const Step& step, const UpdateSettings& settings);
  void share_gradients(std::size_t node);
  // A gradient that is a sum, and a term of it that a node's backward computes.
  struct Sum {
    std::byte* to;
    const std::byte* part;
    std::int64_t size;  // values
    ValueType type;
  };
  void add_up(const std::vector<Sum>& sums) const;
  template <class Body>
  void timed(std::size_t node, double NodeSeconds::*part, const Body& body);
  Step make_step(bool training, std::uint64_t number);
  void update_after(std::size_t node, const UpdateSettings& settings);
  void update(const GradientBucket& bucket, const UpdateSettings& settings);
  void measure_norms(const GradientBucket& bucket);
  bool contains(const GradientBucket& bucket, std::size_t number) const;
  std::vector<float> canonical(std::size_t number, const float* flat) const;
  void set(std::size_t number, float* flat, std::span<const float> values);

  Plan plan_;
  unsigned threads_;
  const Optimizer* optimizer_;  // null: evaluation only
  Communicator* communicator_;  // null: one process
  std::size_t states_;
  Update update_;  // null without an optimizer
  bool keeps_gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;  // by node
  std::vector<bool> done_elsewhere_;            // by node: another layer computes its forward
  // By node: the layer whose backward runs in its turn; no_node where another does the work.
  std::vector<std::size_t> backward_turns_;
  Fused fused_;
  std::vector<ParameterPlace> parameter_places_;  // by parameter
  std::size_t flat_size_ = 0;                     // floats
  std::vector<UpdateScale> scales_;               // by parameter
  struct Squares {
    double weights, gradients;
  };
  std::vector<Squares> squares_;  // by thread, by parameter; empty if the optimizer needs none
  std::vector<GradientBucket> buckets_;  // to share with other ranks; empty for one process
  // Parameters that are updated together, as soon as their gradients are known: these are still in
  // a cache then, and all buckets can use the same memory.
  std::vector<GradientBucket> updates_;
  std::vector<std::vector<Sum>> sums_;  // by the node whose backward computes the terms

  std::optional<Memory> parameters_, gradients_, state_;
  std::optional<Memory> arena_;    // activations, their gradients, values saved by layers
  std::optional<Memory> scratch_;  // of the running layer
  loader::PixelType pixel_type_;
  std::optional<Memory> images_;  // uploaded: pixels, or floats: in fp32 the input node's output
  std::vector<std::int32_t> labels_;
  std::uint32_t count_ = 0;
  Metrics metrics_;
  std::vector<NodeSeconds>* node_seconds_;  // null: not timed
  std::vector<ValueType> types_;            // by node: of its output and of its gradient
  std::vector<const std::byte*> outputs_;   // by node
  std::optional<Divergence> divergence_;
};

}  // namespace feedrate::trainer::cpu
