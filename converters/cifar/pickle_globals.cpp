#include "converters/cifar/pickle_globals.h"

#include <algorithm>
#include <span>
#include <string>

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;
namespace {

using Kind = PickleValue::Kind;
using Items = std::span<const PickleValue* const>;

struct GlobalName {
  std::string_view module;
  std::string_view name;
  PickleGlobal global;
};

// numpy 2 renamed its inner modules; pickles of both ages are about.
constexpr GlobalName global_names[] = {
    {"numpy.core.multiarray", "_reconstruct", PickleGlobal::reconstruct},
    {"numpy._core.multiarray", "_reconstruct", PickleGlobal::reconstruct},
    {"numpy.core.numeric", "_frombuffer", PickleGlobal::frombuffer},
    {"numpy._core.numeric", "_frombuffer", PickleGlobal::frombuffer},
    {"numpy", "ndarray", PickleGlobal::ndarray},
    {"numpy", "dtype", PickleGlobal::dtype},
    {"_codecs", "encode", PickleGlobal::encode},
};

constexpr std::size_t max_dimensions = 32;

bool is_string(const PickleValue& value) {
  return value.kind == Kind::bytes || value.kind == Kind::text;
}

bool is_global(const PickleValue& value, PickleGlobal global) {
  return value.kind == Kind::global && value.number == static_cast<std::int64_t>(global);
}

std::vector<std::uint64_t> read_shape(const PickleValue& value) {
  if (value.kind != Kind::tuple) {
    throw Error(join("expected an array's shape, a tuple, found ", kind_name(value.kind)));
  }
  if (value.items.size() > max_dimensions) {
    throw Error(join("an array of ", value.items.size(), " dimensions"));
  }
  std::vector<std::uint64_t> shape;
  for (const PickleValue* side : value.items) {
    if (side->kind != Kind::integer || side->number < 0) {
      throw Error("an array's shape holds something other than counts");
    }
    shape.push_back(static_cast<std::uint64_t>(side->number));
  }
  return shape;
}

// Shape and item size must account for every byte before anyone trusts them.
void fill_array(PickleArray& array, const PickleValue& shape, const PickleValue& dtype,
                Bytes data) {
  if (dtype.kind != Kind::dtype) {
    throw Error(join("expected an array's dtype, found ", kind_name(dtype.kind)));
  }
  array = PickleArray(*dtype.array);
  array.shape = read_shape(shape);
  array.data = data;
  std::optional<std::uint64_t> bytes = array.item_bytes;
  for (const std::uint64_t side : array.shape) {
    if (bytes) bytes = checked_multiply(*bytes, side);
  }
  if (bytes == data.size()) return;
  std::string sides;
  for (const std::uint64_t side : array.shape) sides += join(sides.empty() ? "" : "x", side);
  throw Error(join("an array of ", sides, " items of ", array.item_bytes, " bytes needs ",
                   bytes ? std::to_string(*bytes) : "more", " bytes, found ", data.size()));
}

void call_reconstruct(Items arguments, PickleValue& result) {
  if (arguments.size() != 3 || !is_global(*arguments[0], PickleGlobal::ndarray)) {
    throw Error("numpy's _reconstruct is called for something other than an ndarray");
  }
  result.kind = Kind::array;
  result.array = std::make_unique<PickleArray>();
  result.array->shape = {0};  // as numpy states; BUILD brings shape, type and bytes
}

void call_frombuffer(Items arguments, PickleValue& result) {
  if (arguments.size() != 4 || arguments[0]->kind != Kind::bytes || !is_string(*arguments[3])) {
    throw Error(
        "numpy's _frombuffer is called with other arguments than bytes, dtype, shape, order");
  }
  if (as_text(arguments[3]->data) != "C") throw Error("an array in another order than C's");
  result.kind = Kind::array;
  result.array = std::make_unique<PickleArray>();
  fill_array(*result.array, *arguments[2], *arguments[1], arguments[0]->data);
}

// dtype('u1', …): a letter and a size. The two flags behind it (align, copy) say nothing here.
void call_dtype(Items arguments, PickleValue& result) {
  if (arguments.empty() || arguments.size() > 3 || !is_string(*arguments[0])) {
    throw Error("a dtype that is not named by a string");
  }
  const std::string_view name = as_text(arguments[0]->data);
  constexpr std::string_view known[] = {"u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"};
  if (std::ranges::find(known, name) == std::end(known)) {
    throw Error(join("an array of items other than integers: dtype ", name.substr(0, 40)));
  }
  result.kind = Kind::dtype;
  result.array = std::make_unique<PickleArray>();
  result.array->kind = name[0];
  result.array->item_bytes = static_cast<std::uint8_t>(name[1] - '0');
}

// encode(text, 'latin1'): characters up to U+00FF are the bytes.
void call_encode(Items arguments, PickleValue& result, Buffer& owned) {
  if (arguments.size() != 2 || arguments[0]->kind != Kind::text || !is_string(*arguments[1])) {
    throw Error("_codecs.encode is called with other arguments than a text and an encoding");
  }
  const std::string_view encoding = as_text(arguments[1]->data);
  if (encoding != "latin1" && encoding != "latin-1") {
    throw Error("_codecs.encode is called for another encoding than latin1");
  }
  const Bytes text = arguments[0]->data;
  owned.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(text[i]);
    if (byte < 0x80) {
      owned.push_back(text[i]);
      continue;
    }
    const unsigned next = i + 1 < text.size() ? std::to_integer<unsigned>(text[i + 1]) : 0;
    if ((byte != 0xc2 && byte != 0xc3) || (next & 0xc0) != 0x80) {
      throw Error(join("a text for latin1 holds another character at its byte ", i));
    }
    owned.push_back(static_cast<std::byte>((byte & 3) << 6 | (next & 0x3f)));
    ++i;
  }
  result.kind = Kind::bytes;
  result.data = owned;
}

