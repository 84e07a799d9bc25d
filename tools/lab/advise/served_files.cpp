#include "tools/lab/advise/served_files.h"

#include <sys/stat.h>

#include <utility>

namespace feedrate::tools {
using namespace formats;

std::vector<std::shared_ptr<RemoteObject>> served_files(const Dataset& dataset) {
  std::vector<std::shared_ptr<RemoteObject>> files;
  for (const std::filesystem::path& file : dataset.info().files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;
    auto object =
        std::dynamic_pointer_cast<RemoteObject>(late_bytes_of({status.st_dev, status.st_ino}));
    if (object != nullptr) files.push_back(std::move(object));
  }
  return files;
}

}  // namespace feedrate::tools
