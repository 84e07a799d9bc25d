#include "tools/program/commands/convert_report.h"

#include <fmt/format.h>

#include "formats/container.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

double images_per_second(const Conversion& result) {
  const std::uint64_t here = result.samples - result.resumed_at;
  return result.seconds > 0 ? static_cast<double>(here) / result.seconds : 0;
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
    text += fmt::format("  bytes digest {} (JPEGs were {}; 'feedrate verify' decodes them)\n",
                        result.bytes_digest, result.checked ? "checked" : "not checked");
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
  if (result.resumed_at != 0 && result.resumed_at != result.samples && !result.earlier) {
    note(fmt::format("{}: resumed after {}", done.path.string(),
                     counted(result.resumed_at, "image")));
  }
  if (result.mended != 0) {
    note(fmt::format("{}: {} re-encoded (CMYK, or a PNG named JPEG)", done.path.string(),
                     counted(result.mended, "image")));
  }
  for (const std::string& about : result.notes) {
    note(fmt::format("{}: {}", done.path.string(), about));
  }
  for (const Skipped& sample : result.skipped) {
    warn("left out: " + sample.text());
  }
}

}  // namespace

template <class Field>
void for_each_field(const Converted& done, const Field& field) {
  constexpr std::string_view earlier = "an earlier run had made it whole";
  constexpr std::string_view not_decoded = "JPEGs were kept and not decoded";
  const Conversion& result = done.result;
  const auto of_this_run = [&](auto value) { return only_if(!result.earlier, value); };
  field("split", done.split, {"train, test, …"});
  field("path", done.path.string(), {"the dataset, or the part of it"});
  field("codec", result.codec, {"of all images, or `mixed`"});
  field("samples", result.samples, {"written, including those of earlier runs"});
  field("bytes", of_this_run(result.bytes),
        {"of the encoded images, without the container's overhead", Null{earlier}});
  field("seconds", of_this_run(result.seconds),
        {"of this run", Unit{"s"}, Null{earlier}, Digits{6}});
  field("images_per_second", of_this_run(images_per_second(result)),
        {"of this run only", Unit{"images/s"}, Null{earlier}, Digits{1}});
  field("digest", unless_empty(result.digest.digest),
        {"of labels and pixels in order", Unit{sha256_unit}, Null{not_decoded}});
  field("set_digest", unless_empty(result.digest.set_digest),
        {"of labels and pixels, whatever the order", Unit{sha256_unit}, Null{not_decoded}});
  field("bytes_digest", result.bytes_digest,
        {"of the samples as they are stored", Unit{sha256_unit}});
  field("resumed_at", result.resumed_at,
        {"samples that earlier runs or other processes had written; else 0"});
  field("mended", of_this_run(result.mended),
        {"images re-encoded by `--fix reencode`", Null{earlier}});
  field("skipped", of_this_run(result.skipped.size()),
        {"images left out by `--on-bad skip`", Null{earlier}});
}

namespace {

struct Conversions {
  ConversionNames names;
  std::vector<Converted> splits;
};

}  // namespace

template <>
inline constexpr Heading heading_of<Conversions>{"convert", "What `feedrate convert` prints."};

template <class Field>
void for_each_field(const Conversions& all, const Field& field) {
  field("source", all.names.source, {"as given: mnist, …; with `--join`, as in the sidecar"});
  field("format", all.names.format, {"as for `--to`"});
  field("codec", all.splits.empty() ? "" : all.splits.front().result.codec, {"of the first split"});
  field("splits", all.splits, {"one object for each split that was made"});
}

Description describe_convert() { return description_of(Conversions{}); }

void print_conversions(const ConversionNames& names, const std::vector<Converted>& all, bool json) {
  for (const Converted& done : all) note_details(done);
  if (json) {
    print(json_text_of(Conversions{names, all}));
    return;
  }
  for (const Converted& done : all) print(conversion_text(names, done));
}

}  // namespace feedrate::tools
