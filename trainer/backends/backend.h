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
#include "trainer/backends/product_engine.h"
#include "trainer/graph/memory_plan.h"
#include "trainer/graph/roofline.h"
#include "trainer/optimizers/loss_scale.h"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

/// Time spent in one node, summed over steps.
struct NodeSeconds {
  double forward = 0;
  double backward = 0;
};

class Communicator;
class ImageDecoder;
struct DecodeCounts;
struct DecoderSize;

/// The values of --precision; each backend supports a subset of these.
inline constexpr std::string_view known_precisions[] = {"fp32", "tf32", "bf16", "fp16"};

struct SessionOptions {
  std::string precision = "fp32";  // fp32 | tf32 | bf16 | fp16, if the backend supports it
  /// For tests: with precision bf16, the CPU keeps layers that bf16 would slow down in fp32, which
  /// is every layer of the tests' small networks. This computes them in bf16 anyway, and keeps all
  /// values beside them in bf16.
  bool bf16_everywhere = false;
  /// Keeps gradients, so that gradient() can be called after a step. Else, the CPU updates
  /// parameters as soon as their gradients are known, and then uses the memory of these for others.
  bool keep_gradients = false;
  unsigned threads = 0;                  // CPU compute threads; 0: one for each usable core
  const Optimizer* optimizer = nullptr;  // none: the session can only evaluate
  std::uint64_t seed = 1;                // of dropout
  /// What batches hold: u8 pixels, which the device scales, floats that the loader has already
  /// scaled as the network asks, or packed JPEGs in seats of the default size, which the device
  /// decodes. The CPU accepts u8 and f32, CUDA u8 and packed.
  loader::PixelType pixels = loader::PixelType::u8;
  /// The ranks to train with: gradients are means over the batches of all ranks, metrics cover the
  /// images of all. Null: one process.
  Communicator* communicator = nullptr;
  /// If not null, every training step adds the time of each node; compile() sizes it, by node. A
  /// device that works behind the host is then waited for after each step.
  std::vector<NodeSeconds>* node_seconds = nullptr;
};

/// Sums over the images since the last take_metrics().
struct Metrics {
  std::uint64_t images = 0;
  std::uint64_t correct = 0;   // top-1
  std::uint64_t correct5 = 0;  // the label among the five best
  double loss_sum = 0;         // over images; in training with the weighted auxiliary losses
};

/// Where training diverged: the first step whose loss was not finite.
struct Divergence {
  std::uint64_t step = 0;
  std::string layer;      // the first in graph order whose output was not finite
  std::string parameter;  // its first parameter that was not finite before the step; "" if none
};

/// Copies between the host and a device in one direction: batches, metrics and values, but not the
/// parameters that are set or saved.
struct Copies {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  // from the request for a copy to its end
};
struct Transfers {
  Copies up;    // to the device
  Copies down;  // from it
};

/// Whether work of a step runs beside other work of it, and why not.
struct Overlap {
  bool on = false;
  std::string off_because{};  // "" if it is on
};

/// One network on one device, with its parameters. Not thread-safe: one thread calls it.
/// Deterministic: the same calls give the same bits on the same machine with the same options.
class Session {
 public:
  virtual ~Session() = default;
  virtual const Plan& plan() const = 0;

  /// Takes the images and labels of `batch` (count ≤ plan().batch). The caller may reuse the batch
  /// when this returns, even if the device is still working.
  virtual void upload(const loader::Batch& batch) = 0;
  /// Instead of upload(): uses a batch that the device still holds, without a copy; the least
  /// recently used one of several. Returns its number of images. Needs an earlier upload().
  virtual std::uint32_t reuse_batch() = 0;
  /// Forward, backward and update on the uploaded batch. `step` numbers dropout's draws and the
  /// optimizer's steps; settings.step is ignored. Gradients are means over the batch's images. A
  /// step whose loss is not finite changes no learned parameter; divergence() reports it.
  virtual void train_step(const UpdateSettings& settings, std::uint64_t step) = 0;
  /// Forward only, without dropout.
  virtual void evaluate_step() = 0;
  /// The same, but only up to `node`; then waits and fills `values` with the node's output for the
  /// uploaded images, in canonical order.
  virtual void forward_to(std::size_t node, std::span<float> values) = 0;
  /// The first divergence among the steps that have finished; a device may learn that a step has
  /// finished only at the next upload() or wait(). Costs nothing until a step diverges.
  virtual const std::optional<Divergence>& divergence() const = 0;
  /// Waits for the device, then returns and clears the sums. All ranks must call it together.
  virtual Metrics take_metrics() = 0;
  /// Waits until all work submitted so far is done.
  virtual void wait() = 0;

