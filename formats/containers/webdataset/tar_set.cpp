#include "formats/containers/webdataset/tar_set.h"

#include "formats/containers/file_set.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view endings[] = {".tar",     ".tar.gz", ".tgz",
                                        ".tar.bz2", ".tar.xz", ".tar.zst"};
constexpr FileNames tars{.what = "tar", .endings = endings};

}  // namespace

bool is_tar_name(std::string_view file_name) { return tars.is_own(file_name); }

std::vector<fs::path> find_tars(const fs::path& path) { return dataset_files(path, tars); }

bool holds_tars(const fs::path& directory) { return holds_files(directory, tars); }

}  // namespace feedrate::formats
