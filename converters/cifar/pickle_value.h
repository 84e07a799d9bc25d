#pragma once
// The values that a pickle can hold here. They are made and owned by Pickle (pickle.h).

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::converters {

/// A numpy array of integers in C order, little-endian: a view of its items as they were stored.
struct PickleArray {
  char kind = 'i';              // i: signed; u: unsigned
  std::uint8_t item_bytes = 1;  // 1, 2, 4 or 8
  std::vector<std::uint64_t> shape;
  formats::Bytes data;  // as long as shape and item_bytes say: checked

  /// Number of items.
  std::uint64_t count() const { return data.size() / item_bytes; }
  /// Item `index` (below count(), in the order stored). The upper half of 8-byte unsigned numbers
  /// comes out negative.
  std::int64_t integer(std::uint64_t index) const;
};

/// One value. Values are shared, not copied: the same one may be reached in very many ways, and one
/// may even hold itself. Walk to what you look for rather than over everything.
struct PickleValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    bytes,  // also Python 2's str
    text,
    list,
    tuple,
    dict,
    array,
    dtype,  // of arrays, by itself
    global  // a name that arrays need, by itself
  };

  Kind kind = Kind::none;
  std::int64_t number = 0;                // boolean, integer
  formats::Bytes data = {};               // bytes; text, in UTF-8 (not checked)
  std::vector<const PickleValue*> items;  // list, tuple; of a dict key, value, key, value …
  std::unique_ptr<PickleArray> array;     // array, dtype

  /// What a dict holds under this key, bytes or text; null when it does not or is no dict.
  const PickleValue* find(std::string_view key) const;
};

/// "a list", "bytes" …: what an error calls a value.
std::string_view kind_name(PickleValue::Kind kind);

}  // namespace feedrate::converters
