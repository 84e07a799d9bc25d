#include "tools/console/build_info.h"

#include <fmt/format.h>

namespace feedrate::tools {

std::string version_text() {
  const BuildInfo& info = build_info();
  return fmt::format(
      "feedrate {}\n"
      "commit     {}\n"
      "compiler   {}\n"
      "build      {} ({})\n"
      "libraries  {}\n",
      info.version, info.commit, info.compiler, info.build_type, info.flags, info.libraries);
}

}  // namespace feedrate::tools
