// feedrate._native.Dataset: samples by index, decoded.

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "loader/bad.h"
#include "tools/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

OpenDataset open(const std::string& path) {
  const nb::gil_scoped_release others_run;
  return {open_dataset(path)};
}

nb::str text(std::string_view text) {
  // Names come from archives, which may hold any bytes.
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::list texts(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& one : all) list.append(text(one));
  return list;
}

nb::dict info(const OpenDataset& dataset) {
  const DatasetInfo& info = dataset.data->info();
  nb::dict all;
  all["path"] = text(info.path.native());
  all["format"] = text(info.format);
  all["codec"] = text(info.codec);
  all["images"] = info.size;
  all["shape"] = nb::make_tuple(info.shape.height, info.shape.width, info.shape.channels);
  all["classes"] = info.classes;
  all["class_names"] = texts(info.class_names.names);
  all["class_texts"] = texts(info.class_names.texts);
  return all;
}

struct Decoded {
  std::unique_ptr<Buffer> pixels = std::make_unique<Buffer>();
  Scratch scratch;
  Sample sample;
};

// Readers name the file and the sample themselves; decoders know neither.
std::string with_place(const Dataset& dataset, std::uint64_t index, std::string_view what) {
  const std::string path = dataset.info().path.string();
  if (what.find(path) != std::string_view::npos) return std::string(what);
  return join(path, ": sample ", index, ": ", what);
}

void read(const Dataset& dataset, std::uint64_t index, Decoded& decoded) {
  try {
    decoded.sample = dataset.read(index, decoded.scratch);
    if (!decoded.sample.shape.plausible()) throw Error("its size is not plausible");
    decode(decoded.sample, grown(*decoded.pixels, decoded.sample.shape.bytes()));
  } catch (const Error& error) {
    throw loader::SampleError({.place = dataset.place(index),
                               .index = index,
                               .key = std::string(decoded.sample.name),
                               .reason = with_place(dataset, index, error.what())});
  }
}

// (image, label, name, boxes)
nb::tuple sample(const OpenDataset& dataset, std::uint64_t index) {
  Decoded decoded;
  {
    const nb::gil_scoped_release others_run;
    read(*dataset.data, index, decoded);
  }
  const Shape shape = decoded.sample.shape;
  std::byte* first = decoded.pixels->data();
  const nb::capsule owner(decoded.pixels.release(),
                          [](void* pixels) noexcept { delete static_cast<Buffer*>(pixels); });
  nb::list boxes;
  for (const Box& box : decoded.sample.boxes) {
    boxes.append(nb::make_tuple(box.xmin, box.ymin, box.xmax, box.ymax));
  }
  return nb::make_tuple(
      array(first, {shape.height, shape.width, shape.channels}, nb::dtype<std::uint8_t>(), owner),
      decoded.sample.label, text(decoded.sample.name), boxes);
}

std::tuple<std::string, std::uint64_t> place(const OpenDataset& dataset, std::uint64_t index) {
  const SamplePlace place = dataset.data->place(index);
  return {place.file.string(), place.offset};
}

}  // namespace

void add_dataset(nb::module_& module) {
  nb::class_<OpenDataset>(module, "Dataset", "A dataset on disk. Any thread.")
      .def("__len__", [](const OpenDataset& dataset) { return dataset.data->size(); })
      .def("info", &info)
      .def("sample", &sample, nb::arg("index"), "(image, label, name, boxes)")
      .def_prop_ro("is_mix", [](const OpenDataset& dataset) { return !dataset.parts.empty(); })
      .def("place", &place, nb::arg("index"), "(file, offset in bytes)");
  module.def("open", &open, nb::arg("path"));
}

}  // namespace feedrate::tools
