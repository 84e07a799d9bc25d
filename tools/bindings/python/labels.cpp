// Labels of one's own, and those that datasets keep.

#include "tools/bindings/python/labels.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tools/bindings/python/values.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

constexpr Setting labels_row{.name = "labels"};

template <class Value>
nb::object gathered(const std::vector<Value>& of, std::size_t width,
                    std::span<const std::uint64_t> indices) {
  const std::size_t row = std::max<std::size_t>(width, 1);
  auto* values = new std::vector<Value>;
  const nb::capsule owner(
      values, [](void* held) noexcept { delete static_cast<std::vector<Value>*>(held); });
  values->reserve(indices.size() * row);
  for (const std::uint64_t index : indices) {
    const auto first = of.begin() + static_cast<std::ptrdiff_t>(index * row);
    values->insert(values->end(), first, first + static_cast<std::ptrdiff_t>(row));
  }
  const auto type = nb::dtype<Value>();
  if (width == 0) return array(values->data(), {indices.size()}, type, owner);
  return array(values->data(), {indices.size(), width}, type, owner);
}

enum class Kind : std::uint8_t { whole, fraction, row };

// NumPy's and PyTorch's numbers have __index__ by their type, whatever they are.
Kind kind_of(nb::handle given) {
  if (PyLong_Check(given.ptr())) return Kind::whole;
  if (PyFloat_Check(given.ptr())) return Kind::fraction;
  const auto items = nb::steal<nb::object>(PyObject_GetIter(given.ptr()));
  PyErr_Clear();
  if (items.is_valid()) return Kind::row;
  const auto index = nb::steal<nb::object>(PyNumber_Index(given.ptr()));
  PyErr_Clear();
  return index.is_valid() ? Kind::whole : Kind::fraction;
}

std::int64_t whole_number(nb::handle value) {
  const auto number = nb::steal<nb::object>(PyNumber_Index(value.ptr()));
  const std::int64_t read = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
  const bool fits = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (!fits) throw Error(join("expected a number of 64 bits, found ", shown(value)));
  return read;
}

// Appends a number, or a row of them.
void take_numbers(nb::handle given, OwnLabels::Numbers& numbers) {
  std::vector<double> read;
  take(typed(labels_row, read), given, read);
  for (const double number : read) {
    numbers.push_back(static_cast<float>(number));
    if (std::isfinite(numbers.back())) continue;
    throw Error(join("expected a number that float32 holds, found ", shown(nb::float_(number))));
  }
}

OwnLabels::Classes read_classes(const nb::list& given) {
  OwnLabels::Classes classes;
  for (const nb::handle one : given) {
    about(join("at place ", classes.size()), [&] { classes.push_back(whole_number(one)); });
  }
  return classes;
}

OwnLabels read_labels(const nb::list& given, std::uint64_t samples) {
  if (given.size() != samples) {
    throw Error(
        join("found ", given.size(), ", expected one for each of the ", samples, " samples"));
  }
  if (std::ranges::all_of(given, [](nb::handle one) { return kind_of(one) == Kind::whole; })) {
    return {read_classes(given)};
  }
  OwnLabels::Numbers numbers;
  const bool rows = kind_of(given[0]) == Kind::row;
  std::size_t width = 0;
  for (std::size_t place = 0; place < samples; ++place) {
    const std::size_t before = numbers.size();
    about(join("at place ", place), [&] {
      const nb::object one = given[place];
      if ((kind_of(one) == Kind::row) != rows) {
        throw WrongType(
            join("expected ", rows ? "numbers" : "a number", ", as before, found ", shown(one)));
      }
      take_numbers(one, numbers);
      if (place == 0) width = numbers.size();
      if (width == 0) throw Error("expected numbers, found none");
      if (numbers.size() - before != width) {
        throw Error(
            join("expected ", width, " numbers, as before, found ", numbers.size() - before));
      }
    });
  }
  return {std::move(numbers), rows ? width : 0};
}

std::vector<float> list_of(const OpenDataset& dataset, std::uint64_t index, Scratch& scratch) {
  const Sample sample = dataset.data->read(index, scratch);
  return {sample.labels.begin(), sample.labels.end()};
}

OwnLabels kept_lists(const OpenDataset& dataset) {
  const OthersRun others_run;
  OwnLabels::Numbers numbers;
  Scratch scratch;
  std::size_t width = 0;
  for (std::uint64_t index = 0; index < dataset.data->size(); ++index) {
    const std::vector<float> list = list_of(dataset, index, scratch);
    if (index == 0) width = list.size();
    if (list.empty() || list.size() != width) {
      throw nb::value_error(join("labels: expected a dataset whose samples keep lists of labels, "
                                 "of one length; sample ",
                                 index, " has ", list.size(), ", sample 0 has ", width)
                                .c_str());
    }
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  return {std::move(numbers), width};
}

}  // namespace

nb::object OwnLabels::of(std::span<const std::uint64_t> indices) const {
  if (const auto* classes = std::get_if<Classes>(&values)) return gathered(*classes, 0, indices);
  return gathered(std::get<Numbers>(values), width, indices);
}

void add_labels(nb::module_& module) {
  nb::class_<OwnLabels>(module, "Labels", "What batches have in place of classes.")
      .def_prop_ro("width", [](const OwnLabels& labels) { return labels.width; })
      .def_prop_ro("whole", [](const OwnLabels& labels) { return labels.values.index() == 0; });
  module.def(
      "own_labels",
      [](const OpenDataset& dataset, const nb::typed<nb::list, nb::object>& given) {
        return checked([&] {
          OwnLabels read;
          about("labels", [&] { read = read_labels(given, dataset.data->size()); });
          return std::make_shared<OwnLabels>(std::move(read));
        });
      },
      nb::arg("dataset"), nb::arg("labels"));
  module.def(
      "kept_labels",
      [](const OpenDataset& dataset) { return std::make_shared<OwnLabels>(kept_lists(dataset)); },
      nb::arg("dataset"), "The lists that samples have.");
  module.def(
      "label_lists",
      [](const OpenDataset& dataset) {
        std::vector<std::vector<float>> all;
        const OthersRun others_run;
        Scratch scratch;
        for (std::uint64_t index = 0; index < dataset.data->size(); ++index) {
          all.push_back(list_of(dataset, index, scratch));
        }
        return all;
      },
      nb::arg("dataset"), "All labels of every sample.");
  module.def(
      "classes_of",
      [](const OpenDataset& dataset) {
        std::vector<std::int32_t> all;
        const OthersRun others_run;
        Scratch scratch;
        for (std::uint64_t index = 0; index < dataset.data->size(); ++index) {
          all.push_back(dataset.data->label(index, scratch));
        }
        return all;
      },
      nb::arg("dataset"), "The label of every sample.");
}

}  // namespace feedrate::tools
