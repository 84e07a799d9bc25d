#include "tools/bindings/python/values.hpp"

#include <algorithm>

#include "formats/base/kind.h"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

std::string python_refusal(const Setting& row, nb::handle found) {
  return refusal(row, shown(found), Spelling::python);
}

[[noreturn]] void refuse(const Setting& row, nb::handle found) {
  throw Error(python_refusal(row, found));
}

[[noreturn]] void refuse_type(const Setting& row, nb::handle found) {
  throw WrongType(python_refusal(row, found));
}

// Nothing where the value is no number and stands for none.
std::optional<double> number(nb::handle given) {
  const double value = PyFloat_AsDouble(given.ptr());
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return std::nullopt;
}

// What can be iterated over, but holds no numbers in an order.
bool is_no_list(nb::handle given) {
  PyObject* const of = given.ptr();
  return PyUnicode_Check(of) || PyBytes_Check(of) || PyByteArray_Check(of) || PyDict_Check(of) ||
         PyAnySet_Check(of);
}

// NumPy's own bool, which is not Python's.
bool is_numpy_bool(nb::handle given) {
  const auto its = [&](const char* name) { return utf8(given.type().attr(name)); };
  return its("__module__") == "numpy" && (its("__name__") == "bool" || its("__name__") == "bool_");
}

// Takes each item of an iterable, unless is_no_list().
template <class Value>
void take_items(const Setting& row, nb::handle given, std::string_view items,
                std::vector<Value>& values) {
  const auto next = nb::steal<nb::object>(PyObject_GetIter(given.ptr()));
  PyErr_Clear();
  if (!next.is_valid() || is_no_list(given)) {
    throw WrongType(join("expected ", items, ", found ", shown(given)));
  }
  while (const auto item = nb::steal<nb::object>(PyIter_Next(next.ptr()))) {
    const auto there = [&](const Error& error) {
      return join("at place ", values.size() - 1, ": ", error.what());
    };
    try {
      take(row, item, values.emplace_back());
    } catch (const WrongType& error) {
      throw WrongType(there(error));
    } catch (const Error& error) {
      throw Error(there(error));
    }
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

// Without NUL, which would end it for the library.
std::string text_of(const Setting& row, nb::handle given) {
  std::optional<std::string> text = utf8(given);
  if (!text) refuse_type(row, given);
  if (text->empty() || text->find('\0') != std::string::npos) refuse(row, given);
  return *std::move(text);
}

// "Literal['u8', 'f32', 'f16']"
std::string literal(const Setting& row) {
  std::string all;
  for (const std::string_view word : row.words) {
    all += (all.empty() ? "" : ", ") + spelled_word(row, word, Spelling::python);
  }
  return join("Literal[", all, "]");
}

std::string type_of_a_value(const Setting& row) {
  switch (row.kind) {
    case SettingKind::flag:
      return "bool";
    case SettingKind::whole:
      return "int";
    case SettingKind::real:
      return "float";
    case SettingKind::word:
      return literal(row);
    case SettingKind::reals:
      return "float | Sequence[float]";
    default:
      return "str";
  }
}

}  // namespace

std::string shown(nb::handle value) {
  const nb::object text = nb::module_::import_("reprlib").attr("repr")(value);
  const auto bytes =
      nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {bytes.c_str(), bytes.size()};
}

std::optional<std::string> utf8(nb::handle value) {
  Py_ssize_t size = 0;
  const char* const text =
      nb::isinstance<nb::str>(value) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  PyErr_Clear();
  if (text == nullptr) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(size));
}

void take(const Setting& row, nb::handle given, bool& value) {
  if (!PyBool_Check(given.ptr()) && !is_numpy_bool(given)) refuse_type(row, given);
  value = PyObject_IsTrue(given.ptr()) == 1;
}

void take(const Setting& row, nb::handle given, std::uint64_t& value) {
  // A truth value counts nothing: a mask is no list of indices.
  if (PyBool_Check(given.ptr())) refuse_type(row, given);
  const auto whole = nb::steal<nb::object>(PyNumber_Index(given.ptr()));
  PyErr_Clear();
  const bool other_word = nb::isinstance<nb::str>(given) && !row.nothing.empty();  // but "auto"
  if (!whole.is_valid() && !other_word) refuse_type(row, given);
  if (other_word) refuse(row, given);
  value = PyLong_AsUnsignedLongLong(whole.ptr());
  const bool fits = PyErr_Occurred() == nullptr;
  PyErr_Clear();
  if (!fits || value < row.min || value > row.max) refuse(row, given);
}

void take(const Setting& row, nb::handle given, double& value) {
  const std::optional<double> read = number(given);
  if (!read) refuse_type(row, given);
  if (!row.range.holds(*read)) refuse(row, given);
  value = *read;
}

void take(const Setting& row, nb::handle given, std::string& value) {
  value = text_of(row, given);
  expect_value(row, value);
}

void take(const Setting& row, nb::handle given, std::vector<double>& value) {
  if (number(given)) {
    take(row, given, value.emplace_back());
  } else {
    take_items(row, given, "a number, or several", value);
  }
}

void take(const Setting& row, nb::handle given, std::vector<std::uint64_t>& value) {
  take_items(typed(row, std::uint64_t{}), given, "whole numbers", value);
}

bool stands_for_nothing(const Setting& row, nb::handle given) {
  if (row.nothing.empty()) return given.is_none();
  return nb::isinstance<nb::str>(given) && text_of(row, given) == row.nothing;
}

std::size_t word_of(const Setting& row, nb::handle given) {
  const std::string text = text_of(row, given);
  const auto found = std::ranges::find(row.words, text);
  if (found != row.words.end()) return static_cast<std::size_t>(found - row.words.begin());
  const std::string_view nearest = nearest_name(text, row.words);
  throw Error(join(python_refusal(row, given),
                   nearest.empty() ? "" : join("; did you mean ", nearest, "?")));
}

nb::dict described(const Setting& row, const nb::object& usual) {
  nb::dict all;
  all["name"] = text(row.name);
  all["shell"] = text(spelled(row, Spelling::shell));
  all["type"] = text(python_type(row));
  all["default"] = usual;
  all["sentence"] = text(row.sentence);
  all["detail"] = text(row.detail);
  if (row.kind == SettingKind::whole) all["min"] = row.min;
  if (row.kind == SettingKind::whole && row.max != Setting::unlimited) all["max"] = row.max;
  return all;
}

std::string python_type(const Setting& row) {
  const std::string type = type_of_a_value(row);
  if (!row.optional) return type;
  const std::string nothing = spelled_nothing(row, Spelling::python);
  return join(type, " | ", row.nothing.empty() ? nothing : join("Literal[", nothing, "]"));
}

void expect_known(const nb::kwargs& given, const std::vector<std::string_view>& names) {
  for (const auto& [key, value] : given) {
    const std::string name = utf8(key).value_or(shown(key));
    if (std::ranges::find(names, name) != names.end()) continue;
    throw nb::type_error(unknown_kind("setting", name, names).c_str());
  }
}

}  // namespace feedrate::tools
