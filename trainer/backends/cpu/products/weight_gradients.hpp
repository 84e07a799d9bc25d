#pragma once
// The gradients of a convolution's weights and bias. Private to this folder's .cpp files.

#include <dnnl.hpp>
#include <vector>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/onednn_call.hpp"
#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {

class WeightGradients {
 public:
  // The layouts of the factors and of the results.
  struct Layouts {
    dnnl::memory::desc input, gradient;  // as factors
    dnnl::memory::desc weights, bias;
  };

  WeightGradients() = default;
  WeightGradients(const LayerSite& site, const Layouts& layouts);

  std::size_t scratch_bytes() const;
  // `scratch` must start on a cache line.
  void bind(void* input, void* gradient, const Buffers& buffers, std::byte* scratch);
  void run();

 private:
  // How threads share the work. In bf16 oneDNN's own threads spin at every barrier: if another
  // process takes one of their cores, 7 ms become 400. So each thread of ours computes its own
  // filters or, if a filter has fewer weights than values, its own images; the sums of the images
  // are then added.
  enum class Sharing { by_onednn, by_filters, by_images };
  struct Share {
    Range images, filters;
    Call call;
    dnnl::stream stream;
    float *weights = nullptr, *bias = nullptr;
  };

  static Sharing sharing(const LayerSite& site, const dnnl::memory::desc& weights);
  Share share(const LayerSite& site, unsigned number) const;
  void add_up(float* Share::*sums, const dnnl::memory::desc& layout) const;
  bool has_bias() const { return layouts_.bias.get_size() != 0; }
  std::size_t sums_bytes() const;

  Sharing sharing_ = Sharing::by_onednn;
  Layouts layouts_;
  std::vector<Share> shares_;  // the first writes to the layer's gradients
};

}  // namespace feedrate::trainer::cpu
