#include "trainer/communicators/plugin_path.h"

#include <dlfcn.h>

#include <system_error>

namespace feedrate::trainer {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_places(const fs::path& file) {
  std::vector<fs::path> places;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    places.push_back(program.parent_path() / file);
    places.push_back(program.parent_path().parent_path() / "lib" / file);
  }
  places.push_back(file);
  return places;
}

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown error of the dynamic loader";
}

}  // namespace feedrate::trainer
