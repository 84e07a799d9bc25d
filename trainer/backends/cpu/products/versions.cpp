#include "trainer/backends/cpu/products/versions.h"

#include <cblas.h>
#include <oneapi/dnnl/dnnl.h>

#include "formats/base/error.h"

namespace feedrate::trainer::cpu {
using namespace formats;

std::vector<LibraryVersion> library_versions() {
  const dnnl_version_t& onednn = *dnnl_version();
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  std::string_view openblas = openblas_get_config();
  openblas.remove_prefix(std::min(openblas.find(' ') + 1, openblas.size()));
  return {{"oneDNN", join(onednn.major, ".", onednn.minor, ".", onednn.patch)},
          {"OpenBLAS", std::string(openblas.substr(0, openblas.find(' ')))}};
}

}  // namespace feedrate::trainer::cpu
