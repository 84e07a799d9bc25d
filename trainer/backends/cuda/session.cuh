#pragma once
// One network on one GPU. All memory is allocated before the first step: an arena for activations
// and their gradients, flat buffers for parameters, two input buffers and one scratch buffer.

#include <memory>
#include <vector>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/branch.cuh"
#include "trainer/backends/cuda/device_ranks.cuh"
#include "trainer/backends/cuda/inputs.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/parameters.cuh"
#include "trainer/backends/cuda/recorded_steps.cuh"
#include "trainer/graph/fusion.h"
#include "trainer/graph/places.h"

namespace feedrate::trainer::cuda {

class NodeTimer;

class CudaSession final : public Session {
 public:
  CudaSession(Plan plan, const SessionOptions& options);
  ~CudaSession() override;

  const Plan& plan() const override { return plan_; }
  void upload(const loader::Batch& batch) override;
  std::uint32_t reuse_batch() override;
  void train_step(const UpdateSettings& settings, std::uint64_t number) override;
  void evaluate_step() override;
  void forward_to(std::size_t node, std::span<float> values) override;
  const std::optional<Divergence>& divergence() const override { return divergence_; }
  Metrics take_metrics() override;
  void wait() override;

  std::vector<float> parameter(std::size_t number) const override;
  void set_parameter(std::size_t number, std::span<const float> values) override;
  const Optimizer* optimizer() const override { return optimizer_; }
  std::size_t states() const override { return parameters_.states(); }
  std::vector<float> state(std::size_t number, std::size_t slot) const override;
  void set_state(std::size_t number, std::size_t slot, std::span<const float> values) override;
  std::optional<LossScale> loss_scale() const override;
  void set_loss_scale(const LossScale& scale) override;
  std::optional<bool> steps_recorded() const override { return main_steps().recorded(); }
  std::string recording_problem() const override { return main_steps().problem(); }
  std::optional<Overlap> early_kernels() const override;
  std::optional<Overlap> weight_branch() const override;
  std::span<const ProductEngine> engines() const override { return engines_; }
  std::vector<float> gradient(std::size_t number) const override;
  std::size_t planned_bytes() const override;
  std::optional<Transfers> transfers() const override { return Transfers{inputs_.copies(), down_}; }
  const DecodeCounts* decoded() const override { return inputs_.decoded(); }

 private:
  const RecordedSteps& main_steps() const {
    return optimizer_ == nullptr ? evaluation_ : training_;
  }
  void make_layers(std::uint64_t seed);
  void place_values();
  void check_memory(std::size_t activations, std::size_t scratch) const;
  void bind(const Places& places);
  Step make_step(bool training) const;
  struct Count {
    std::uint32_t own;
    std::uint32_t all;  // of all ranks
  };
  Step step_on(std::size_t side, const Count& count, bool training) const;
  UpdateSettings* settings() const { return settings_.as<UpdateSettings>(); }
  DeviceLossScale* device_loss_scale() const { return loss_scale_.as<DeviceLossScale>(); }
  void write_loss_scale(const DeviceLossScale& scale);
  void forward(const Step& step);
  void backward(const Step& step);
  void backward_of(std::size_t node, const Step& step);
  void run(const Step& step);
  void run_or_replay(const Step& step);
  // Called after each wait for the device, whose results are void where a rank has ended early.
  void expect_all_ranks() const;
  void wait_for_device() const;
  void wait_for_room();
  std::vector<float> read(const float* all, std::size_t number) const;
  std::vector<float> output(std::size_t node);
  void download(void* to, const void* from, std::size_t bytes);
  void find_divergence_until(std::optional<std::uint64_t> last);
  float* state_buffer(std::size_t slot) const;

  Plan plan_;
  Fused fused_;
  const Optimizer* optimizer_;  // null: evaluation only
  Communicator* communicator_;  // null: one rank
  Context context_;
  Update update_;                     // null without an optimizer
  std::vector<StoredExtent> stored_;  // by node
  FlatParameters parameters_;
  loader::PixelType pixels_;  // of batches
  Inputs inputs_;
  Copies down_;
  DeviceMemory metrics_;
  DeviceMemory discarded_metrics_;          // of a step that is repeated to find a divergence
  DeviceMemory loss_scale_;                 // fp16 only
  DeviceMemory settings_;                   // of the step that runs
  PinnedArray<std::uint64_t> diverged_at_;  // a step's number from the device, or never_diverged
  std::optional<Divergence> divergence_;
  std::vector<std::unique_ptr<Layer>> layers_;  // by node
  std::vector<ProductEngine> engines_;          // of the layers
  std::vector<bool> done_elsewhere_;            // by node: the layer before computes this relu
  std::vector<bool> gradient_done_;             // by node: the same in backward
  std::vector<Buffers> buffers_;                // by node
  std::vector<Buffers> weights_buffers_;        // the same for backward_weights()
  // Adds a part to a gradient that is a sum.
  struct Sum {
    std::byte* to;
    const std::byte* part;
    std::int64_t size;
  };
  std::vector<std::vector<Sum>> sums_;  // by the node whose backward computes the part
  DeviceMemory arena_;
  DeviceMemory scratch_;         // of the layer that runs
  DeviceMemory branch_scratch_;  // of the layer that runs on the branch
  Branch branch_;
  std::unique_ptr<DeviceRanks> ranks_;  // null: one rank
  std::unique_ptr<NodeTimer> timer_;    // null: nobody asked
  RecordedSteps training_;
  RecordedSteps evaluation_;
  std::string early_problem_;  // why steps with early kernels could not be recorded; "": they could
};

}  // namespace feedrate::trainer::cuda
