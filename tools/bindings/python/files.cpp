// feedrate._native.files: image files, wherever they lie, as a dataset.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/base/error.h"
#include "formats/codec.h"
#include "formats/io/file.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

/// Immutable; any thread.
class ListedFiles final : public Dataset {
 public:
  ListedFiles(std::vector<std::string> paths, std::vector<std::int32_t> labels,
              std::vector<std::string> classes)
      : root_(open_directory("/")), paths_(std::move(paths)), labels_(std::move(labels)) {
    // No path of a dataset, beside which there could be files of it.
    info_.path = paths_.size() == 1 ? paths_.front()
                                    : join(paths_.front(), " and ", paths_.size() - 1, " more");
    info_.format = "files";
    info_.size = paths_.size();
    info_.classes =
        static_cast<std::uint32_t>(*std::max_element(labels_.begin(), labels_.end())) + 1;
    if (!classes.empty()) info_.classes = static_cast<std::uint32_t>(classes.size());
    info_.class_names.names = std::move(classes);
    Scratch scratch;
    const Sample first = read(0, scratch);
    info_.codec = first.codec->name();
    info_.shape = first.shape;
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    try {
      Sample sample;
      sample.bytes = read_file_at(root_, paths_[index].c_str(), scratch.bytes);
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
      sample.label = labels_[index];
      sample.name = paths_[index];
      return sample;
    } catch (const Error& error) {
      fail(paths_[index], "sample ", index, ": ", error.what());
    }
  }
  std::int32_t label(std::uint64_t index, Scratch&) const override { return labels_[index]; }
  bool look_ahead(std::uint64_t index) const override {
    prefetch_file_at(root_, paths_[index].c_str());
    return true;
  }
  SamplePlace place(std::uint64_t index) const override { return {paths_[index], 0}; }

 private:
  Descriptor root_;  // of no meaning to paths that are absolute
  std::vector<std::string> paths_;
  std::vector<std::int32_t> labels_;
};

OpenDataset files(const nb::list& paths, const nb::list& labels, const nb::list& classes) {
  std::vector<std::string> all_paths, names;
  std::vector<std::int32_t> all_labels;
  for (const nb::handle path : paths) {
    const auto bytes = nb::cast<nb::bytes>(path);
    all_paths.emplace_back(bytes.c_str(), bytes.size());
  }
  for (const nb::handle label : labels) all_labels.push_back(nb::cast<std::int32_t>(label));
  for (const nb::handle name : classes) names.push_back(nb::cast<std::string>(name));
  const OthersRun others_run;
  return {
      std::make_shared<ListedFiles>(std::move(all_paths), std::move(all_labels), std::move(names))};
}

}  // namespace

void add_files(nb::module_& module) {
  module.def("files", &files, nb::arg("paths"), nb::arg("labels"), nb::arg("classes"),
             nb::sig("def files(paths: list[bytes], labels: list[int], classes: list[str]) -> "
                     "Dataset"),
             "Absolute paths, and as many labels from 0 on; at least one.");
}

}  // namespace feedrate::tools
