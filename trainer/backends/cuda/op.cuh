#pragma once
// The CUDA half of an operator. trainer/backends/cuda/layers/<name>.cu holds each, for every type of values.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/loss_scale.cuh"
#include "trainer/graph/graph.h"
#include "trainer/ops/layout.h"
#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {
class Communicator;
}

namespace feedrate::trainer::cuda {

struct DeviceMetrics {
  double loss_sum;
  unsigned long long correct;
  unsigned long long correct5;
  unsigned long long images;
};

struct DeviceParameter {
  float* value = nullptr;
  float* gradient = nullptr;  // each backward writes all of it
  void* rounded = nullptr;    // the same values in the session's type; of fp32 `value` itself
  float* next = nullptr;      // of statistics alone: what they become if the step's loss is finite

  /// What products read.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(rounded);
  }
};

class AlgorithmCache;

/// Where in a graph an op works; what it may keep is by value or lives as long as the session.
struct OpSite {
  const Context& context;
  const Node& node;
  std::size_t number;  // of the node
  std::int64_t batch;  // every step works on whole batches; missing images have label −1
  std::vector<Extent> ins{};
  Extent in{};      // ins[0]; all ones for the input node
  Extent stored{};  // the same as it lies in memory, of the input node its output: with channels of
                    // zeros that fill up its pixels
  std::vector<DeviceParameter> parameters{};
  std::uint64_t seed = 0;
  Communicator* communicator = nullptr;         // the first rank chooses for all; null: alone
  AlgorithmCache* algorithms = nullptr;         // of what is chosen by the clock; null: nothing is
  const DeviceLossScale* loss_scale = nullptr;  // null: losses are not scaled
  bool relu_follows = false;                    // in place; the op may do it: does_relu()
  bool learns = true;                           // backward will be called …
  bool wants_dx = true;                         // … and somebody wants the first input's gradient
};

/// Where an op's data lies. y may be x, and dx may be dy, for ops that work in place.
struct Place {
  std::vector<const std::byte*> xs{};
  std::byte* y = nullptr;
  const std::byte* dy = nullptr;   // null for a loss
  std::vector<std::byte*> dxs{};   // null where nobody wants it
  std::byte* saved = nullptr;      // from forward to backward
  std::byte* workspace = nullptr;  // within a call
};

/// The same with the type of the values; x and dx are the first input's.
template <class T>
struct PlaceOf {
  explicit PlaceOf(const Place& place)
      : x(place.xs.empty() ? nullptr : reinterpret_cast<const T*>(place.xs[0])),
        y(reinterpret_cast<T*>(place.y)),
        dy(reinterpret_cast<const T*>(place.dy)),
        dx(place.dxs.empty() ? nullptr : reinterpret_cast<T*>(place.dxs[0])),
        saved(place.saved),
        workspace(place.workspace),
        untyped_(place) {}
  const T* input(std::size_t k) const { return reinterpret_cast<const T*>(untyped_.xs[k]); }
  T* input_gradient(std::size_t k) const { return reinterpret_cast<T*>(untyped_.dxs[k]); }

  const T* x;
  T* y;
  const T* dy;
  T* dx;
  std::byte* saved;
  std::byte* workspace;

 private:
  const Place& untyped_;
};

/// What a step works on. All of it is the same whenever a side of the inputs holds a whole batch,
/// so that a step can be recorded; what changes from one step to the next lies on the device.
struct Step {
  const std::uint8_t* pixels;  // u8 HWC
  const std::int32_t* labels;  // −1 for missing images
  std::uint32_t count;         // images that are there
  std::uint32_t all;           // the same of all ranks: gradients are means over these
  bool training;
  bool apart;  // every node does its own work, and no other's
  DeviceMetrics* metrics;
  const UpdateSettings* settings;  // on the device; settings->step draws dropout's mask
};

class CudaOp {
 public:
  virtual ~CudaOp() = default;
  virtual std::size_t saved_bytes() const { return 0; }
  virtual std::size_t workspace_bytes() const { return 0; }
  /// Whether forward leaves the relu that follows nothing to do.
  virtual bool does_relu() const { return false; }
  virtual void forward(const Place& place, const Step& step) = 0;
  /// Writes (never adds to) the gradients of parameters and inputs.
  virtual void backward(const Place& place, const Step& step) = 0;
};

/// One whose values are T.
template <class T>
class CudaOpOf : public CudaOp {
 public:
  void forward(const Place& place, const Step& step) final { run(PlaceOf<T>(place), step); }
  void backward(const Place& place, const Step& step) final { run_back(PlaceOf<T>(place), step); }

 protected:
  virtual void run(const PlaceOf<T>& place, const Step& step) = 0;
  virtual void run_back(const PlaceOf<T>& place, const Step& step) = 0;
};

/// An Op<T> for the type of the site's values.
template <template <class> class Op>
std::unique_ptr<CudaOp> make_typed(const OpSite& site) {
  return with_type(site.context.values(), [&site](auto value) -> std::unique_ptr<CudaOp> {
    return std::make_unique<Op<decltype(value)>>(site);
  });
}

#define FEEDRATE_ROW(name) std::unique_ptr<CudaOp> name##_cuda(const OpSite& site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW

/// to[i] += from[i], of the context's type of values.
void add_into(const Context& context, std::byte* to, const std::byte* from, std::int64_t size);

/// The CUDA half of site.node.op.
std::unique_ptr<CudaOp> make_op(const OpSite& site);

/// A dimension as the libraries take it; throws Error beyond 2^31 − 1.
int dimension(std::int64_t value);

inline ImageLayout layout(const Extent& extent) {
  return {static_cast<std::uint32_t>(extent.channels),
          static_cast<std::uint32_t>(extent.height * extent.width)};
}

}  // namespace feedrate::trainer::cuda
