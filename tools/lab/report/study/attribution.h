#pragma once
// Where the time of an image goes, computed from differences between rates. Pure functions.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/report/study/study.h"

namespace feedrate::tools {

/// The time between two delivered images by cause, in µs; the parts add up to `total`.
struct Attribution {
  double total = 0;    // 1 / delivered
  double compute = 0;  // training with batches in memory, without uploads: at most 1 / demand
  double upload = 0;   // delay by copies to the device; 0 where demand without them is unknown
  double read = 0;     // waiting, split in proportion to the workers' times per image
  double decode = 0;
  double augment = 0;
  double loading = 0;  // waiting, where the workers' times are unknown
  double storage = 0;  // added by a cold cache: 1 / cold − 1 / warm
  double sharing = 0;  // neither computing nor waiting: loader and trainer compete for cores
};

/// The parts in drawing order.
struct AttributionPart {
  std::string_view name;
  double Attribution::*member;
};
inline constexpr std::array<AttributionPart, 8> attribution_parts{{
    {"compute", &Attribution::compute},
    {"upload", &Attribution::upload},
    {"read", &Attribution::read},
    {"decode", &Attribution::decode},
    {"augment", &Attribution::augment},
    {"loading", &Attribution::loading},
    {"storage", &Attribution::storage},
    {"shared cores", &Attribution::sharing},
}};

/// Parts below this share of an image's time are not shown.
inline constexpr double negligible_part = 0.002;

/// The rates that a delivered rate is compared with.
struct Baselines {
  std::optional<Point> demand{};
  std::optional<Point> compute{};  // demand with batches that stay on the device
  const Point* warm = nullptr;     // for a cold `delivered`: the same point with a warm cache
};

/// Without demand, all time except waiting counts as compute; without a stall, all time except
/// compute counts as waiting. Without a compute rate, uploads are part of compute.
Attribution attribute(const Point& delivered, const Baselines& baselines);

/// One bar of the breakdown: a format at its fewest threads or at its knee.
struct AttributedPoint {
  std::string format;
  unsigned threads = 0;
  bool at_knee = false;
  Attribution parts;
};
/// For each format a bar at its fewest threads and one at its knee, a single bar where they
/// coincide. Formats without measured demand are left out.
std::vector<AttributedPoint> attribute(const Study& study);

}  // namespace feedrate::tools
