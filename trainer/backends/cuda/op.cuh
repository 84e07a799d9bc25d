#pragma once
// The CUDA half of an operator. trainer/ops/<name>.cu holds each; all tensors are fp32, NCHW.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/backends/cuda/context.cuh"
#include "trainer/graph.h"
#include "trainer/optimizer.h"

namespace feedrate::cuda {

struct DeviceMetrics {
  double loss_sum;
  unsigned long long correct;
  unsigned long long correct5;
  unsigned long long images;
};

struct DeviceParameter {
  float* value = nullptr;
  float* gradient = nullptr;  // each backward writes all of it
};

/// Where in a graph an op works; what it may keep is by value or lives as long as the session.
struct OpSite {
  const Context& context;
  const Node& node;
  std::size_t number;  // of the node
  std::int64_t batch;  // every step works on whole batches; missing images have label −1
  std::vector<Extent> ins{};
  Extent in{};  // ins[0]; all ones for the input node
  std::vector<DeviceParameter> parameters{};
  std::uint64_t seed = 0;
};

/// Where an op's data lies. y may be x, and dx may be dy, for ops that work in place.
struct Place {
  const float* x = nullptr;  // xs[0]
  std::vector<const float*> xs{};
  float* y = nullptr;
  const float* dy = nullptr;       // null for a loss
  float* dx = nullptr;             // dxs[0]
  std::vector<float*> dxs{};       // null where nobody wants it
  std::byte* saved = nullptr;      // from forward to backward
  std::byte* workspace = nullptr;  // within a call
};

/// What a step works on. All of it is the same whenever a side of the inputs holds a whole batch,
/// so that a step can be recorded; what changes from one step to the next lies on the device.
struct Step {
  const std::uint8_t* pixels;  // u8 HWC
  const std::int32_t* labels;  // −1 for missing images
  std::uint32_t count;         // images that are there
  bool training;
  DeviceMetrics* metrics;
  const UpdateSettings* settings;  // on the device; settings->step draws dropout's mask
};

class CudaOp {
 public:
  virtual ~CudaOp() = default;
  virtual std::size_t saved_bytes() const { return 0; }
  virtual std::size_t workspace_bytes() const { return 0; }
  virtual void forward(const Place& place, const Step& step) = 0;
  /// Writes (never adds to) the gradients of parameters and inputs.
  virtual void backward(const Place& place, const Step& step) = 0;
};

#define FEEDRATE_OP(name) std::unique_ptr<CudaOp> name##_cuda(const OpSite& site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_OP

/// to[i] += from[i].
void add_into(const Context& context, float* to, const float* from, std::int64_t size);

/// The CUDA half of site.node.op.
std::unique_ptr<CudaOp> make_op(const OpSite& site);

/// A dimension as the libraries take it; throws Error beyond 2^31 − 1.
int dimension(std::int64_t value);

}  // namespace feedrate::cuda
