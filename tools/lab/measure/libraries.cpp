#include "tools/lab/measure/libraries.h"

#include <cblas.h>
#include <fmt/format.h>
#include <isa-l.h>
#include <lmdb.h>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/tbb/version.h>
#include <png.h>
#include <zlib.h>

#include <cstdio>
#include <string_view>

#include <jpeglib.h>  // needs FILE and size_t declared first

namespace feedrate::tools {
namespace {

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …" → "OpenBLAS 0.3.21".
std::string_view first_two_words(std::string_view text) {
  return text.substr(0, text.find(' ', text.find(' ') + 1));
}

}  // namespace

std::string library_versions() {
  const dnnl_version_t* dnnl = dnnl_version();
  int major = 0, minor = 0, patch = 0;
  mdb_version(&major, &minor, &patch);
  constexpr int turbo = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005
  return fmt::format(
      "oneDNN {}.{}.{}, {}, oneTBB {}, libjpeg-turbo {}.{}.{}, libpng {}, LMDB {}, zlib {}, "
      "ISA-L {}.{}.{}",
      dnnl->major, dnnl->minor, dnnl->patch, first_two_words(openblas_get_config()),
      TBB_runtime_version(), turbo / 1'000'000, turbo / 1'000 % 1'000, turbo % 1'000,
      png_get_libpng_ver(nullptr), fmt::format("{}.{}.{}", major, minor, patch), zlibVersion(),
      ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

}  // namespace feedrate::tools
