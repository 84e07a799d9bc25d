#include <cmath>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/ops/check.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {
namespace {

// The outcome of one image; outcomes are stored so that they can be summed in a fixed order.
struct Outcome {
  double loss;
  bool correct, correct5;
};

class SoftmaxLossLayer final : public LayerOf<float> {
 public:
  explicit SoftmaxLossLayer(const LayerSite& site)
      : LayerOf(site, {site.node().extent, 1}),
        batch_(site.batch),
        classes_(site.node().extent.channels),
        smoothing_(site.node().attributes.number("smoothing")),
        auxiliary_(site.node().attributes.integer("auxiliary") != 0),
        weight_(loss_weight(site.node().attributes)),
        threads_(site.threads) {}

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(batch_) * sizeof(Outcome);
  }

  void forward(const Step& step) override {
    auto* outcomes = reinterpret_cast<Outcome*>(buffers().scratch);
    on_shares(threads_, step.count, 1, [&](const Range& range) {
      for (std::int64_t image = range.begin; image < range.end; ++image) {
        outcomes[image] = softmax(
            buffers().input + image * classes_, step.labels[static_cast<std::size_t>(image)],
            step.training ? smoothing_ : 0, buffers().output + image * classes_);
      }
    });
    Metrics& metrics = *step.metrics;
    for (std::uint32_t image = 0; image < step.count; ++image) {
      metrics.loss_sum += weight_ * outcomes[image].loss;
      if (auxiliary_) continue;
      ++metrics.images;
      metrics.correct += outcomes[image].correct ? 1 : 0;
      metrics.correct5 += outcomes[image].correct5 ? 1 : 0;
    }
  }

  void backward(const Step& step) override {
    const auto smoothing = static_cast<float>(smoothing_);
    const auto image_weight = static_cast<float>(weight_ / static_cast<double>(step.all_images));
    for (std::int64_t image = 0; image < batch_; ++image) {
      const float* probabilities = buffers().output + image * classes_;
      float* gradient = buffers().input_gradient + image * classes_;
      const bool counts = image < step.count;
      const std::int32_t label = counts ? step.labels[static_cast<std::size_t>(image)] : 0;
      for (std::int64_t k = 0; k < classes_; ++k) {
        gradient[k] = counts ? softmax_loss_gradient(
                                   probabilities[k],
                                   softmax_target(k == label, smoothing, classes_), image_weight)
                             : 0.0F;
      }
    }
  }

 private:
  // Logits and probabilities may be the same memory.
  Outcome softmax(const float* logits, std::int32_t label, double smoothing,
                  float* probabilities) const {
    const float label_logit = logits[label];
    std::int64_t best = 0, before = 0;
    double all = 0;
    for (std::int64_t k = 0; k < classes_; ++k) {
      if (is_new_maximum(logits[k], logits[best])) best = k;
      before += ranks_before(logits[k], k, label_logit, label) ? 1 : 0;
      all += double{logits[k]};
    }
    const float max = logits[best];
    float sum = 0;
    for (std::int64_t k = 0; k < classes_; ++k) {
      probabilities[k] = std::exp(logits[k] - max);
      sum += probabilities[k];
    }
    for (std::int64_t k = 0; k < classes_; ++k) {
      probabilities[k] = softmax_probability(probabilities[k], sum);
    }
    return {smoothed_cross_entropy(std::log(static_cast<double>(sum)), max, label_logit,
                                   all / static_cast<double>(classes_), smoothing),
            best == label, before < top_five};
  }

  std::int64_t batch_, classes_;
  double smoothing_;
  bool auxiliary_;
  double weight_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_loss_layer(const LayerSite& site) {
  return std::make_unique<SoftmaxLossLayer>(site);
}

}  // namespace feedrate::trainer::cpu