// (1, shape, dtype, is it in Fortran order, bytes)
void build_array(PickleArray& array, const PickleValue& state) {
  const Items items = state.items;
  if (state.kind != Kind::tuple || items.size() != 5 || items[0]->kind != Kind::integer ||
      items[0]->number != 1 || items[3]->kind != Kind::boolean || items[4]->kind != Kind::bytes) {
    throw Error("an array's state is not (1, shape, dtype, order, bytes)");
  }
  if (items[3]->number != 0) throw Error("an array in another order than C's");
  fill_array(array, *items[1], *items[2], items[4]->data);
}

// (3, byte order, None, None, None, -1, -1, 0): the None say that it has no fields and no parts.
void check_dtype(const PickleValue& state) {
  const Items items = state.items;
  if (state.kind != Kind::tuple || items.size() != 8 || items[0]->kind != Kind::integer ||
      items[0]->number != 3 || !is_string(*items[1])) {
    throw Error("a dtype's state is not the one that numpy writes for numbers");
  }
  for (const std::size_t part : {2, 3, 4}) {
    if (items[part]->kind != Kind::none) throw Error("an array of records or of arrays");
  }
  const std::string_view order = as_text(items[1]->data);
  if (order != "|" && order != "<" && order != "=") {
    throw Error("a dtype of another byte order than little-endian");
  }
}

}  // namespace

std::optional<PickleGlobal> find_pickle_global(std::string_view module, std::string_view name) {
  for (const GlobalName& row : global_names) {
    if (row.module == module && row.name == name) return row.global;
  }
  return std::nullopt;
}

void call_pickle_global(PickleGlobal function, const PickleValue& arguments, PickleValue& result,
                        Buffer& owned) {
  switch (function) {
    case PickleGlobal::reconstruct:
      return call_reconstruct(arguments.items, result);
    case PickleGlobal::frombuffer:
      return call_frombuffer(arguments.items, result);
    case PickleGlobal::dtype:
      return call_dtype(arguments.items, result);
    case PickleGlobal::encode:
      return call_encode(arguments.items, result, owned);
    case PickleGlobal::ndarray:
      throw Error("numpy's ndarray is called by itself; numpy does not pickle so");
  }
}

void build_pickle_value(PickleValue& target, const PickleValue& state) {
  if (target.kind == Kind::array) return build_array(*target.array, state);
  if (target.kind == Kind::dtype) return check_dtype(state);
  throw Error(join("BUILD for ", kind_name(target.kind), ", which numpy does not ask for"));
}

}  // namespace feedrate::converters
