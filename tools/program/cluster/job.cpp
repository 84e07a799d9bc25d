#include "tools/program/cluster/job.h"

#include <algorithm>
#include <optional>

#include "converters/pipeline/parts.h"
#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

std::string shardable_formats() {
  std::string names;
  for (const Container* container : containers()) {
    if (container->shardable()) names += join(names.empty() ? "" : ", ", container->name());
  }
  return names;
}

}  // namespace

Conversion keep_or_convert(const ConversionJob& job, const ConversionJob::Split& split,
                           const ConvertOptions& settings) {
  std::optional<Conversion> earlier =
      finished_conversion(job.from, job.inputs, {job.to, split.out, split.name}, settings);
  if (earlier) return *std::move(earlier);
  return convert_dataset(job.from, job.inputs, {job.to, split.out, split.name}, settings);
}

std::uint32_t count_pieces(const ConversionJob& job, std::uint32_t ranks) {
  constexpr std::uint32_t pieces_per_rank = 4;
  if (!job.to.shardable()) {
    throw Error(join(job.to.name(),
                     " is one file, which only one process can write; start one, or "
                     "choose one of ",
                     shardable_formats()));
  }
  const std::uint32_t shards = job.settings.shards;
  if (shards < 2) {
    throw Error(join(ranks, " processes share a conversion by its shards: give --shards ",
                     ranks * pieces_per_rank, ", or at least 2"));
  }
  for (const ConversionJob::Split& split : job.splits) {
    const std::vector<FoundPart> parts = find_parts(split.out);
    if (!parts.empty()) return parts.front().part.count;
  }
  return std::min(shards, ranks * pieces_per_rank);
}

}  // namespace feedrate::tools
