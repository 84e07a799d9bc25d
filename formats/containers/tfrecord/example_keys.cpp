#include "formats/containers/tfrecord/example_keys.h"

#include <algorithm>
#include <map>
#include <vector>

#include "formats/base/error.h"
#include "formats/codec.h"
#include "formats/containers/column_choice.h"
#include "formats/containers/tfrecord/tf_example.h"

namespace feedrate::formats {
namespace {

using KeyedFeatures = std::map<std::string, Feature, std::less<>>;

// Numbers and texts that are no labels, whatever else there is.
bool is_other(std::string_view key) {
  constexpr std::string_view others[] = {"height",     "width",     "depth",    "channels",
                                         "colorspace", "format",    "filename", "file_name",
                                         "source_id",  "sha256",    "area",     "is_crowd",
                                         "difficult",  "truncated", "id",       "index"};
  if (key.find("/bbox/") != std::string_view::npos) return true;
  return std::ranges::find(others, key.substr(key.rfind('/') + 1)) != std::end(others);
}

Bytes first_bytes(const Feature& feature) {
  return ValueReader(feature).next_bytes().value_or(Bytes());
}

Fit as_image(std::string_view, const Feature& feature) {
  if (feature.kind != Feature::Kind::bytes) return Fit::no;
  const Bytes value = first_bytes(feature);
  return codec_of(value) != nullptr || !looks_like(value).empty() ? Fit::yes : Fit::by_name;
}

Fit as_label(std::string_view key, const Feature& feature) {
  if (feature.kind == Feature::Kind::none) return Fit::no;
  if (as_image(key, feature) == Fit::yes) return Fit::no;
  const bool number = feature.kind == Feature::Kind::ints && !is_other(key);
  return number ? Fit::yes : Fit::by_name;
}

std::vector<TableColumn> table_of(const KeyedFeatures& features,
                                  Fit (*fit)(std::string_view, const Feature&)) {
  std::vector<TableColumn> columns;
  for (const auto& [key, feature] : features) {
    columns.push_back({key, join(key, " (", kind_name(feature.kind), ")"), fit(key, feature)});
  }
  return columns;
}

KeyedFeatures features_of(Bytes example) {
  KeyedFeatures features;
  ExampleReader reader(example);
  std::string_view key;
  Feature feature;
  while (reader.next(key, feature)) features.insert_or_assign(std::string(key), feature);
  return features;
}

}  // namespace

ExampleKeys choose_example_keys(Bytes example, const Wishes& wishes) {
  const KeyedFeatures features = features_of(example);
  if (features.empty()) throw Error("no tf.Example with an image: it holds no features");
  const auto chosen = [&](const std::vector<TableColumn>& columns, const ColumnRole& role,
                          const std::string& wish) {
    return columns[choose_column(columns, role, wish)].name;
  };
  ExampleKeys keys;
  keys.shape = wishes.shape;
  keys.image = chosen(table_of(features, as_image),
                      {.name = "image",
                       .what = "images (bytes)",
                       .usual = {"image/encoded", "image", "image_raw", "img_raw", "image/jpeg",
                                 "img", "jpeg", "png"},
                       .thing = "key"},
                      wishes.image);
  keys.label =
      chosen(table_of(features, as_label),
             {.name = "label",
              .what = "labels (numbers or text)",
              .usual = {"image/class/label", "label", "class", "target", "labels",
                        "image/object/class/label", "image/class/text", "image/object/class/text"},
              .thing = "key"},
             wishes.label);
  return keys;
}

}  // namespace feedrate::formats
