// feedrate._native.Dataset: samples by index, decoded.

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/containers/braces.h"
#include "formats/containers/wishes.h"
#include "formats/remote/url.h"
#include "formats/remote_dataset.h"
#include "loader/read_pixels.h"
#include "loader/render_view.h"
#include "tools/bindings/python/native.hpp"
#include "tools/bindings/python/values.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

OpenDataset open(const nb::bytes& path, const nb::kwargs& given) {
  const std::string name(path.c_str(), path.size());
  const RemoteSettings settings = checked([&] {
    return read_keywords(given, remote_settings(),
                         [](auto& all, const auto& visit) { for_each_setting(all, visit); });
  });
  const OthersRun others_run;
  return {open_dataset(name, settings)};
}

nb::list remote_rows() {
  nb::list all;
  const RemoteSettings usual;
  for_each_setting(usual, [&](const Setting& row, const auto& value) {
    all.append(described(typed(row, value), python_value(row, value)));
  });
  return all;
}

nb::list texts(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& one : all) list.append(text(one));
  return list;
}

nb::dict info(const OpenDataset& dataset) {
  const DatasetInfo& info = dataset.data->info();
  nb::dict all;
  all["path"] = text(shown_path(info.path));
  all["format"] = text(info.format);
  all["codec"] = text(info.codec);
  all["images"] = info.size;
  all["shape"] = nb::make_tuple(info.shape.height, info.shape.width, info.shape.channels);
  all["classes"] = info.classes;
  all["class_names"] = texts(info.class_names.names);
  all["class_texts"] = texts(info.class_names.texts);
  return all;
}

// (image, label, name, boxes)
nb::tuple decoded(const OpenDataset& dataset, std::uint64_t index) {
  auto pixels = std::make_unique<Buffer>();
  Scratch scratch;
  Sample sample;
  {
    const OthersRun others_run;
    sample = loader::read_pixels(*dataset.data, index, scratch, *pixels);
  }
  const Shape shape = sample.shape;
  std::byte* first = pixels->data();
  const nb::capsule owner(pixels.release(),
                          [](void* held) noexcept { delete static_cast<Buffer*>(held); });
  nb::list boxes;
  for (const Box& box : sample.boxes) {
    boxes.append(nb::make_tuple(box.xmin, box.ymin, box.xmax, box.ymax));
  }
  return nb::make_tuple(
      array(first, {shape.height, shape.width, shape.channels}, nb::dtype<std::uint8_t>(), owner),
      sample.label, text(sample.name), boxes);
}

// Of a rectangle or a size.
using Numbers = std::vector<std::int32_t>;
// crop, size, window, whether left becomes right, whether it is resized by bicubic interpolation
using GivenView = std::tuple<Numbers, Numbers, Numbers, bool, bool>;

loader::View view_of(const GivenView& given) {
  const auto& [crop, size, window, mirrored, is_cubic] = given;
  for (const Numbers* one : {&crop, &size, &window}) {
    if (one->size() != (one == &size ? 2U : 4U)) throw nb::value_error("a rectangle has 4 numbers");
    if (std::any_of(one->begin() + (one == &crop ? 2 : 0), one->end(),
                    [](std::int32_t number) { return number < 0; })) {
      throw nb::value_error("a size is not negative");
    }
  }
  const auto at = [](const Numbers& of, std::size_t place) {
    return static_cast<std::uint32_t>(of[place]);
  };
  return {.y = crop[0],
          .x = crop[1],
          .height = at(crop, 2),
          .width = at(crop, 3),
          .scaled_height = at(size, 0),
          .scaled_width = at(size, 1),
          .window = {at(window, 0), at(window, 1), at(window, 2), at(window, 3)},
          .mirrored = mirrored,
          .interpolation = is_cubic ? Interpolation::bicubic : Interpolation::bilinear};
}

nb::object viewed(const OpenDataset& dataset, std::uint64_t index,
                  const std::vector<GivenView>& given, std::uint32_t channels) {
  std::vector<loader::View> views;
  for (const GivenView& one : given) views.push_back(view_of(one));
  auto pixels = std::make_unique<Buffer>();
  {
    const OthersRun others_run;
    loader::render_views(*dataset.data, index, views, channels, *pixels);
  }
  std::byte* first = pixels->data();
  const nb::capsule owner(pixels.release(),
                          [](void* held) noexcept { delete static_cast<Buffer*>(held); });
  const Rect& window = views.back().window;
  return array(first, {window.height, window.width, channels}, nb::dtype<std::uint8_t>(), owner);
}

nb::tuple place(const OpenDataset& dataset, std::uint64_t index) {
  const SamplePlace place = dataset.data->place(index);
  return nb::make_tuple(text(shown_path(place.file)), place.offset);
}

}  // namespace

void add_dataset(nb::module_& module) {
  nb::class_<OpenDataset>(module, "Dataset", "A dataset on disk. Any thread.")
      .def("__len__", [](const OpenDataset& dataset) { return dataset.data->size(); })
      .def("info", &info, nb::sig("def info(self) -> dict[str, object]"))
      .def("sample", &decoded, nb::arg("index"),
           nb::sig("def sample(self, index: int) -> tuple[object, int, str, "
                   "list[tuple[float, float, float, float]]]"),
           "(image, label, name, boxes)")
      .def(
          "view", &viewed, nb::arg("index"), nb::arg("views"), nb::arg("channels"),
          nb::sig(
              "def view(self, index: int, views: Sequence[tuple[tuple[int, int, int, int], "
              "tuple[int, int], tuple[int, int, int, int], bool, bool]], channels: int) -> object"),
          "The image as a loader would put it into a batch under these views, each of what the one "
          "before it made: (crop, size, window, mirrored, bicubic); see loader/pixels/view.h. "
          "(y, x, height, width), (height, width).")
      .def_prop_ro("is_mix", [](const OpenDataset& dataset) { return !dataset.members.empty(); })
      .def("place", &place, nb::arg("index"),
           nb::sig("def place(self, index: int) -> tuple[str, int]"), "(file, offset in bytes)");
  module.def("open", &open, nb::arg("path"), nb::arg("settings"),
             nb::sig("def open(path: bytes, **settings: object) -> Dataset"));
  module.def(
      "is_there",
      [](const nb::bytes& path) {
        const std::string name(path.c_str(), path.size());
        std::error_code ignored;
        return !url_scheme(name).empty() || is_brace_pattern(without_wishes(name)) ||
               std::filesystem::exists(without_wishes(name), ignored);
      },
      nb::arg("path"),
      "False where a path, which is no URL, names nothing, whatever it wishes for behind a "
      "question mark.");
  module.def("remote_settings", &remote_rows,
             nb::sig("def remote_settings() -> list[dict[str, object]]"),
             "The settings of datasets of servers: what is to be known of each.");
}

}  // namespace feedrate::tools
