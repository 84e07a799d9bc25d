// A dataset in one of our formats, or a bare file of another tool, to convert it into another
// format.

#include "converters/sources/mds_stream.h"
#include "converters/sources/stored_source.h"
#include "formats/base/error.h"
#include "formats/containers/braces.h"
#include "formats/containers/mds/mds_index.h"
#include "formats/containers/wishes.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

class DatasetSource final : public StoredSource {
 public:
  DatasetSource()
      : StoredSource("dataset", "a dataset in any format, to convert it into another") {}

  std::vector<std::string> splits(std::span<const fs::path> inputs) const override {
    const fs::path path = one_of(inputs);
    return StoredSource::splits(std::span(&path, 1));
  }
  std::unique_ptr<SampleStream> open(std::span<const fs::path> inputs,
                                     std::string_view split) const override {
    const fs::path path = one_of(inputs);
    return is_packed_mds(path) ? open_packed_mds(path)
                               : StoredSource::open(std::span(&path, 1), split);
  }
  // Packed MDS is no dataset that opens: its files are those of the directory.
  std::vector<fs::path> files(std::span<const fs::path> inputs,
                              std::string_view split) const override {
    const fs::path path = directory_of(one_of(inputs));
    return StoredSource::files(std::span(&path, 1), split);
  }
  std::vector<Sidecar::Input> inputs(std::span<const fs::path> paths,
                                     std::string_view split) const override {
    const fs::path path = directory_of(one_of(paths));
    return StoredSource::inputs(std::span(&path, 1), split);
  }

 private:
  static fs::path directory_of(const fs::path& path) {
    return is_packed_mds(path) ? mds_directory(path) : path;
  }
  // Several are the files of one dataset, as a pattern names them.
  static fs::path one_of(std::span<const fs::path> inputs) {
    if (inputs.size() == 1) return inputs.front();
    std::vector<fs::path> paths;
    std::string wishes;
    for (const fs::path& input : inputs) {
      const std::string path = paths.emplace_back(without_wishes(input)).string();
      const std::string own = input.string().substr(path.size());
      if (&input == inputs.data()) wishes = own;
      if (own != wishes) {
        fail(input, "expected '", wishes, "' behind it as behind ", inputs.front(), ", found '",
             own, "'");
      }
    }
    return brace_pattern(paths) + wishes;
  }
  const fs::path& only_input(std::span<const fs::path> inputs) const override {
    return inputs.front();
  }
  // `convert --split all` writes splits side by side.
  bool is_split(const fs::path& path) const override {
    std::error_code ignored;
    return fs::exists(path / sidecar_name, ignored);
  }
  std::string own_split(const fs::path& path) const override {
    const std::optional<Sidecar> sidecar = read_sidecar(path);
    return sidecar && !sidecar->split.empty() ? sidecar->split : "train";
  }
  std::unique_ptr<Dataset> open_one(const fs::path& path) const override {
    return open_dataset(path);
  }
};

const DatasetSource dataset_row;

}  // namespace

const Source& dataset_source = dataset_row;

}  // namespace feedrate::converters
