#include "tools/program/commands/convert_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/container.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

double images_per_second(const Conversion& result) {
  const std::uint64_t here = result.samples - result.resumed_at;
  return result.seconds > 0 ? static_cast<double>(here) / result.seconds : 0;
}

nlohmann::ordered_json conversion_json(const Converted& done) {
  const Conversion& result = done.result;
  const auto of_this_run = [&](const auto& value) {
    return null_unless<nlohmann::ordered_json>(!result.earlier, value);
  };
  return {{"split", done.split},
          {"path", done.path.string()},
          {"codec", result.codec},
          {"samples", result.samples},
          {"bytes", of_this_run(result.bytes)},
          {"seconds", of_this_run(rounded(result.seconds, 6))},
          {"images_per_second", of_this_run(rounded(images_per_second(result), 1))},
          {"digest", or_null<nlohmann::ordered_json>(result.digest.digest)},
          {"set_digest", or_null<nlohmann::ordered_json>(result.digest.set_digest)},
          {"bytes_digest", result.bytes_digest},
          {"resumed_at", result.resumed_at},
          {"mended", of_this_run(result.mended)},
          {"skipped", of_this_run(result.skipped.size())}};
}

std::string conversion_text(const ConversionNames& names, const Converted& done) {
  const Conversion& result = done.result;
  if (result.earlier) {
    return fmt::format("{}: {} as {} × {}, whole from an earlier run\n", done.path.string(),
                       counted(result.samples, "image"), names.format, result.codec);
  }
  std::string text = fmt::format("{}: {} as {} × {}, {} in {} ({} images/s)\n", done.path.string(),
                                 counted(result.samples, "image"), names.format, result.codec,
                                 bytes_text(result.bytes), duration_text(result.seconds),
                                 quantity(images_per_second(result)));
  if (result.digest.digest.empty()) {
    text += fmt::format("  bytes digest {} (JPEGs were not decoded: 'feedrate verify' does)\n",
                        result.bytes_digest);
  } else {
    text += fmt::format("  digest {}{}\n", result.digest.digest,
                        container(names.format).keeps_order()
                            ? ""
                            : " (as written; 'feedrate verify' shows that of reading too)");
  }
  return text;
}

// Notes and warnings that accompany the result, with and without --json.
void note_details(const Converted& done) {
  const Conversion& result = done.result;
  if (result.resumed_at != 0 && !result.earlier) {
    note(fmt::format("{}: resumed after {}", done.path.string(),
                     counted(result.resumed_at, "image")));
  }
  if (result.mended != 0) {
    note(fmt::format("{}: {} re-encoded (CMYK, or a PNG named JPEG)", done.path.string(),
                     counted(result.mended, "image")));
  }
  for (const Skipped& sample : result.skipped) {
    warn(fmt::format("left out: sample {} {}: {}", sample.position, sample.name, sample.reason));
  }
}

}  // namespace

void print_conversions(const ConversionNames& names, const std::vector<Converted>& all, bool json) {
  for (const Converted& done : all) note_details(done);
  if (!json) {
    for (const Converted& done : all) print(conversion_text(names, done));
    return;
  }
  nlohmann::ordered_json splits = nlohmann::ordered_json::array();
  for (const Converted& done : all) splits.push_back(conversion_json(done));
  const nlohmann::ordered_json object{{"source", names.source},
                                      {"format", names.format},
                                      {"codec", all.front().result.codec},
                                      {"splits", splits}};
  print(json_text(object));
}

}  // namespace feedrate::tools
