#include "converters/cifar/cifar_batch.h"

#include <algorithm>

#include "converters/archive.h"
#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using Kind = PickleValue::Kind;

bool is_pickle(CifarPackaging named, Bytes file) {
  // No label is as large as a pickle's first byte, so the content decides. A file that should be a
  // pickle and is not goes to the pickle reader all the same, for its error message.
  return named == CifarPackaging::python || Pickle::starts(file);
}

void expect_content(Bytes file, const std::string& place) {
  if (file.empty()) fail(place, "is empty");
  if (looks_like_html(file)) {
    fail(place, "looks like an HTML page; was the download redirected?");
  }
}

Pickle parse(Bytes file, const std::string& place) {
  try {
    return Pickle(file);
  } catch (const Error& error) {
    fail(place, error.what());
  }
}

std::string_view use_other(const CifarLayout& layout) { return other_cifar(layout).source; }

}  // namespace

CifarBatch::CifarBatch(const CifarLayout& layout, CifarPackaging named, Buffer file,
                       std::string place)
    : place_(std::move(place)), file_(std::move(file)) {
  expect_content(file_, place_);
  if (is_pickle(named, file_)) {
    read_pickle(layout);
  } else {
    read_binary(layout);
  }
}

void CifarBatch::read_binary(const CifarLayout& layout) {
  const std::size_t record = layout.record_bytes();
  if (file_.size() % record != 0) {
    const CifarLayout& other = other_cifar(layout);
    fail(place_, "holds ", file_.size(), " bytes: ", file_.size() / record, " whole records of ",
         record, " bytes (", layout.label_bytes() == 2 ? "two labels" : "a label",
         ", 3072 pixels) and ", file_.size() % record, " bytes more; ",
         file_.size() % other.record_bytes() == 0
             ? join("it may be ", other.title, ": then use the source ", other.source)
             : "is it truncated?");
  }
  first_ = file_.data() + layout.label_bytes();
  stride_ = record;
  const std::uint64_t count = file_.size() / record;
  // Reads the label that stands `before` bytes in front of each image; the coarse one comes first.
  const auto take = [&](std::size_t before, std::string_view what, std::uint32_t classes) {
    std::vector<std::uint8_t> labels(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* at = first_ + i * record - before;
      labels[i] = std::to_integer<std::uint8_t>(*at);
      if (labels[i] >= classes) {
        fail(place_, "image ", i, " (byte ", at - file_.data(), ") has the ", what,
             static_cast<unsigned>(labels[i]), "; expected 0 to ", classes - 1, ", as ",
             layout.title, " has them");
      }
    }
    return labels;
  };
  std::vector<std::uint8_t> coarse;
  if (layout.coarse_classes != 0) coarse = take(2, "coarse label ", layout.coarse_classes);
  set_labels(take(1, "label ", layout.classes), coarse);
}

void CifarBatch::read_pickle(const CifarLayout& layout) {
  pickle_ = parse(file_, place_);
  const PickleValue& batch = pickle_->value();
  if (batch.kind != Kind::dict) fail(place_, "expected a dict, found ", kind_name(batch.kind));
  if (batch.find(layout.label_key) == nullptr &&
      batch.find(other_cifar(layout).label_key) != nullptr) {
    fail(place_, "holds ", other_cifar(layout).label_key, " as ", other_cifar(layout).title,
         " does, not ", layout.label_key, "; use the source ", use_other(layout));
  }
  const PickleValue* data = batch.find("data");
  if (data == nullptr) fail(place_, "the dict has no data");
  if (data->kind != Kind::array) {
    fail(place_, "data: expected an array, found ", kind_name(data->kind));
  }
  const PickleArray& array = *data->array;
  if (array.shape.size() != 2 || array.shape[1] != cifar_image_bytes || array.shape[0] == 0 ||
      array.kind != 'u' || array.item_bytes != 1) {
    std::string shape;
    for (const std::uint64_t side : array.shape) shape += join(shape.empty() ? "" : "x", side);
    fail(place_, "data: expected an array of count x 3072 unsigned bytes, found ", shape,
         " of type ", array.kind, static_cast<unsigned>(array.item_bytes));
  }
  first_ = array.data.data();
  stride_ = cifar_image_bytes;
  std::vector<std::uint8_t> coarse;
  if (layout.coarse_classes != 0) {
    coarse = read_labels(layout, layout.coarse_key, layout.coarse_classes);
  }
  set_labels(read_labels(layout, layout.label_key, layout.classes), coarse);
}

// A list of integers, as published, or an array of integers, as in some copies.
std::vector<std::uint8_t> CifarBatch::read_labels(const CifarLayout& layout, std::string_view key,
                                                  std::uint32_t classes) const {
  const PickleValue* value = pickle_->value().find(key);
  if (value == nullptr) fail(place_, "the dict has no ", key);
  const bool list = value->kind == Kind::list || value->kind == Kind::tuple;
  if (!list && value->kind != Kind::array) {
    fail(place_, key, ": expected a list of integers, found ", kind_name(value->kind));
  }
  const std::uint64_t expected = pickle_->value().find("data")->array->shape[0];
  const std::uint64_t count = list ? value->items.size() : value->array->count();
  if (count != expected) {
    fail(place_, key, ": expected ", expected, " labels, one for each image, found ", count);
  }
  std::vector<std::uint8_t> labels(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (list && value->items[i]->kind != Kind::integer) {
      fail(place_, key, ": image ", i, ": expected an integer, found ",
           kind_name(value->items[i]->kind));
    }
    const std::int64_t label = list ? value->items[i]->number : value->array->integer(i);
    if (label < 0 || label >= classes) {
      fail(place_, key, ": image ", i, " has the label ", label, "; expected 0 to ", classes - 1,
           ", as ", layout.title, " has them");
    }
    labels[i] = static_cast<std::uint8_t>(label);
  }
  return labels;
}

void CifarBatch::set_labels(std::vector<std::uint8_t> fine,
                            const std::vector<std::uint8_t>& coarse) {
  labels_ = std::move(fine);
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    pairs_.push_back({static_cast<float>(labels_[i]), static_cast<float>(coarse[i])});
  }
}

std::vector<std::string> read_cifar_names(const CifarLayout& layout, CifarPackaging named,
                                          Bytes file, const std::string& place) {
  expect_content(file, place);
  std::vector<std::string> names;
  if (is_pickle(named, file)) {
    const Pickle pickle = parse(file, place);
    const PickleValue* list = pickle.value().find(layout.names_key);
    if (list == nullptr || list->kind != Kind::list) {
      fail(place, "expected a dict with a list of ", layout.names_key);
    }
    for (const PickleValue* name : list->items) names.emplace_back(as_text(name->data));
  } else {
    for (std::string_view text = as_text(file); !text.empty();) {
      const std::string_view name = take_line(text);
      if (!name.empty()) names.emplace_back(name);
    }
  }
  if (names.size() != layout.classes) {
    fail(place, "expected the names of ", layout.classes, " classes, found ", names.size());
  }
  return names;
}

}  // namespace feedrate::converters
