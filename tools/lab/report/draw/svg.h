#pragma once
// Svg: a drawing of simple shapes, in CSS pixels. Colours come from CSS classes (page.css), so that
// one drawing serves light and dark pages and print.

#include <string>
#include <string_view>
#include <vector>

namespace feedrate::tools {

/// Escapes text for XML and HTML, quotes included. Control characters become blanks.
std::string escape_markup(std::string_view text);

struct At {
  double x = 0;
  double y = 0;
};

/// The number of colours, marks and dashes; further series reuse them.
inline constexpr unsigned series_styles = 6;

class Svg {
 public:
  /// `description` is for screen readers.
  Svg(At size, std::string_view title, std::string_view description);

  void line(At from, At to, std::string_view classes);
  void path(const std::vector<At>& points, std::string_view classes);
  /// A path with `tip` as its tooltip.
  void area(const std::vector<At>& outline, std::string_view classes, std::string_view tip);
  void ring(At centre, double radius, std::string_view classes);
  /// Draws the mark of a series, with `tip` as its tooltip.
  void mark(At centre, unsigned series, std::string_view classes, std::string_view tip);
  /// `anchor`, as in SVG: start, middle or end.
  void text(At at, std::string_view anchor, std::string_view classes, std::string_view words);

  /// `<svg …>…</svg>`
  std::string markup() const;

 private:
  At size_;
  std::string title_;
  std::string description_;
  std::string shapes_;
};

/// The CSS class of a series: "s3".
std::string series_class(unsigned series);

/// Estimated width of bold text in a chart, in pixels.
double width_of(std::string_view words);

}  // namespace feedrate::tools
