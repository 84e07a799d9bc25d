#pragma once
// The engine of a conversion: read in order │ decode, digest, encode in parallel │ write in order.

#include <functional>

#include "converters/convert.h"
#include "converters/pipeline/journal.h"
#include "converters/pipeline/selection.h"

namespace feedrate::converters {

struct PipelineOptions {
  const formats::Container& container;
  const ConvertOptions& settings;
  formats::Encoding encoding;
  bool wants_mean = false;
  std::uint64_t begin = 0;                      // position of the first sample of the tally
  std::uint64_t end = 0;                        // position to stop at; 0: the end of the stream
  DigestSink digested = {};                     // called for each sample written
  std::function<void(const Tally&)> save = {};  // called every journal_bytes, after Writer::pause
};

/// Converts `stream` from its current position and adds to `tally`. Throws Error on damage in the
/// source, a failed write, and a bad sample if settings.on_bad is `fail`.
void run_pipeline(SelectedStream& stream, formats::Writer& writer, const PipelineOptions& pipeline,
                  Tally& tally);

}  // namespace feedrate::converters
