#include "converters/imagenet/annotation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::size_t deepest = 16;  // an annotation needs four
constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

class Parser {
 public:
  Parser(std::string_view xml, const std::string& place) : xml_(xml), place_(place) {}

  Annotation parse() {
    while (next_markup()) {
    }
    if (!open_.empty()) fail_at(xml_.size(), "the file ends inside <", open_.back(), ">");
    if (!rooted_) fail_at(0, "expected an <annotation>");
    if (!(annotation_.width >= 1 && annotation_.height >= 1)) {
      fail_at(xml_.size(), "states no size of the image, or one below 1");
    }
    return std::move(annotation_);
  }

 private:
  // One tag, comment or declaration, with the text in front of it.
  bool next_markup() {
    const std::size_t start = xml_.find('<', at_);
    if (start == std::string_view::npos) return false;
    const std::string_view text = xml_.substr(at_, start - at_);
    const std::string_view rest = xml_.substr(start);
    if (rest.starts_with("<!--")) {
      at_ = end_of("-->", start);
    } else if (rest.starts_with("<?")) {
      at_ = end_of("?>", start);
    } else if (rest.starts_with("<!")) {
      at_ = end_of(">", start);
    } else {
      at_ = end_of_tag(start);
      take_tag(start, xml_.substr(start + 1, at_ - start - 2), text);
    }
    return true;
  }

  std::size_t end_of(std::string_view end, std::size_t start) const {
    const std::size_t found = xml_.find(end, start);
    if (found == std::string_view::npos) fail_at(start, "what begins here never ends");
    return found + end.size();
  }

  // An attribute's value may hold the sign that ends a tag.
  std::size_t end_of_tag(std::size_t start) const {
    char quote = 0;
    for (std::size_t i = start; i < xml_.size(); ++i) {
      const char c = xml_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        return i + 1;
      }
    }
    fail_at(start, "the tag that begins here never ends");
  }

  void take_tag(std::size_t start, std::string_view tag, std::string_view text) {
    const bool closing = tag.starts_with('/');
    const bool empty = !closing && tag.ends_with('/');
    if (closing) tag.remove_prefix(1);
    if (empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(blanks));
    if (name.empty()) fail_at(start, "a tag without a name");
    if (closing) return close(start, name, text);
    open(start, name);
    if (empty) close(start, name, {});
  }

  void open(std::size_t start, std::string_view name) {
    if (open_.empty()) {
      if (rooted_ || name != "annotation") {
        fail_at(start, "expected one <annotation>, found <", name.substr(0, 40), ">");
      }
      rooted_ = true;
    }
    if (open_.size() == deepest) fail_at(start, "elements more than ", deepest, " deep");
    open_.push_back(name);
    if (is({"annotation", "object"})) first_of_object_ = annotation_.boxes.size();
    if (is({"annotation", "object", "bndbox"})) corners_ = {};
  }

  void close(std::size_t start, std::string_view name, std::string_view text) {
    if (open_.empty() || open_.back() != name) {
      fail_at(start, "</", name.substr(0, 40), "> closes ",
              open_.empty() ? "nothing" : join("<", open_.back(), ">"));
    }
    take_element(start, trimmed(text));
    open_.pop_back();
  }

  void take_element(std::size_t start, std::string_view text) {
    if (is({"annotation", "size", "width"})) {
      annotation_.width = number(start, text);
    } else if (is({"annotation", "size", "height"})) {
      annotation_.height = number(start, text);
    } else if (is({"annotation", "object", "name"})) {
      object_name_ = text;
    } else if (is({"annotation", "object", "bndbox"})) {
      take_box(start);
    } else if (is({"annotation", "object"})) {
      for (std::size_t i = first_of_object_; i < annotation_.boxes.size(); ++i) {
        annotation_.boxes[i].name = object_name_;
      }
      object_name_.clear();
    } else if (open_.size() == 4 && open_[2] == "bndbox" && open_[1] == "object") {
      const auto* const corner = std::ranges::find(corner_names, open_[3]);
      if (corner == std::end(corner_names)) return;
      corners_[static_cast<std::size_t>(corner - corner_names)] = number(start, text);
    }
  }

  void take_box(std::size_t start) {
    for (std::size_t i = 0; i < std::size(corner_names); ++i) {
      if (!corners_[i]) fail_at(start, "the box that ends here has no ", corner_names[i]);
    }
    annotation_.boxes.push_back({{}, *corners_[0], *corners_[1], *corners_[2], *corners_[3]});
  }

  double number(std::size_t start, std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double farthest = 1e9;  // beyond any image
    if (error != std::errc() || end != text.data() + text.size() ||
        !(std::abs(value) <= farthest)) {
      fail_at(start, "expected a number in <", open_.back(), ">, found \"", text.substr(0, 40),
              "\"");
    }
    return value;
  }

  bool is(std::initializer_list<std::string_view> path) const {
    return std::ranges::equal(open_, path);
  }

  template <class... Parts>
  [[noreturn]] void fail_at(std::size_t at, const Parts&... parts) const {
    fail(place_, "byte ", at, ": ", parts...);
  }

  static constexpr std::string_view corner_names[] = {"xmin", "ymin", "xmax", "ymax"};

  std::string_view xml_;
  const std::string& place_;
  std::size_t at_ = 0;
  bool rooted_ = false;
  std::vector<std::string_view> open_;  // from <annotation> inwards
  Annotation annotation_;
  std::string object_name_;
  std::size_t first_of_object_ = 0;  // among the boxes
  std::array<std::optional<double>, 4> corners_;
};

// As "%.4f" writes it and a parser reads it again: both round in one way only.
float four_decimals(double value) {
  std::array<char, 16> text{};
  constexpr int decimals = 4;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::fixed, decimals);
  float rounded = 0;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

}  // namespace

Annotation parse_annotation(std::string_view xml, const std::string& place) {
  return Parser(xml, place).parse();
}

std::optional<Box> relative_box(const Annotation& annotation, const AnnotatedBox& box) {
  const auto relative = [](double position, double side) {
    return four_decimals(std::clamp(position / side, 0.0, 1.0));
  };
  const auto [left, right] = std::minmax(box.xmin, box.xmax);
  const auto [top, bottom] = std::minmax(box.ymin, box.ymax);
  const Box result{relative(left, annotation.width), relative(top, annotation.height),
                   relative(right, annotation.width), relative(bottom, annotation.height)};
  if (result.xmin >= result.xmax || result.ymin >= result.ymax) return std::nullopt;
  return result;
}

}  // namespace feedrate::converters