  /// Parameters and optimizer state in canonical order, whatever the device's own layout.
  virtual std::vector<float> parameter(std::size_t number) const = 0;
  virtual void set_parameter(std::size_t number, std::span<const float> values) = 0;
  virtual const Optimizer* optimizer() const = 0;  // null: it can only evaluate
  virtual std::size_t states() const = 0;          // slots: floats of state for each value
  virtual std::vector<float> state(std::size_t number, std::size_t slot) const = 0;
  virtual void set_state(std::size_t number, std::size_t slot, std::span<const float> values) = 0;
  /// Absent where losses are not scaled. Checkpoints store it.
  virtual std::optional<LossScale> loss_scale() const { return std::nullopt; }
  virtual void set_loss_scale(const LossScale&) {}
  /// Whether each step is launched as one recorded graph; false where recording failed and kernels
  /// are launched one by one. Absent where nothing is recorded, and before the first attempt.
  virtual std::optional<bool> steps_recorded() const { return std::nullopt; }
  /// Why not, where steps_recorded() is false.
  virtual std::string recording_problem() const { return {}; }
  /// Fused::early_kernels and Fused::weight_branch as the session uses them. Absent where nothing
  /// is recorded, and before the first attempt to record.
  virtual std::optional<Overlap> early_kernels() const { return std::nullopt; }
  virtual std::optional<Overlap> weight_branch() const { return std::nullopt; }
  /// In the order of nodes; empty where a library chooses by itself.
  virtual std::span<const ProductEngine> engines() const { return {}; }
  /// The gradient of the last train_step, for tests and tools; needs options.keep_gradients.
  virtual std::vector<float> gradient(std::size_t number) const = 0;

  /// Bytes planned for activations, parameters, gradients and state.
  virtual std::size_t planned_bytes() const = 0;
  /// All copies so far; absent where the device works in host memory.
  virtual std::optional<Transfers> transfers() const { return std::nullopt; }
  /// Who decoded the images of all batches uploaded so far; null unless options.pixels is packed.
  /// Valid as long as the session.
  virtual const DecodeCounts* decoded() const { return nullptr; }
};

struct LibraryVersion {
  std::string name;     // "oneDNN"
  std::string version;  // "2.6.3"
};

class Backend : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// "" when usable on this machine, else the reason why not ("no CUDA device was found").
  virtual std::string unavailable() const = 0;
  /// "AMD EPYC …, 2 threads", of as many as compile() is asked for, or "NVIDIA H200"; only when
  /// usable.
  virtual std::string device_name(unsigned threads) const = 0;
  /// Throws Error when the device lacks memory or does not support the options.
  virtual std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const = 0;
  /// Measures what the device can do in this precision, a CPU with this many threads. Throws Error
  /// as compile() does.
  virtual Roof measure_roof(unsigned threads, const std::string& precision) const = 0;
  /// The memory that the device reads fastest, for the loader's slots. Never freed.
  virtual loader::PixelMemory& pixel_memory() const = 0;
  /// Decodes packed JPEGs on the device (image_decoder.h). Throws Error when the device lacks
  /// memory or, as by default, leaves decoding to the loader.
  virtual std::unique_ptr<ImageDecoder> image_decoder(const DecoderSize& size) const;
  /// The libraries that it computes with, as loaded; with or without a device.
  virtual std::vector<LibraryVersion> libraries() const { return {}; }
  /// The PCI bus id of the device in use ("0000:1B:00.0"), by which NVML finds it, since that
  /// numbers devices in another order than CUDA. "": there is none.
  virtual std::string pci_bus_id() const { return ""; }
};

std::span<const Backend* const> backends();
const Backend& backend(std::string_view name);

/// Checks a batch before a session takes it: images of the plan's shape, of the `wanted` type and,
/// unless u8, scaled as the plan asks; 1 to plan.batch images; labels among the classes. Throws an
/// Error that names the batch and image.
void check_batch(const Plan& plan, const loader::Batch& batch,
                 loader::PixelType wanted = loader::PixelType::u8);

/// Describes `step`, whose loss is not finite. `node` is the first in graph order whose output is
/// not finite, or the number of nodes where all outputs are. In the latter case another rank has
/// diverged or, if this process trains `alone`, the loss itself: its probabilities may be finite.
Divergence divergence_at(const Session& session, std::uint64_t step, std::size_t node, bool alone);

bool all_finite(std::span<const float> values);

/// What an update needs of a parameter, without its norms.
UpdateScale update_scale(const Parameter& parameter);

/// Sets every parameter to its initial values and the optimizer state to zero.
void initialise(Session& session, std::uint64_t seed);

}  // namespace feedrate::trainer
