#pragma once
// A dense layer with products in fp32.
//
// Weights are stored as [unit][input in its memory layout], padding channels included: these are
// multiplied by zeros and stay zero.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

class DenseLayer : public LayerOf<float> {
 public:
  explicit DenseLayer(const LayerSite& site);

  bool does_relu() const override { return relu_follows_; }
  void forward(const Step& step) override;
  void backward(const Step& step) override;
  std::size_t stored_size(std::size_t k) const override;
  void to_stored(std::size_t k, std::span<const float> canonical, float* stored) const override;
  void from_stored(std::size_t k, const float* stored, std::span<float> canonical) const override;

 protected:
  std::int64_t batch() const { return batch_; }
  std::int64_t units() const { return units_; }
  std::int64_t inputs() const { return input_.elements(); }
  unsigned threads() const { return threads_; }
  /// Adds the bias to the products and computes the relu that follows, if this layer does it. The
  /// products may lie where the output does. T is float or Bf16.
  template <class T>
  void finish_forward(const Step& step, const float* products, T* output) const;
  /// Takes the output gradient through that relu and sums the gradient of the bias.
  template <class T>
  void begin_backward(T* output_gradient, const T* output) const;

 private:
  template <class Use>
  void each_weight(const Use& use) const;

  Layout input_;
  std::int64_t batch_, units_;
  bool relu_follows_;
  unsigned threads_;
};

}  // namespace feedrate::trainer::cpu
