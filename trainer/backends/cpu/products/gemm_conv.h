#pragma once
// Convolution as one matrix product for each image over its unfolded patches, channels last.
// Threads share the images; each thread sums its own part of the weights' gradient, and the parts
// are added in order. Groups are not supported.
//
// Weights are stored as [filter][row][column][channel], the order of the values in a patch.

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

class GemmConv final : public LayerOf<float> {
 public:
  explicit GemmConv(const LayerSite& site);

  std::size_t scratch_bytes() const override;
  void forward(const Step& step) override;
  void backward(const Step& step) override;
  void to_stored(std::size_t k, std::span<const float> canonical, float* stored) const override;
  void from_stored(std::size_t k, const float* stored, std::span<float> canonical) const override;

 private:
  // One thread's part of the scratch.
  struct ThreadScratch {
    float* image;    // channels last, if the input has another layout
    float* patches;  // of one image: one row for each output position
    float* weights;  // this thread's part of the gradients
    float* bias;
  };
  struct ScratchSizes {
    std::int64_t image, patches, weights, bias;  // floats
    std::int64_t all() const { return image + patches + weights + bias; }
  };
  ScratchSizes scratch_sizes() const;
  ThreadScratch thread_scratch(unsigned thread) const;

  const float* patches(std::int64_t image, const ThreadScratch& mine) const;
  void unfold(const float* image, float* patches) const;
  void unfold_at_edge(const float* image, std::int64_t top, std::int64_t left, float* to) const;
  void fold(const float* patches, float* image) const;
  void backward_image(std::int64_t image, const ThreadScratch& mine) const;
  void input_gradient(std::int64_t image, const ThreadScratch& mine) const;
  void add_up(unsigned thread) const;

  Layout input_;
  std::int64_t batch_, kernel_, stride_, pad_;
  std::int64_t patch_;      // values in a patch
  std::int64_t positions_;  // patches in an image
  unsigned threads_;
  bool input_learns_, has_bias_;
};

}  // namespace feedrate::trainer::cpu
