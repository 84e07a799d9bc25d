#pragma once
// TensorFlow's tf.Example, a protobuf map from keys to lists of bytes, floats or int64s: read in
// place, and written without copying the image. Values; one thread each.
//
//   Example 0A { 0A { 0A key 12 Feature } … }     Feature  0A { 0A bytes … } | 12 { 0A floats }
//                                                          | 1A { 0A varints } | nothing

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/containers/wire.h"

namespace feedrate::formats {

/// The values of one key, still undecoded.
struct Feature {
  enum class Kind : std::uint8_t { none, bytes, floats, ints };
  Kind kind = Kind::none;  // none: no list is set, which is legal
  WireReader list{{}, {}};
};

/// "nothing", "bytes", "floats", "whole numbers".
std::string_view kind_name(Feature::Kind kind);

/// Reads the features of an Example in order. A key may come twice; the last one counts. Throws
/// Error naming the byte on damage and for bytes that are not an Example.
class ExampleReader {
 public:
  explicit ExampleReader(Bytes example);
  /// False at the end.
  bool next(std::string_view& key, Feature& feature);

 private:
  bool next_entry(WireReader& entry);

  WireReader example_;
  WireReader features_;
};

/// Reads the values of a feature, packed or not. The caller asks for values of the feature's
/// `kind`.
class ValueReader {
 public:
  explicit ValueReader(const Feature& feature) : list_(feature.list), packed_({}, {}) {}

  std::optional<Bytes> next_bytes();
  std::optional<float> next_float();
  std::optional<std::int64_t> next_int();

 private:
  // True when packed_ holds another value or list_ stands before a single one of type `single`.
  bool advance(Wire single);

  WireReader list_;
  WireReader packed_;
};

/// Builds an Example whose last value is large and is not copied.
class ExampleWriter {
 public:
  void clear() { features_.clear(); }
  void add_bytes(std::string_view key, Bytes value);
  void add_int(std::string_view key, std::int64_t value) { add_ints(key, {&value, 1}); }
  void add_ints(std::string_view key, std::span<const std::int64_t> values);
  void add_floats(std::string_view key, std::span<const float> values);

  /// Ends the Example with `value` under `key`. The returned parts, concatenated, are the message;
  /// the last one is `value`, the others stay valid until the next call of any member. Throws Error
  /// when the message would be too large for protobuf.
  std::array<Bytes, 3> finish(std::string_view key, Bytes value);

 private:
  void begin(std::string_view key, Feature::Kind kind, std::uint64_t list_size);

  Buffer start_;
  Buffer features_;
};

}  // namespace feedrate::formats
