#include "formats/containers/tfrecord/tf_example.h"

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view what = "no tf.Example, or a damaged one";

// Example and SequenceExample.
constexpr std::uint32_t features_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t feature_lists_key = wire_key(2, Wire::delimited);
// Features, and an entry of its map.
constexpr std::uint32_t entry_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t name_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t value_key = wire_key(2, Wire::delimited);
// BytesList, FloatList, Int64List: one value, or a pack of numbers.
constexpr std::uint32_t list_key = wire_key(1, Wire::delimited);

constexpr std::uint64_t max_bytes = (std::uint64_t{1} << 31) - 1;  // of a protobuf message

std::uint32_t kind_key(Feature::Kind kind) {
  return wire_key(static_cast<std::uint32_t>(kind), Wire::delimited);
}

Feature parse_feature(WireReader reader) {
  Feature feature;
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    if (key < kind_key(Feature::Kind::bytes) || key > kind_key(Feature::Kind::ints) ||
        (key & 7) != static_cast<std::uint32_t>(Wire::delimited)) {
      reader.skip(key);
      continue;
    }
    const auto kind = static_cast<Feature::Kind>(key >> 3);
    // Protobuf would concatenate the two lists, but no writer makes them.
    if (feature.kind == kind) reader.damaged("goes on after a feature that states its list twice");
    feature.kind = kind;
    feature.list = reader.read_message();
  }
  return feature;
}

std::uint64_t delimited_size(std::uint64_t size) { return 1 + varint_size(size) + size; }

}  // namespace

std::string_view kind_name(Feature::Kind kind) {
  constexpr std::string_view kinds[] = {"nothing", "bytes", "floats", "whole numbers"};
  return kinds[static_cast<std::size_t>(kind)];
}

ExampleReader::ExampleReader(Bytes example) : example_(example, what), features_({}, what) {}

bool ExampleReader::next_entry(WireReader& entry) {
  for (;;) {
    while (!features_.done()) {
      const std::uint32_t key = features_.read_key();
      if (key == entry_key) {
        entry = features_.read_message();
        return true;
      }
      features_.skip(key);
    }
    if (example_.done()) return false;
    const std::uint32_t key = example_.read_key();
    if (key == features_key) {
      features_ = example_.read_message();
    } else if (key == feature_lists_key) {
      throw Error("the record is a SequenceExample; Feedrate reads images from Examples");
    } else {
      example_.skip(key);
    }
  }
}

bool ExampleReader::next(std::string_view& key, Feature& feature) {
  WireReader entry({}, what);
  if (!next_entry(entry)) return false;
  key = {};
  feature = {};
  while (!entry.done()) {
    const std::uint32_t field = entry.read_key();
    if (field == name_key) {
      key = as_text(entry.read_delimited());
    } else if (field == value_key) {
      feature = parse_feature(entry.read_message());
    } else {
      entry.skip(field);
    }
  }
  return true;
}

bool ValueReader::advance(Wire single) {
  while (packed_.done()) {
    if (list_.done()) return false;
    const std::uint32_t key = list_.read_key();
    if (key == wire_key(1, single)) return true;
    if (key == list_key) {
      packed_ = list_.read_message();
    } else {
      list_.skip(key);
    }
  }
  return true;
}

std::optional<Bytes> ValueReader::next_bytes() {
  while (!list_.done()) {
    const std::uint32_t key = list_.read_key();
    if (key == list_key) return list_.read_delimited();
    list_.skip(key);
  }
  return std::nullopt;
}

std::optional<float> ValueReader::next_float() {
  if (!advance(Wire::fixed32)) return std::nullopt;
  return (packed_.done() ? list_ : packed_).read_fixed<float>();
}

std::optional<std::int64_t> ValueReader::next_int() {
  if (!advance(Wire::varint)) return std::nullopt;
  return static_cast<std::int64_t>((packed_.done() ? list_ : packed_).read_varint());
}

// Appends all that precedes the content of a list of `list_size` bytes.
void ExampleWriter::begin(std::string_view key, Feature::Kind kind, std::uint64_t list_size) {
  const std::uint64_t feature = delimited_size(list_size);
  append_varint(features_, entry_key);
  append_varint(features_, delimited_size(key.size()) + delimited_size(feature));
  append_delimited_field(features_, name_key, as_bytes(key));
  append_varint(features_, value_key);
  append_varint(features_, feature);
  append_varint(features_, kind_key(kind));
  append_varint(features_, list_size);
}

void ExampleWriter::add_bytes(std::string_view key, Bytes value) {
  begin(key, Feature::Kind::bytes, delimited_size(value.size()));
  append_delimited_field(features_, list_key, value);
}

void ExampleWriter::add_ints(std::string_view key, std::span<const std::int64_t> values) {
  std::uint64_t size = 0;
  for (const std::int64_t value : values) size += varint_size(static_cast<std::uint64_t>(value));
  begin(key, Feature::Kind::ints, values.empty() ? 0 : delimited_size(size));
  if (values.empty()) return;
  append_varint(features_, list_key);
  append_varint(features_, size);
  for (const std::int64_t value : values) {
    append_varint(features_, static_cast<std::uint64_t>(value));
  }
}

void ExampleWriter::add_floats(std::string_view key, std::span<const float> values) {
  begin(key, Feature::Kind::floats, values.empty() ? 0 : delimited_size(values.size_bytes()));
  if (!values.empty()) append_delimited_field(features_, list_key, std::as_bytes(values));
}

std::array<Bytes, 3> ExampleWriter::finish(std::string_view key, Bytes value) {
  begin(key, Feature::Kind::bytes, delimited_size(value.size()));
  append_varint(features_, list_key);
  append_varint(features_, value.size());
  const std::uint64_t size = features_.size() + value.size();
  if (delimited_size(size) > max_bytes) {
    throw Error(join("a tf.Example of ", size, " bytes; protobuf's limit is 2^31 - 1"));
  }
  start_.clear();
  append_varint(start_, features_key);
  append_varint(start_, size);
  return {start_, features_, value};
}

}  // namespace feedrate::formats
