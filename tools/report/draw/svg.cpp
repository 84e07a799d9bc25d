#include "tools/report/draw/svg.h"

#include <fmt/format.h>

#include <array>

namespace feedrate::tools {

// Embedded by tools/cmake/embed.cmake.
extern const std::string_view charts_css;

namespace {

// Around the origin, in the order of --series-0 and on.
constexpr std::array<std::string_view, series_styles> mark_paths{
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
    "M0 -5L5 0L0 5L-5 0Z",
    "M0 -5L5 4L-5 4Z",
    "M-4 -4H4V4H-4Z",
    "M-4 -4L4 4M4 -4L-4 4",
    "M0 -5V5M-5 0H5M-4 -4L4 4",
};

std::string points_text(const std::vector<At>& points) {
  std::string text;
  for (const At& at : points) {
    text += fmt::format("{}{:.1f} {:.1f}", text.empty() ? "M" : "L", at.x, at.y);
  }
  return text;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // What XML cannot hold at all would leave a file that nothing opens.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

std::string series_class(unsigned series) { return fmt::format("s{}", series % series_styles); }

std::string swatch(unsigned series) {
  return fmt::format(
      "<svg class=\"chart swatch\" width=\"28\" height=\"12\" viewBox=\"0 0 28 12\" "
      "aria-hidden=\"true\"><path class=\"{0} curve\" d=\"M0 6H28\"/><path class=\"{0} mark\" "
      "transform=\"translate(14 6)\" d=\"{1}\"/></svg>",
      series_class(series), mark_paths.at(series % series_styles));
}

Svg::Svg(At size, std::string_view title, std::string_view description)
    : size_(size), title_(title), description_(description) {}

void Svg::shape(std::string_view tag, std::string_view attributes, std::string_view classes,
                std::string_view told) {
  shapes_ += fmt::format("<{} {} class=\"{}\"", tag, attributes, classes);
  if (told.empty()) {
    shapes_ += "/>\n";
  } else {
    shapes_ += fmt::format("><title>{}</title></{}>\n", escape_markup(told), tag);
  }
}

void Svg::line(At from, At to, std::string_view classes) {
  shape("line",
        fmt::format("x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"", from.x, from.y, to.x,
                    to.y),
        classes, {});
}

void Svg::path(const std::vector<At>& points, std::string_view classes) {
  if (points.empty()) return;
  shape("path", fmt::format("d=\"{}\"", points_text(points)), classes, {});
}

void Svg::rect(At corner, At size, std::string_view classes, std::string_view told) {
  shape("rect",
        fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", corner.x,
                    corner.y, size.x, size.y),
        classes, told);
}

void Svg::ring(At centre, double radius, std::string_view classes) {
  shape("circle", fmt::format("cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"", centre.x, centre.y, radius),
        classes, {});
}

void Svg::mark(At centre, unsigned series, std::string_view classes, std::string_view told) {
  shape("path",
        fmt::format("transform=\"translate({:.1f} {:.1f})\" d=\"{}\"", centre.x, centre.y,
                    mark_paths.at(series % series_styles)),
        classes, told);
}

void Svg::text(At at, Anchor anchor, std::string_view classes, std::string_view words) {
  constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  shapes_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", at.x, at.y,
      names.at(static_cast<std::size_t>(anchor)), classes, escape_markup(words));
}

std::string Svg::document(std::string_view attributes, std::string_view style) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" class=\"chart\" "
      "role=\"img\" aria-label=\"{2}. {3}\"{4}>\n{5}{6}</svg>\n",
      size_.x, size_.y, escape_markup(title_), escape_markup(description_), attributes, style,
      shapes_);
}

std::string Svg::markup() const { return document("", ""); }

std::string Svg::file() const {
  const std::string attributes = fmt::format(" width=\"{}\" height=\"{}\"", size_.x, size_.y);
  const std::string style = fmt::format(
      "<title>{}</title>\n<style>\n{}</style>\n<rect width=\"100%\" height=\"100%\" "
      "class=\"card\"/>\n",
      escape_markup(title_), charts_css);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + document(attributes, style);
}

}  // namespace feedrate::tools
