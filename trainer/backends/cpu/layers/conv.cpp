#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/gemm_conv.h"
#include "trainer/backends/cpu/products/onednn_conv.h"
#include "trainer/backends/cpu/products/product_choice.h"
#include "trainer/backends/cpu/values/in_fp32.h"

namespace feedrate::trainer::cpu {

std::unique_ptr<Layer> make_conv_layer(const LayerSite& site) {
  // OpenBLAS multiplies only fp32.
  if (site.bf16) return make_onednn_conv(site);
  return suits_onednn(site) ? in_fp32(site, make_onednn_conv) : make_in_fp32<GemmConv>(site);
}

}  // namespace feedrate::trainer::cpu
