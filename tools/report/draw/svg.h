#pragma once
// Svg: a drawing of a few shapes. Colours come from classes (charts.css), so that one drawing
// serves the page, light and dark, paper, and a file of its own. Pure; coordinates in CSS pixels.

#include <string>
#include <string_view>
#include <vector>

namespace feedrate::tools {

/// Text as XML and HTML want it, quotes included.
std::string escape_markup(std::string_view text);

struct At {
  double x = 0;
  double y = 0;
};

/// How many colours, marks and dashes there are before they repeat.
inline constexpr unsigned series_styles = 6;

class Svg {
 public:
  /// `title` names it, `description` tells those who cannot see it what it shows.
  Svg(At size, std::string_view title, std::string_view description);

  void line(At from, At to, std::string_view classes);
  void path(const std::vector<At>& points, std::string_view classes);
  void rect(At corner, At size, std::string_view classes);
  void ring(At centre, double radius, std::string_view classes);
  /// The mark of a series; a browser shows `tip` where a pointer rests on it.
  void mark(At centre, unsigned series, std::string_view classes, std::string_view tip);
  /// `anchor` is SVG's: start, middle or end.
  void text(At at, std::string_view anchor, std::string_view classes, std::string_view words);

  /// `<svg …>…</svg>`, for a page that has the style.
  std::string markup() const;
  /// A file of its own, with its style.
  std::string file() const;

 private:
  std::string document(std::string_view style) const;

  At size_;
  std::string title_;
  std::string description_;
  std::string shapes_;
};

/// "s3": the class that colours a series.
std::string series_class(unsigned series);

/// Mean width of a text in a chart, in pixels.
double width_of(std::string_view words);

}  // namespace feedrate::tools
