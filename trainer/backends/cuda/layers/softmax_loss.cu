// Softmax, cross-entropy, top-1 and top-5, one warp per image. The output is the probabilities, in
// place of the logits where the plan allows. Sums have a fixed order.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/check.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

struct RowResult {
  double loss;
  std::uint32_t correct;
  std::uint32_t correct5;
};

struct Leader {
  float logit;
  std::int32_t index;
};

// The first of the largest logits over all lanes.
__device__ Leader warp_leader(Leader mine) {
  for (unsigned lane = warp_threads / 2; lane > 0; lane /= 2) {
    const Leader other{__shfl_xor_sync(0xffffffffU, mine.logit, lane),
                       __shfl_xor_sync(0xffffffffU, mine.index, lane)};
    const bool tie = other.logit == mine.logit && other.index < mine.index;
    if (is_new_maximum(other.logit, mine.logit) || tie) mine = other;
  }
  return mine;
}

// The input may be the output: a lane reads and writes only its own classes, except the label's
// logit, which is read before anything is written.
template <class T>
__global__ void forward_kernel(std::int64_t images, std::int32_t classes, const T* input, T* output,
                               float* exact, const std::int32_t* labels, double smoothing,
                               RowResult* results) {
  begin_kernel();
  const std::int64_t image = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_threads;
  if (image >= images) return;  // whole warps leave together
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % warp_threads);
  const T* row = input + image * classes;
  T* out = output + image * classes;
  const auto logit = [row](std::int32_t k) { return static_cast<float>(row[k]); };

  // Lanes without a class hold class 0, which changes nothing.
  Leader leader{logit(lane < classes ? lane : 0), lane < classes ? lane : 0};
  for (std::int32_t k = lane + static_cast<std::int32_t>(warp_threads); k < classes;
       k += static_cast<std::int32_t>(warp_threads)) {
    if (is_new_maximum(logit(k), leader.logit)) leader = {logit(k), k};
  }
  leader = warp_leader(leader);
  const std::int32_t label = labels[image];
  const float label_logit = logit(label < 0 ? 0 : label);
  float before = 0;  // counts of classes are exact in a float
  double all = 0;
  for (std::int32_t k = lane; k < classes; k += static_cast<std::int32_t>(warp_threads)) {
    before += ranks_before(logit(k), k, label_logit, label) ? 1.0F : 0.0F;
    all += logit(k);
  }
  before = warp_sum(before);
  all = warp_sum(all);
  __syncwarp();

  float sum = 0;
  for (std::int32_t k = lane; k < classes; k += static_cast<std::int32_t>(warp_threads)) {
    sum += expf(logit(k) - leader.logit);
  }
  sum = warp_sum(sum);
  for (std::int32_t k = lane; k < classes; k += static_cast<std::int32_t>(warp_threads)) {
    const float probability = softmax_probability(expf(logit(k) - leader.logit), sum);
    out[k] = static_cast<T>(probability);
    if constexpr (!std::is_same_v<T, float>) exact[image * classes + k] = probability;
  }
  if (lane == 0) {
    results[image] = {smoothed_cross_entropy(log(static_cast<double>(sum)), leader.logit,
                                             label_logit, all / classes, smoothing),
                      leader.index == label ? 1U : 0U,
                      before < static_cast<float>(top_five) ? 1U : 0U};
  }
}

// One block, so that the sum has a fixed order.
__global__ void metrics_kernel(std::uint32_t count, const RowResult* results,
                               DeviceMetrics* metrics, double weight, bool auxiliary) {
  begin_kernel();
  double loss = 0;
  unsigned long long correct = 0;
  unsigned long long correct5 = 0;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    loss += results[i].loss;
    correct += results[i].correct;
    correct5 += results[i].correct5;
  }
  loss = block_sum<block_threads>(loss);
  correct = block_sum<block_threads>(correct);
  __syncthreads();
  correct5 = block_sum<block_threads>(correct5);
  if (threadIdx.x == 0) {
    metrics->loss_sum += weight * loss;
    if (auxiliary) return;
    metrics->correct += correct;
    metrics->correct5 += correct5;
    metrics->images += count;
  }
}

template <class T>
struct LossBackward {
  std::int64_t classes;
  const float* probabilities;
  const std::int32_t* labels;
  T* input_gradient;
  float image_weight;
  float smoothing;
  const DeviceLossScale* loss_scale;
  __device__ void prepare() {
    if (loss_scale != nullptr) image_weight *= loss_scale->scale;
  }
  __device__ void operator()(std::int64_t image, std::uint32_t k) const {
    const std::int64_t i = image * classes + k;
    const std::int32_t label = labels[image];
    const float target = softmax_target(k == static_cast<std::uint32_t>(label), smoothing, classes);
    input_gradient[i] = static_cast<T>(
        label < 0 ? 0.0F : softmax_loss_gradient(probabilities[i], target, image_weight));
  }
};

template <class T>
class SoftmaxLossLayer final : public LayerOf<T> {
 public:
  explicit SoftmaxLossLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        classes_(dimension(site.input.elements())),
        auxiliary_(site.node().attributes.integer("auxiliary") != 0),
        smoothing_(site.node().attributes.number("smoothing")),
        weight_(loss_weight(site.node().attributes)),
        loss_scale_(site.loss_scale) {}

  std::size_t saved_bytes() const override {
    const std::size_t exact = std::is_same_v<T, float> ? 0 : sizeof(float);
    return static_cast<std::size_t>(batch_) *
           (sizeof(RowResult) + static_cast<std::size_t>(classes_) * exact);
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    auto* results = reinterpret_cast<RowResult*>(buffers.saved);
    constexpr std::int64_t images_per_block = block_threads / warp_threads;
    launch(context_, "softmax_loss forward", forward_kernel<T>,
           static_cast<unsigned>((batch_ + images_per_block - 1) / images_per_block), block_threads,
           batch_, classes_, buffers.input, buffers.output, exact(buffers), step.labels,
           step.training ? smoothing_ : 0.0, results);
    launch(context_, "softmax_loss metrics", metrics_kernel, 1, block_threads, step.count, results,
           step.metrics, weight_, auxiliary_);
  }
  void run_backward(const BuffersOf<T>& buffers, const Step& step) override {
    if (buffers.input_gradient == nullptr) return;
    each_of_images(context_, "softmax_loss backward", batch_, classes_,
                   LossBackward<T>{classes_, exact(buffers), step.labels, buffers.input_gradient,
                               static_cast<float>(weight_ / static_cast<double>(step.all_images)),
                               static_cast<float>(smoothing_), loss_scale_});
  }

 private:
  // The fp32 probabilities. Backward subtracts 1 from the label's probability, which is often so
  // near 1 that 16 bits would leave nothing of the difference.
  float* exact(const BuffersOf<T>& buffers) const {
    if constexpr (std::is_same_v<T, float>) {
      return buffers.output;
    } else {
      return reinterpret_cast<float*>(reinterpret_cast<RowResult*>(buffers.saved) + batch_);
    }
  }

  const Context& context_;
  std::int64_t batch_;
  std::int32_t classes_;
  bool auxiliary_;
  double smoothing_;
  double weight_;
  const DeviceLossScale* loss_scale_;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_loss_layer(const LayerSite& site) {
  return make_typed<SoftmaxLossLayer>(site);
}

}  // namespace feedrate::trainer::cuda
