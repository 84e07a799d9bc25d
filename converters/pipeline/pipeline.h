#pragma once
// The engine of a conversion: read in order │ decode, digest, encode in parallel │ write in order.

#include <functional>

#include "converters/convert.h"
#include "converters/pipeline/journal.h"
#include "converters/pipeline/selection.h"

namespace feedrate::converters {

struct PipelineOptions {
  formats::Encoding encoding;
  bool wants_mean = false;
  std::uint64_t begin = 0;                      // positions of the stream: that of tally.read = 0,
  std::uint64_t end = 0;                        // and the one at which to stop; 0: its end
  std::function<void(const Tally&)> save = {};  // every journal_bytes, after Writer::pause
};

/// Converts what `stream` has from its position on, adding to `tally`. Throws Error on a fault
/// of the source or the disk, and on a bad sample where options.on_bad says so.
void run_pipeline(SelectedStream& stream, formats::Writer& writer,
                  const formats::Container& container, const ConvertOptions& options,
                  const PipelineOptions& pipeline, Tally& tally);

}  // namespace feedrate::converters
