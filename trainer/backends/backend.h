#pragma once
// A backend compiles a plan for a device; a session runs its steps.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"
#include "loader/batch.h"
#include "trainer/graph/plan.h"
#include "trainer/graph/roofline.h"
#include "trainer/optimizers/loss_scale.h"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

/// Of one node, summed over steps.
struct NodeSeconds {
  double forward = 0;
  double backward = 0;
};

class Communicator;

/// What --precision may be; each backend can some of them.
inline constexpr std::string_view known_precisions[] = {"fp32", "tf32", "bf16", "fp16"};

struct SessionOptions {
  std::string precision = "fp32";  // fp32 | tf32 | bf16 | fp16, as far as the backend can
  /// For tests: in bf16 the CPU leaves in fp32 the layers that would take longer, all of a network
  /// as small as theirs. With this they are in bf16, too.
  bool bf16_everywhere = false;
  unsigned threads = 0;                  // CPU compute threads; 0: every core the process may use
  const Optimizer* optimizer = nullptr;  // none: the session can only evaluate
  std::uint64_t seed = 1;                // of dropout
  /// What batches hold: u8 pixels, of which the device makes numbers, or f32 numbers that the
  /// loader has made with the network's own scales, as far as the backend takes them.
  loader::PixelType pixels = loader::PixelType::u8;
  /// With whom it trains: gradients are means over the batches of all ranks, and metrics are of all
  /// images. None: alone.
  Communicator* communicator = nullptr;
  /// Where every step adds what each node took, if wanted; by node, sized by compile. Left empty by
  /// a device that runs a step as one piece.
  std::vector<NodeSeconds>* node_seconds = nullptr;
};

/// Sums over the images since the last take_metrics().
struct Metrics {
  std::uint64_t images = 0;
  std::uint64_t correct = 0;   // top-1
  std::uint64_t correct5 = 0;  // the label among the five best
  double loss_sum = 0;         // of the per-image losses; in training, auxiliary heads' weighted in
};

/// Where training blew up: the first step whose loss was not finite.
struct Divergence {
  std::uint64_t step = 0;
  std::string layer;      // the first, in the order of the graph, whose output was not finite
  std::string parameter;  // of that layer, if one was not finite before the step; else ""
};

/// Copies between the host and a device in one direction: of batches, sums and values, not of
/// parameters that are set or saved.
struct Copies {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  // from asking for a copy to having it
};
struct Transfers {
  Copies up;    // to the device
  Copies down;  // from it
};

/// One network on one device with its parameters. One thread. Deterministic: the same calls give
/// the same bits on the same machine with the same options.
class Session {
 public:
  virtual ~Session() = default;
  virtual const Plan& plan() const = 0;

  /// Takes the images and labels of `batch` (count ≤ plan().batch). The batch may be given back
  /// when this returns; the work itself may still run.
  virtual void upload(const loader::Batch& batch) = 0;
  /// Instead of upload(): takes a batch that it still holds, copying nothing; of several the one
  /// that was taken longest ago. Returns its images. To be called after an upload().
  virtual std::uint32_t reuse_batch() = 0;
  /// Forward, backward and update on what was uploaded. `step` numbers dropout's draws. Gradients
  /// are means over the batch's count. The optimizer counts from `step`, whatever settings.step is.
  /// A step whose loss is not finite changes no learned parameter; divergence() tells of it.
  virtual void train_step(const UpdateSettings& settings, std::uint64_t step) = 0;
  /// Forward only, without dropout.
  virtual void evaluate_step() = 0;
  /// The same, but only as far as `node`; then waits and fills `values` with what it puts out:
  /// the uploaded images' alone, in canonical order.
  virtual void forward_to(std::size_t node, std::span<float> values) = 0;
  /// Of the steps known to be done; a device may know of a step only after the next upload() or
  /// wait(). What it costs is paid when there is one.
  virtual const std::optional<Divergence>& divergence() const = 0;
  /// Waits for the device, then gives and clears the sums. All ranks call it together.
  virtual Metrics take_metrics() = 0;
  /// Waits until all work given so far is done.
  virtual void wait() = 0;

  /// Parameters and optimizer state in canonical order, whatever the device's own layout.
  virtual std::vector<float> parameter(std::size_t number) const = 0;
  virtual void set_parameter(std::size_t number, std::span<const float> values) = 0;
  virtual const Optimizer* optimizer() const = 0;  // null: it can only evaluate
  virtual std::size_t states() const = 0;          // slots: floats of state for each parameter
  virtual std::vector<float> state(std::size_t number, std::size_t slot) const = 0;
  virtual void set_state(std::size_t number, std::size_t slot, std::span<const float> values) = 0;
  /// Absent where losses are not scaled; part of what a checkpoint keeps.
  virtual std::optional<LossScale> loss_scale() const { return std::nullopt; }
  virtual void set_loss_scale(const LossScale&) {}
  /// Whether steps go to the device as one recorded piece; false: it could not be recorded, and
  /// they go kernel by kernel. Absent where nothing is ever recorded, and before it was tried.
  virtual std::optional<bool> steps_recorded() const { return std::nullopt; }
  /// The gradient of the last train_step, for tests and tools.
  virtual std::vector<float> gradient(std::size_t number) const = 0;

  /// Bytes planned for activations, parameters, gradients and state.
  virtual std::size_t planned_bytes() const = 0;
  /// All copies so far; absent where the device works in the host's own memory.
  virtual std::optional<Transfers> transfers() const { return std::nullopt; }
};

class Backend : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// "" when usable here, else a sentence that says why not ("no CUDA device was found").
  virtual std::string unavailable() const = 0;
  /// "AMD EPYC …, 2 threads", "NVIDIA H200"; only when usable.
  virtual std::string device_name() const = 0;
  /// Throws Error when the device lacks memory or cannot do what is asked.
  virtual std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const = 0;
  /// What so many threads of it can do, measured now; nothing where that is not known.
  virtual std::optional<Roof> measure_roof(unsigned threads) const;
  /// Memory that the device reads fastest, for the loader's slots. Lives as long as the program.
  virtual loader::PixelMemory& pixel_memory() const = 0;
};

std::span<const Backend* const> backends();
const Backend& backend(std::string_view name);

/// What every session asks of a batch before it takes it: the plan's image shape, pixels or numbers
/// as `wanted` and numbers made with the plan's scales, 1 to plan.batch images, labels among the
/// classes. Throws Error naming the batch and image.
void check_batch(const Plan& plan, const loader::Batch& batch,
                 loader::PixelType wanted = loader::PixelType::u8);

/// What is told of `step`, whose loss is not finite. `node`: the first whose output is not, in the
/// order of the graph, or the number of nodes. Then another rank has it; or, `alone`, only the loss
/// itself is not, which may be where the probabilities that its node puts out are.
Divergence divergence_at(const Session& session, std::uint64_t step, std::size_t node, bool alone);

/// Fills every parameter with its start values and zeroes the state.
void initialise(Session& session, std::uint64_t seed);

}  // namespace feedrate::trainer
