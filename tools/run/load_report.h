#pragma once
// What `feedrate load` measured, for people and for programs.

#include <cstddef>
#include <optional>
#include <string>

#include "loader/drive.h"
#include "tools/measure/telemetry.h"

namespace feedrate::tools {

struct LoadReport {
  unsigned threads = 0;                  // asked for, or found: those at work in the end
  std::optional<loader::Tuning> tuning;  // where it was to find their number
  std::uint32_t batch = 0;
  loader::PixelType pixels = loader::PixelType::u8;
  bool skips = false;               // bad samples' seats are left out, not given to others
  std::optional<double> in_memory;  // share of the dataset when loading began, where it was cold
  std::uint64_t storage_bytes = 0;  // read from disks while it ran, ahead of what was used too
  loader::DriveResult result;
  loader::LoaderStats stats;
  Telemetry telemetry;        // while the clock of the rate ran
  double epochs = 0;          // images handed out, in dataset sizes
  std::string digest;         // of the first epoch; empty when not asked for
  loader::LoaderState state;  // behind the last batch
  std::size_t bad_samples = 0;

  /// Lines: the rate, where time went, what limited it.
  std::string text() const;
  /// One object; what was not measured is null.
  std::string json() const;
};

}  // namespace feedrate::tools
