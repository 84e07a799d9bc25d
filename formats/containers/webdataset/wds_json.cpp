#include "formats/containers/webdataset/wds_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/base/label_problem.h"
#include "formats/base/text.h"

namespace feedrate::formats {
namespace {

using Json = nlohmann::json;

std::string json_string(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    const std::string shown = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    throw Error(
        join("the name ", shown, " is not UTF-8, so that a .json cannot hold it; rename it"));
  }
}

// JSON has neither infinity nor NaN.
void expect_numbers(std::span<const float> labels) {
  const auto odd = std::ranges::find_if(labels, [](float label) { return !std::isfinite(label); });
  if (odd == labels.end()) return;
  throw Error(
      fmt::format("its label {} is {}, which a .json cannot hold", odd - labels.begin(), *odd));
}

// Receives the parser's events and keeps the few known keys of the outermost object.
class Listener final : public nlohmann::json_sax<Json> {
 public:
  Listener(std::string_view label, Scratch& scratch, SampleJson& facts)
      : label_(label), scratch_(scratch), facts_(facts) {}

  bool start_object(std::size_t) override { return open('{'); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_array() override {
    if (depth_ == 3 && in_boxes_) add_box();
    return close();
  }
  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ == 1 && key_ == "filename") scratch_.name = value;
    if (at_label()) {
      facts_.label_text = value;
      facts_.label = parse_number<std::int64_t>(trimmed(value));
    }
    return no_number();
  }
  bool number_integer(number_integer_t value) override { return whole(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= std::numeric_limits<std::int64_t>::max()) {
      return whole(static_cast<std::int64_t>(value));
    }
    if (at_label()) throw Error(join("the label '", value, "' is not a class number"));
    return number(static_cast<float>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (at_label()) {
      facts_.label = whole_number(value);
      if (!facts_.label) throw Error(join("the label '", text, "' is not a class number"));
    }
    return number(static_cast<float>(value));
  }
  bool boolean(bool) override { return no_number(); }
  bool null() override { return depth_ == 1 || no_number(); }
  bool binary(binary_t&) override { return no_number(); }
  bool parse_error(std::size_t at, const std::string&, const Json::exception&) override {
    throw Error(join("the .json is damaged at its byte ", at));
  }

  // Called after the last byte.
  void finish() const {
    if (!is_object_) throw Error("the .json holds no object");
  }

 private:
  bool at_label() const { return depth_ == 1 && key_ == label_; }

  // An array of four numbers is a box, and whatever else stands in or for a list of boxes is none.
  bool open(char bracket) {
    if (depth_ == 0) is_object_ = bracket == '{';
    if (depth_ == 1) in_boxes_ = key_ == "boxes" && bracket == '[';
    if (depth_ == 2 && bracket == '[') numbers_ = 0;
    if (depth_ == 3) numbers_ = no_box;
    if (bracket == '{') expect_no_box();
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    return true;
  }

  bool no_number() {
    if (depth_ == 3) numbers_ = no_box;
    return expect_no_box();
  }

  // A value that is no list stands where a box or their list may be.
  bool expect_no_box() {
    if ((depth_ == 1 && key_ == "boxes") || (depth_ == 2 && in_boxes_)) ++facts_.boxes_left_out;
    return true;
  }

  bool whole(std::int64_t value) {
    if (at_label()) facts_.label = value;
    return number(static_cast<float>(value));
  }

  bool number(float value) {
    if (depth_ == 2 && key_ == "labels") scratch_.labels.push_back(value);
    if (depth_ == 3) {
      if (numbers_ < corners_.size()) corners_[numbers_] = value;
      if (numbers_ != no_box) ++numbers_;
    }
    return expect_no_box();
  }

  void add_box() {
    if (numbers_ == corners_.size()) {
      take_box({corners_[0], corners_[1], corners_[2], corners_[3]}, scratch_.boxes,
               facts_.boxes_left_out);
    } else {
      ++facts_.boxes_left_out;
    }
  }

  static constexpr std::size_t no_box = std::numeric_limits<std::size_t>::max();
  std::string_view label_;
  Scratch& scratch_;
  SampleJson& facts_;
  std::string key_;  // of the outermost object
  std::size_t depth_ = 0;
  std::size_t numbers_ = 0;  // in the array of depth 3; no_box where it holds something else
  std::array<float, 4> corners_{};
  bool is_object_ = false;
  bool in_boxes_ = false;  // in the list of boxes
};

}  // namespace

void write_sample_json(const Sample& sample, const ClassNames& classes, std::string& json) {
  json.clear();
  if (sample.name.empty() && sample.boxes.empty() && sample.labels.empty()) return;
  const auto out = std::back_inserter(json);
  const auto key = [&](std::string_view name) {
    fmt::format_to(out, "{}\"{}\": ", json.empty() ? "{" : ", ", name);
  };
  if (!sample.name.empty()) {
    key("filename");
    json += json_string(sample.name);
  }
  const auto label = static_cast<std::size_t>(sample.label);
  if (label < classes.names.size()) {
    const bool has_text = label < classes.texts.size();
    key(has_text ? "synset" : "class name");
    json += json_string(classes.names[label]);
    if (has_text) {
      key("text");
      json += json_string(classes.texts[label]);
    }
  }
  if (!sample.labels.empty()) {
    expect_numbers(sample.labels);
    key("labels");
    fmt::format_to(out, "[{}]", fmt::join(sample.labels, ", "));
  }
  if (!sample.boxes.empty()) {
    key("boxes");
    std::string_view separator = "[";
    for (const Box& box : sample.boxes) {
      fmt::format_to(out, "{}[{}, {}, {}, {}]", separator, box.xmin, box.ymin, box.xmax, box.ymax);
      separator = ", ";
    }
    json += ']';
  }
  json += '}';
}

SampleJson read_sample_json(Bytes json, std::string_view label, Scratch& scratch) {
  scratch.name.clear();
  scratch.boxes.clear();
  scratch.labels.clear();
  SampleJson facts;
  Listener listener(label, scratch, facts);
  const std::string_view text = as_text(json);
  Json::sax_parse(text.begin(), text.end(), &listener);
  listener.finish();
  return facts;
}

}  // namespace feedrate::formats
