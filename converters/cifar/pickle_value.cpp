#include "converters/cifar/pickle_value.h"

#include <cassert>

namespace feedrate::converters {
using namespace formats;

std::int64_t PickleArray::integer(std::uint64_t index) const {
  assert(index < count());
  const std::byte* at = data.data() + index * item_bytes;
  const bool is_signed = kind == 'i';
  switch (item_bytes) {
    case 1:
      return is_signed ? load_le<std::int8_t>(at) : load_le<std::uint8_t>(at);
    case 2:
      return is_signed ? load_le<std::int16_t>(at) : load_le<std::uint16_t>(at);
    case 4:
      return is_signed ? load_le<std::int32_t>(at) : load_le<std::uint32_t>(at);
    default:
      return load_le<std::int64_t>(at);
  }
}

const PickleValue* PickleValue::find(std::string_view key) const {
  if (kind != Kind::dict) return nullptr;
  // The last value of a key counts, as in Python.
  for (std::size_t i = items.size(); i >= 2; i -= 2) {
    const PickleValue& name = *items[i - 2];
    const bool string = name.kind == Kind::bytes || name.kind == Kind::text;
    if (string && as_text(name.data) == key) return items[i - 1];
  }
  return nullptr;
}

std::string_view kind_name(PickleValue::Kind kind) {
  using Kind = PickleValue::Kind;
  switch (kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "a bool";
    case Kind::integer:
      return "an integer";
    case Kind::bytes:
      return "bytes";
    case Kind::text:
      return "a text";
    case Kind::list:
      return "a list";
    case Kind::tuple:
      return "a tuple";
    case Kind::dict:
      return "a dict";
    case Kind::array:
      return "an array";
    case Kind::dtype:
      return "a dtype";
    case Kind::global:
      return "the name of a function or class";
  }
  return "something else";
}

}  // namespace feedrate::converters
