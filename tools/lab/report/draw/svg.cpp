#include "tools/lab/report/draw/svg.h"

#include <fmt/format.h>

#include <array>

#include "tools/console/bars.h"

namespace feedrate::tools {

namespace {

// Centred on the origin, one for each --series colour.
constexpr std::array<std::string_view, series_styles> mark_paths{
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
    "M0 -5L5 0L0 5L-5 0Z",
    "M0 -5L5 4L-5 4Z",
    "M-4 -4H4V4H-4Z",
    "M-4 -4L4 4M4 -4L-4 4",
    "M0 -5V5M-5 0H5M-4 -4L4 4",
};

std::string outline_of(const std::vector<At>& points) {
  std::string line;
  for (const At& at : points) {
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at.x, at.y);
  }
  return line;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto special = std::string_view("&<>\"").find(c);
    if (special != std::string_view::npos) {
      escaped += std::array{"&amp;", "&lt;", "&gt;", "&quot;"}.at(special);
    } else {
      // XML has no way to write most control characters.
      escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

double width_of(std::string_view words) {
  constexpr double letter = 7.6;  // mean width of a bold letter in a wide font
  return letter * static_cast<double>(columns_of(words));
}

std::string series_class(unsigned series) { return fmt::format("s{}", series % series_styles); }

Svg::Svg(At size, std::string_view title, std::string_view description)
    : size_(size), title_(title), description_(description) {}

void Svg::line(At from, At to, std::string_view classes) {
  shapes_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  from.x, from.y, to.x, to.y, classes);
}

void Svg::path(const std::vector<At>& points, std::string_view classes) {
  if (points.empty()) return;
  shapes_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", outline_of(points), classes);
}

void Svg::area(const std::vector<At>& outline, std::string_view classes, std::string_view tip) {
  shapes_ += fmt::format("<path d=\"{}\" class=\"{}\"><title>{}</title></path>\n",
                         outline_of(outline), classes, escape_markup(tip));
}

void Svg::ring(At centre, double radius, std::string_view classes) {
  shapes_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"/>\n", centre.x,
                         centre.y, radius, classes);
}

void Svg::mark(At centre, unsigned series, std::string_view classes, std::string_view tip) {
  shapes_ += fmt::format(
      "<path transform=\"translate({:.1f} {:.1f})\" d=\"{}\" "
      "class=\"{}\"><title>{}</title></path>\n",
      centre.x, centre.y, mark_paths.at(series % series_styles), classes, escape_markup(tip));
}

void Svg::text(At at, std::string_view anchor, std::string_view classes, std::string_view words) {
  shapes_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                  at.x, at.y, anchor, classes, escape_markup(words));
}

std::string Svg::markup() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" class=\"chart\" role=\"img\" aria-label=\"{2}. {3}\">\n{4}</svg>\n",
      size_.x, size_.y, escape_markup(title_), escape_markup(description_), shapes_);
}

}  // namespace feedrate::tools
