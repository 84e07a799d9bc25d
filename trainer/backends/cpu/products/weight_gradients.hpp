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
  // Where they come from and how they are written.
  struct Layouts {
    dnnl::memory::desc input, gradient;  // as factors
    dnnl::memory::desc weights, bias;
  };

  WeightGradients() = default;
  WeightGradients(const LayerSite& site, const Layouts& layouts);

  std::size_t scratch_bytes() const;
  // As scratch, memory that starts on a line.
  void bind(void* input, void* gradient, const Buffers& buffers, std::byte* scratch);
  void run();

 private:
  // In bf16 oneDNN's own threads wait for one another by spinning at every turn: where a neighbour
  // keeps one of them from its core, what takes 7 ms takes 400. So there each is alone with filters
  // of its own, or, where a filter has fewer weights than values, with images of its own, whose
  // sums are then added up.
  enum class Sharing { onednns, filters, images };
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

  Sharing sharing_ = Sharing::onednns;
  Layouts layouts_;
  std::vector<Share> shares_;  // the first writes where the layer's gradients are
};

}  // namespace feedrate::trainer::cpu
