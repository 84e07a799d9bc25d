#include "tools/report/draw/rate_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/bars.h"
#include "tools/cli/text.h"

namespace feedrate::tools {
namespace {

constexpr std::size_t widest_name = 30;
constexpr const char* demand_sign = "│";
constexpr const char* supply_sign = "◦";
constexpr const char* beyond_sign = "▸";

/// The columns of a line, a character each, so that signs can be set among them.
std::vector<std::string> columns_with(const std::string& drawn, std::size_t columns) {
  std::vector<std::string> cells;
  for (const char letter : drawn) {
    const bool continues = (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U;
    if (continues) {
      cells.back() += letter;
    } else {
      cells.emplace_back(1, letter);
    }
  }
  cells.resize(columns, " ");
  return cells;
}

std::size_t column_of(double value, double most, std::size_t columns) {
  const auto at = static_cast<std::size_t>(value / most * static_cast<double>(columns));
  return std::min(at, columns - 1);
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

}  // namespace

std::string rate_bars(const Study& study, const Verdict& verdict, std::size_t columns) {
  const bool trained = is_trained(study);
  double most = study.demand ? study.demand->rate : 0;
  std::size_t names = 0;
  for (const Curve& curve : study.curves) {
    names = std::max(names, std::min(columns_of(curve.format), widest_name));
  }
  const auto shown = trained ? &Curve::delivered : &Curve::supply;
  for (const Curve& curve : study.curves) {
    for (const Point& point : curve.*shown) most = std::max(most, point.rate);
  }
  if (most <= 0 || study.curves.empty()) return {};
  const std::size_t figures = 10;
  const std::size_t width = columns - names - figures - 11;
  std::string lines;
  bool supplied = false;
  for (const Curve& curve : study.curves) {
    for (const Point& point : curve.*shown) {
      std::vector<std::string> cells =
          columns_with(bar(whole(point.rate * 100), whole(most * 100), width), width + 1);
      if (study.demand) {
        std::string& at = cells[column_of(study.demand->rate, most, width + 1)];
        if (at == " ") at = demand_sign;
      }
      const Point* supply = trained ? at_threads(curve.supply, point.threads) : nullptr;
      if (supply != nullptr) {
        const bool beyond = supply->rate > most;
        std::string& at = cells[beyond ? width : column_of(supply->rate, most, width + 1)];
        if (at == " " || at == demand_sign) at = beyond ? beyond_sign : supply_sign;
        supplied = true;
      }
      std::string drawn;
      for (const std::string& cell : cells) drawn += cell;
      const bool first = &point == (curve.*shown).data();
      const bool chosen = curve.format == verdict.format && point.threads == verdict.threads;
      lines += fmt::format("  {} {}{:>3}  {} {:>{}}\n",
                           fitted(first ? harmless(curve.format) : "", names), chosen ? "→" : " ",
                           point.threads, drawn, quantity(point.rate), figures);
    }
  }
  std::string key = trained ? "delivered images/s by loader threads" : "supply by loader threads";
  if (study.demand) key += fmt::format("; {} demand", demand_sign);
  if (supplied) {
    key += fmt::format("; {} the loader alone, {} beyond the scale", supply_sign, beyond_sign);
  }
  return "  " + key + "\n" + lines;
}

}  // namespace feedrate::tools
