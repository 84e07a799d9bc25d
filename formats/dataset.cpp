#include "formats/dataset.h"

#include <algorithm>
#include <string_view>

#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/containers/wishes.h"
#include "formats/io/late_bytes.h"
#include "formats/io/lfs_pointer.h"
#include "formats/remote/url.h"
#include "formats/remote_dataset.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

bool known(const fs::path& path) {
  const auto rows = all_containers();
  return std::any_of(rows.begin(), rows.end(), [&](const auto* row) { return row->knows(path); });
}

// Names of the datasets inside a directory, such as the splits that `convert --split all` wrote
// there: "test, train".
std::string datasets_inside(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (entry.is_directory(ignored) && known(entry.path())) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// The sidecar describes what its directory opens as. Another file there, or one of several, is not it.
bool is_described(const DatasetInfo& info) {
  const std::string& format = info.sidecar->format;
  if (!format.empty() && format != info.format) return false;
  std::error_code ignored;
  if (fs::is_directory(info.path, ignored)) return true;
  forget_failed_late_bytes();
  try {
    const auto whole = open_as_found(sidecar_file(info.path).parent_path());
    return whole->info().format == info.format && whole->info().files == info.files &&
           whole->size() == info.size;
  } catch (const Error&) {
    if (late_bytes_failed()) throw;
    return false;  // several datasets
  }
}

[[noreturn]] void refuse(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const fs::path data = without_wishes(path);
  for (const Container* row : all_containers()) {
    if (data == path || !row->knows(data)) continue;
    fail(path, "is a dataset of the format ", row->name(), ", which has nothing to name by '",
         path.string().substr(data.string().size()), "'");
  }
  if (is_brace_pattern(data)) {
    const fs::path first = pattern_files(data, [](const fs::path& directory) {
                             return std::vector{directory};
                           }).front();
    fail(path, "names ", first, ", which is no file or directory of a format of several files");
  }
  if (status.type() == fs::file_type::not_found) fail(path, "there is no such file or directory");
  if (error) fail_errno(path, "cannot look at", error.value());
  refuse_lfs_pointer(path);
  std::string formats;
  for (const Container* row : all_containers())
    formats += join(formats.empty() ? "" : ", ", row->name());
  if (status.type() != fs::file_type::directory) {
    fail(path, "is not a dataset file; looked for ", formats);
  }
  if (const auto access = fs::directory_iterator(path, error); error) {
    fail_errno(path, "cannot look into the directory", error.value());
  } else {
    for (const fs::directory_entry& entry : access) refuse_lfs_pointer(entry.path());
  }
  if (const std::string other = directory_beside_classes(path); !other.empty()) {
    fail(path, "would be a folder of classes, but its directory ", other,
         " holds files and no image; 'feedrate convert folder' reads it");
  }
  const std::string inside = datasets_inside(path);
  if (!inside.empty()) fail(path, "is not a dataset itself, but holds some: ", inside);
  fail(path, "holds no dataset; looked for ", formats,
       " (data.mdb, data.rec, train-00000-of-00001, train_map.txt, train-000000.tar …); 'feedrate "
       "convert' makes one of archives");
}

}  // namespace

void expect_local(const fs::path& path) {
  if (url_scheme(path.native()).empty()) return;
  fail(without_secrets(path.native()),
       "is a URL, expected a path of this machine; copy the dataset here first, for instance "
       "with curl, 'aws s3 sync' or rclone");
}

const Container& container_at(const fs::path& path) {
  expect_local(path);
  std::error_code ignored;
  // A path that does not exist may still be a pattern that names files.
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::directory || type == fs::file_type::regular ||
      type == fs::file_type::not_found) {
    for (const Container* row : all_containers()) {
      if (row->knows(path)) return *row;
    }
  }
  refuse(path);
}

namespace {

std::unique_ptr<Dataset> open_any(const fs::path& path, const RemoteSettings& settings) {
  if (!url_scheme(path.native()).empty()) return open_url(path.native(), settings);
  return container_at(path).open(path);
}

}  // namespace

std::unique_ptr<Dataset> open_as_found(const fs::path& path) {
  return open_any(path, remote_settings());
}

std::unique_ptr<Dataset> open_dataset(const fs::path& path) {
  return open_dataset(path, remote_settings());
}

std::unique_ptr<Dataset> open_dataset(const fs::path& path, const RemoteSettings& settings) {
  std::unique_ptr<Dataset> dataset = open_any(path, settings);
  expect_whole(dataset->info());
  return dataset;
}

void expect_whole(const DatasetInfo& info) {
  if (!info.sidecar || info.sidecar->count == 0 || info.sidecar->count == info.size) return;
  if (!is_described(info)) return;
  fail(info.path, "expected the ", info.sidecar->count, " samples that ", sidecar_name,
       " states, found ", info.size,
       "; 'feedrate verify' tells more. If it was changed on purpose, remove ", sidecar_name);
}

std::uint32_t count_classes(const Dataset& dataset) {
  if (dataset.info().classes != 0) return dataset.info().classes;
  Scratch scratch;
  std::int32_t largest = -1;
  for (std::uint64_t i = 0; i < dataset.size(); ++i) {
    largest = std::max(largest, dataset.label(i, scratch));
  }
  return static_cast<std::uint32_t>(largest) + 1;
}

std::vector<fs::path> sample_files(const Dataset& dataset) {
  std::vector<fs::path> files = dataset.info().files;
  if (!files.empty()) return files;
  files.reserve(dataset.size());
  for (std::uint64_t i = 0; i < dataset.size(); ++i) files.push_back(dataset.place(i).file);
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::error_code ignored;
  std::erase_if(files, [&](const fs::path& file) { return !fs::is_regular_file(file, ignored); });
  return files;
}

}  // namespace feedrate::formats
