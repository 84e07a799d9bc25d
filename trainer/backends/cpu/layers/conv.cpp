#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/gemm_conv.h"
#include "trainer/backends/cpu/products/onednn_conv.h"
#include "trainer/backends/cpu/products/product_choice.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_conv_layer(const LayerSite& site) {
  // OpenBLAS multiplies only fp32.
  if (site.bf16 || suits_onednn(site)) return make_onednn_conv(site);
  return std::make_unique<GemmConv>(site);
}

}  // namespace feedrate::trainer::cpu
