#pragma once
// Where the time of an image goes, told from the differences between rates. Pure functions.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/study/study.h"

namespace feedrate::tools {

/// Shares of the time between two images that arrive, in µs; they add up to 1 / delivered.
struct Attribution {
  double total = 0;    // 1 / delivered
  double compute = 0;  // what the trainer takes with its batches in memory: 1 / demand at most
  double upload = 0;   // of which copies to the device hold it up, where that was measured
  double read = 0;     // waiting, as the loader's own times divide it
  double decode = 0;
  double augment = 0;
  double loading = 0;  // waiting, where the loader's own times are not known
  double storage = 0;  // what a cold start added: 1 / cold − 1 / warm
  double sharing = 0;  // neither computing nor waiting: loader and trainer share cores

  double sum() const {
    return compute + upload + read + decode + augment + loading + storage + sharing;
  }
};

/// The parts in the order in which they are drawn.
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

/// The share of an image's time below which a part is not worth showing.
inline constexpr double negligible_part = 0.002;

/// What a delivered rate is compared with.
struct Alone {
  std::optional<Point> demand{};
  std::optional<Point> compute{};  // demand whose batches stay on the device
  const Point* warm = nullptr;     // where `delivered` was cold: the same with its data in memory
};

/// Without a demand all that is not waiting counts as compute; without a stall all that is not
/// compute counts as waiting. Without a compute rate uploads are part of compute.
Attribution attribute(const Point& delivered, const Alone& alone);

/// A bar of the breakdown: a format at its fewest threads or at its knee.
struct AttributedPoint {
  std::string format;
  unsigned threads = 0;
  bool at_knee = false;
  Attribution parts;
};
/// Of each format the fewest threads and the knee, one bar where they are the same point. Empty
/// where no demand was measured.
std::vector<AttributedPoint> attribute(const Study& study);

}  // namespace feedrate::tools
