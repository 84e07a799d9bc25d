#include "tools/lab/measure/libraries.h"

#include <fmt/format.h>
#include <isa-l.h>
#include <lmdb.h>
#include <oneapi/tbb/version.h>
#include <png.h>
#include <webp/decode.h>
#include <zlib.h>

#include <cstdio>
#include <string_view>

#include <jpeglib.h>  // needs FILE and size_t declared first

#include "trainer/backends/backend.h"

namespace feedrate::tools {

std::string library_versions() {
  std::string trainer;
  for (const trainer::LibraryVersion& one : trainer::backend("cpu").libraries()) {
    trainer += fmt::format("{} {}, ", one.name, one.version);
  }
  int major = 0, minor = 0, patch = 0;
  mdb_version(&major, &minor, &patch);
  const int webp = WebPGetDecoderVersion();
  constexpr int turbo = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005
  return fmt::format(
      "{}oneTBB {}, libjpeg-turbo {}.{}.{}, libpng {}, libwebp {}.{}.{}, LMDB {}, zlib {}, ISA-L "
      "{}.{}.{}",
      trainer, TBB_runtime_version(), turbo / 1'000'000, turbo / 1'000 % 1'000, turbo % 1'000,
      png_get_libpng_ver(nullptr), webp >> 16, webp >> 8 & 255, webp & 255,
      fmt::format("{}.{}.{}", major, minor, patch), zlibVersion(), ISAL_MAJOR_VERSION,
      ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

}  // namespace feedrate::tools
