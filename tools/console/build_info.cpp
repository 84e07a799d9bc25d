#include "tools/console/build_info.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

namespace feedrate::tools {

std::string version_text() {
  const BuildInfo& info = build_info();
  const dnnl_version_t& onednn = *dnnl_version();
  return fmt::format(
      "feedrate {}\n"
      "commit     {}\n"
      "compiler   {}\n"
      "build      {} ({})\n"
      "libraries  {}\n"
      "running    oneDNN {}.{}.{}\n",
      info.version, info.commit, info.compiler, info.build_type, info.flags, info.libraries,
      onednn.major, onednn.minor, onednn.patch);
}

}  // namespace feedrate::tools
