#pragma once
// A network on the CPU.

#include <optional>

#include "trainer/backends/backend.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/memory.h"
#include "trainer/backends/cpu/parameters.h"
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

  std::vector<float> parameter(std::size_t number) const override {
    return parameters_->read_value(number);
  }
  void set_parameter(std::size_t number, std::span<const float> values) override {
    parameters_->write_value(number, values);
  }
  const Optimizer* optimizer() const override { return optimizer_; }
  std::size_t states() const override { return parameters_->states(); }
  std::vector<float> state(std::size_t number, std::size_t slot) const override {
    return parameters_->read_state(number, slot);
  }
  void set_state(std::size_t number, std::size_t slot, std::span<const float> values) override {
    parameters_->write_state(number, slot, values);
  }
  std::vector<float> gradient(std::size_t number) const override;
  std::size_t planned_bytes() const override;

 private:
  void make_layers(const SessionOptions& options);
  std::vector<LayerSite> make_sites(const SessionOptions& options);
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

  Plan plan_;
  unsigned threads_;
  const Optimizer* optimizer_;  // null: evaluation only
  Communicator* communicator_;  // null: one process
  bool keeps_gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;  // by node
  std::vector<bool> done_elsewhere_;            // by node: another layer computes its forward
  // By node: the layer whose backward runs in its turn; no_node where another does the work.
  std::vector<std::size_t> backward_turns_;
  Fused fused_;
  std::optional<Parameters> parameters_;
  std::vector<GradientBucket> buckets_;  // to share with other ranks; empty for one process
  std::vector<std::vector<Sum>> sums_;   // by the node whose backward computes the terms

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
