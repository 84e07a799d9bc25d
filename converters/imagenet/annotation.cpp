#include "converters/imagenet/annotation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>

#include "formats/base/error.h"
#include "formats/base/xml.h"

namespace feedrate::converters {
using namespace formats;

namespace {

template <class... Parts>
[[noreturn]] void fail_at(const pugi::xml_node& element, const Parts&... parts) {
  const std::ptrdiff_t start = element.offset_debug() - 1;  // of the "<" in front of the name
  throw Error(join("byte ", start, ": ", parts...));
}

double number(const pugi::xml_node& element) {
  const std::string_view text = xml_text(element);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double max_pixels = 1e9;  // beyond any image
  if (error != std::errc() || end != text.data() + text.size() ||
      !(std::abs(value) <= max_pixels)) {
    fail_at(element, "expected a number in <", element.name(), ">, found \"", text.substr(0, 40),
            "\"");
  }
  return value;
}

pugi::xml_node root_of(const pugi::xml_document& document) {
  const pugi::xml_node root = document.document_element();
  constexpr std::string_view expected = "annotation";
  for (const pugi::xml_node& element : document.children()) {
    if (element != root || element.name() != expected) {
      const std::string_view name = element.name();
      fail_at(element, "expected one <", expected, ">, found <", name.substr(0, 40), ">");
    }
  }
  return root;
}

double side(const pugi::xml_node& annotation, const char* name) {
  const pugi::xml_node element = annotation.child("size").child(name);
  const double pixels = element ? number(element) : -1;
  if (!(pixels >= 0)) {
    fail_at(element ? element : annotation, "states no size of the image, or one below 0");
  }
  return pixels;
}

double corner(const pugi::xml_node& box, const char* name) {
  const pugi::xml_node element = box.child(name);
  if (!element) fail_at(box, "the box has no ", name);
  return number(element);
}

Annotation annotation_in(const pugi::xml_document& document) {
  const pugi::xml_node root = root_of(document);
  Annotation annotation;
  annotation.width = side(root, "width");
  annotation.height = side(root, "height");
  for (const pugi::xml_node& object : root.children("object")) {
    const std::string name(xml_text(object.child("name")));
    for (const pugi::xml_node& box : object.children("bndbox")) {
      annotation.boxes.push_back({name, corner(box, "xmin"), corner(box, "ymin"),
                                  corner(box, "xmax"), corner(box, "ymax")});
    }
  }
  return annotation;
}

// As written by "%.4f" and parsed again: both are correctly rounded, hence the same everywhere.
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
  try {
    pugi::xml_document document;
    parse_xml(xml, document);
    return annotation_in(document);
  } catch (const Error& error) {
    fail(place, error.what());
  }
}

std::optional<Box> relative_box(const Annotation& annotation, const AnnotatedBox& box) {
  const double width = annotation.width, height = annotation.height;
  if (width < 1 || height < 1) return std::nullopt;  // some tools write 0
  return box_between({four_decimals(box.xmin / width), four_decimals(box.ymin / height),
                      four_decimals(box.xmax / width), four_decimals(box.ymax / height)});
}

}  // namespace feedrate::converters
