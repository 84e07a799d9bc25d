#pragma once
// What `feedrate load` measured, for people and for programs.

#include <cstddef>
#include <optional>
#include <string>

#include "loader/drive.h"
#include "tools/console/decode.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/measure/server_work.h"
#include "tools/lab/measure/telemetry.h"

namespace feedrate::tools {

struct LoadReport {
  unsigned threads = 0;                  // in the end: as asked for, or as found
  std::optional<loader::Tuning> tuning;  // with --threads auto
  std::uint32_t batch = 0;
  loader::PixelType pixels = loader::PixelType::u8;
  loader::PixelLayout layout = loader::PixelLayout::interleaved;
  Decode decode = Decode::full;
  bool skips = false;               // bad samples are skipped, not replaced
  std::optional<double> in_memory;  // share of a cold dataset that was in memory at the start
  std::uint64_t storage_bytes = 0;  // read from disks meanwhile, read-ahead included
  loader::DriveResult result;
  loader::LoaderStats stats;
  Telemetry telemetry;        // of the time that the rate covers
  double epochs = 0;          // images handed out, in dataset sizes
  std::string digest;         // of the first epoch; "": not computed
  loader::LoaderState state;  // after the last batch
  std::size_t bad_samples = 0;
  std::string crop_index_problem;               // "": it is used, or there is none
  std::optional<DeviceDecoded> device;          // with --decode device
  std::optional<ServerWork> remote;             // where the dataset is on a server

  /// Lines: the rate, where the time went, what limited it.
  std::string text() const;
  /// One object; what was not measured is null.
  std::string json() const;
};

}  // namespace feedrate::tools
