// Datasets and samples of feedrate.h.

#include <filesystem>
#include <utility>
#include <vector>

#include "formats/remote/settings.h"
#include "formats/remote/url.h"
#include "formats/remote_dataset.h"
#include "loader/read_pixels.h"
#include "tools/bindings/c/calls.h"
#include "tools/bindings/c/dlpack.h"
#include "tools/bindings/c/options.h"

namespace {

struct Contents {
  feedrate::formats::Buffer pixels;
  feedrate::formats::Shape shape;
  std::int32_t label = 0;
  std::string name;
  std::vector<feedrate_box> boxes;
};

}  // namespace

struct feedrate_sample {
  std::shared_ptr<const Contents> contents;  // which tensors share
};

namespace feedrate::tools {
using namespace formats;

namespace {

feedrate_dataset* open(const char* path, const RemoteSettings& remote) {
  std::error_code ignored;
  const bool local = url_scheme(path).empty();
  if (local && !std::filesystem::exists(path, ignored)) {
    throw Failure(FEEDRATE_NOT_FOUND, join(path, ": no such file or directory"));
  }
  auto dataset = std::make_unique<feedrate_dataset>();
  dataset->data = open_dataset(path, remote);
  dataset->path = shown_path(dataset->data->info().path);
  for (const std::string& name : dataset->data->info().class_names.names) {
    dataset->class_names.push_back(name.c_str());
  }
  return dataset.release();
}

feedrate_dataset_info info_of(const feedrate_dataset& dataset) {
  const DatasetInfo& info = dataset.data->info();
  return {.size = 0,
          .images = info.size,
          .height = info.shape.height,
          .width = info.shape.width,
          .channels = info.shape.channels,
          .classes = info.classes,
          .path = dataset.path.c_str(),
          .format = info.format.c_str(),
          .codec = info.codec.c_str(),
          .class_names = dataset.class_names.data(),
          .class_name_count = dataset.class_names.size()};
}

feedrate_sample* read(const Dataset& dataset, std::uint64_t index) {
  if (index >= dataset.size()) {
    throw Failure(FEEDRATE_MISUSED,
                  join("index ", index, " is outside the dataset's ", dataset.size(), " samples"));
  }
  auto contents = std::make_shared<Contents>();
  Scratch scratch;
  const Sample sample = loader::read_pixels(dataset, index, scratch, contents->pixels);
  contents->shape = sample.shape;
  contents->label = sample.label;
  contents->name = sample.name;
  for (const Box& box : sample.boxes) {
    contents->boxes.push_back({box.xmin, box.ymin, box.xmax, box.ymax});
  }
  return new feedrate_sample{std::move(contents)};
}

feedrate_sample_view view_of(const Contents& contents) {
  return {.size = 0,
          .pixels = reinterpret_cast<const std::uint8_t*>(contents.pixels.data()),
          .height = contents.shape.height,
          .width = contents.shape.width,
          .channels = contents.shape.channels,
          .label = contents.label,
          .name = contents.name.c_str(),
          .boxes = contents.boxes.data(),
          .box_count = contents.boxes.size()};
}

}  // namespace
}  // namespace feedrate::tools

using namespace feedrate::tools;

feedrate_status feedrate_dataset_open(const char* path, feedrate_dataset** dataset) {
  return guarded([&] {
    expect_pointer(path, "path");
    expect_pointer(dataset, "dataset");
    *dataset = open(path, remote_settings());
  });
}

feedrate_status feedrate_dataset_open_remote(const char* path,
                                             const feedrate_remote_options* options,
                                             feedrate_dataset** dataset) {
  return guarded([&] {
    expect_pointer(path, "path");
    expect_pointer(dataset, "dataset");
    *dataset = open(path, checked_options(options));
  });
}

void feedrate_dataset_free(feedrate_dataset* dataset) { delete dataset; }

feedrate_status feedrate_dataset_get_info(const feedrate_dataset* dataset,
                                          feedrate_dataset_info* info) {
  return guarded([&] {
    expect_pointer(dataset, "dataset");
    give(info, info_of(*dataset));
  });
}

feedrate_status feedrate_dataset_get_sample(const feedrate_dataset* dataset, uint64_t index,
                                            feedrate_sample** sample) {
  return guarded([&] {
    expect_pointer(dataset, "dataset");
    expect_pointer(sample, "sample");
    *sample = read(*dataset->data, index);
  });
}

void feedrate_sample_release(feedrate_sample* sample) { delete sample; }

feedrate_status feedrate_sample_get(const feedrate_sample* sample, feedrate_sample_view* view) {
  return guarded([&] {
    expect_pointer(sample, "sample");
    give(view, view_of(*sample->contents));
  });
}

feedrate_status feedrate_sample_to_dlpack(const feedrate_sample* sample,
                                          DLManagedTensorVersioned** tensor) {
  return guarded([&] {
    expect_pointer(sample, "sample");
    expect_pointer(tensor, "tensor");
    const Contents& contents = *sample->contents;
    const auto shape = contents.shape;
    *tensor = make_tensor(contents.pixels.data(), dl_u8,
                          {shape.height, shape.width, shape.channels}, sample->contents);
  });
}
