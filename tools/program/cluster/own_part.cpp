#include "tools/program/cluster/own_part.h"

#include <optional>

#include "converters/pipeline/join.h"
#include "converters/pipeline/parts.h"
#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

void require_same_count(const ConversionJob::Split& split, const Place& place) {
  const std::vector<FoundPart> parts = find_parts(split.out);
  if (parts.empty() || parts.front().part.count == place.count) return;
  fail(parts.front().path, "is one of ", parts.front().part.count, " parts, but ", place.from,
       " says that there are ", place.count, "; start as many again, or remove the parts");
}

Converted convert_one(const ConversionJob& job, const ConversionJob::Split& split,
                      const Place& place) {
  ConvertOptions settings = job.settings;
  // Joined already: this task was started again after the others had finished.
  if (auto whole =
          finished_conversion(job.from, job.inputs, {job.to, split.out, split.name}, settings))
    return {split.name, split.out, *std::move(whole)};
  require_same_count(split, place);
  settings.part = {place.number, place.count};
  settings.resume = true;
  Conversion part = keep_or_convert(job, split, settings);
  if (place.count == 1) return {split.name, split.out, std::move(part)};
  if (auto joined = join_if_whole(split.out)) {
    joined->seconds = part.seconds;  // that this process took
    joined->resumed_at = joined->samples - (part.samples - part.resumed_at);
    return {split.name, split.out, *std::move(joined)};
  }
  return {split.name, part_path(split.out, settings.part), std::move(part)};
}

}  // namespace

std::vector<Converted> convert_own_part(const ConversionJob& job, const Place& place) {
  if (place.count > 1) count_pieces(job, place.count);  // throws where there is nothing to share
  std::vector<Converted> made;
  for (const ConversionJob::Split& split : job.splits)
    made.push_back(convert_one(job, split, place));
  return made;
}

}  // namespace feedrate::tools
