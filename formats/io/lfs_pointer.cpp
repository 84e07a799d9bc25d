#include "formats/io/lfs_pointer.h"

#include <string_view>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_pointer = 1024;  // bytes, by Git LFS's specification
constexpr std::string_view first_words = "version https://git-lfs.github.com/spec/";

}  // namespace

void refuse_lfs_pointer(const fs::path& path, Bytes file) {
  if (file.size() > max_pointer || !as_text(file).starts_with(first_words)) return;
  fail(path,
       "is a Git LFS pointer, not the file itself; 'git lfs pull' in its repository fetches the "
       "file");
}

void refuse_lfs_pointer(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > max_pointer) return;
  Buffer content;
  read_file(file, content);
  refuse_lfs_pointer(file, content);
}

}  // namespace feedrate::formats
