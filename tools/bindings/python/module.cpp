// The module feedrate._native: the part of the Python package that is C++. Its users are the
// package's own files, which document what it does.

#include "tools/bindings/python/native.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "loader/bad.h"
#include "loader/settings.h"
#include "tools/bindings/python/values.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

void raise_data_error(const char* message, nb::handle file, nb::handle sample, nb::handle byte) {
  const nb::object type = nb::module_::import_("feedrate._errors").attr("DataError");
  PyErr_SetObject(type.ptr(), type(text(message), file, sample, byte).ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Refusal& refusal) {
    PyErr_SetObject(refusal.type(), text(refusal.what()).ptr());
  } catch (const loader::SampleError& error) {
    const loader::BadSample& bad = error.sample();
    raise_data_error(error.what(), text(shown_path(bad.place.file)), nb::int_(bad.index),
                     nb::int_(bad.place.offset));
  } catch (const Error& error) {
    raise_data_error(error.what(), nb::none(), nb::none(), nb::none());
  }
}

nb::dict recipe_summaries() {
  nb::dict all;
  for (const loader::Recipe* recipe : loader::recipes()) {
    all[text(recipe->name())] = text(recipe->summary());
  }
  return all;
}

const loader::Recipe& recipe(const nb::object& text) {
  return checked([&]() -> const loader::Recipe& {
    std::string name;
    read_python(loader::recipe_row, text, name);
    return loader::recipe(name);
  });
}

// Whoever gives memory back, on any thread, takes the GIL by PyGILState_Ensure(), which takes that
// of the main interpreter: in another one it would wait for itself.
void expect_main_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return;
  throw nb::import_error(
      "feedrate cannot be used in a sub-interpreter; use it in the main one, or start a process");
}

}  // namespace

nb::str text(std::string_view bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

nb::object array(void* first, std::initializer_list<std::size_t> dims, nb::dlpack::dtype type,
                 nb::handle owner) {
  return nb::cast(nb::ndarray<nb::array_api>(first, dims.size(), dims.begin(), owner, nullptr, type,
                                             nb::device::cpu::value));
}

nb::object copied(const nb::bytes& values, const std::vector<std::size_t>& dims,
                  const std::string& type) {
  using Code = nb::dlpack::dtype_code;
  const auto of = [](Code code, unsigned bits) {
    return nb::dlpack::dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  };
  const std::map<std::string_view, nb::dlpack::dtype> types = {{"uint8", of(Code::UInt, 8)},
                                                               {"int64", of(Code::Int, 64)},
                                                               {"float16", of(Code::Float, 16)},
                                                               {"float32", of(Code::Float, 32)}};
  const nb::dlpack::dtype found = types.at(type);
  std::size_t bytes = found.bits / 8;
  for (const std::size_t dim : dims) bytes *= dim;
  if (bytes != values.size()) throw nb::value_error("an array's bytes do not fill its shape");
  const auto* first = reinterpret_cast<const std::byte*>(values.c_str());
  auto* held = new Buffer(first, first + bytes);
  const nb::capsule owner(held, [](void* owned) noexcept { delete static_cast<Buffer*>(owned); });
  return nb::cast(nb::ndarray<nb::array_api>(held->data(), dims.size(), dims.data(), owner, nullptr,
                                             found, nb::device::cpu::value));
}

nb::object part(const nb::ndarray<>& of, std::size_t first, std::optional<std::size_t> count) {
  std::vector<std::size_t> dims;
  std::size_t row = of.itemsize();
  for (std::size_t axis = 1; axis < of.ndim(); ++axis) {
    dims.push_back(of.shape(axis));
    row *= of.shape(axis);
  }
  if (count) dims.insert(dims.begin(), *count);
  // Owned by a copy of what is one already, which keeps the memory.
  auto* keeper = new nb::ndarray<>(of);
  const nb::capsule owner(keeper,
                          [](void* held) noexcept { delete static_cast<nb::ndarray<>*>(held); });
  void* const start = static_cast<std::byte*>(of.data()) + first * row;
  return nb::cast(nb::ndarray<nb::array_api>(start, dims.size(), dims.data(), owner, nullptr,
                                             of.dtype(), nb::device::cpu::value));
}

}  // namespace feedrate::tools

NB_MODULE(_native, module) {
  using namespace feedrate::tools;
  expect_main_interpreter();
  module.attr("version") = FEEDRATE_VERSION;
  module.def("expect_main_interpreter", expect_main_interpreter,
             "For interpreters that find this module made by an earlier one.");
  add_errors(module);
  add_dataset(module);
  add_picks(module);
  add_settings(module);
  add_labels(module);
  add_memory(module);
  add_progress(module);
  add_device_decoder(module);
  add_run(module);
  add_stand_ins(module);
  add_files(module);
  add_exit(module);
  module.def("part", part, nb::arg("of"), nb::arg("first"), nb::arg("count").none(),
             nb::sig("def part(of: object, first: int, count: int | None) -> object"));
  module.def("copied", copied, nb::arg("values"), nb::arg("dims"), nb::arg("type"),
             nb::sig("def copied(values: bytes, dims: tuple[int, ...], type: str) -> object"));
  module.def("recipes", recipe_summaries, nb::sig("def recipes() -> dict[str, str]"),
             "Name and summary of every recipe.");
  module.def(
      "recipe_name", [](const nb::object& text) { return std::string(recipe(text).name()); },
      nb::arg("text").none(), "The one name of a recipe as written.");
}
