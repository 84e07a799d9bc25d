#include "converters/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "converters/pipeline/join.h"
#include "formats/base/stop.h"
#include "formats/base/text.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/help.h"
#include "tools/cli/signals.h"
#include "tools/cli/text.h"
#include "tools/measure/environment.h"
#include "tools/measure/or_null.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source;
  std::vector<fs::path> inputs;
  std::vector<fs::path> boxes;
  std::string format;
  fs::path out;
  fs::path join;
  std::string split;
  std::string encoding;
  std::string resize;
  std::string part;
  std::string fix = "keep";
  std::string on_bad = "fail";
  std::optional<std::uint64_t> shuffle;
  std::uint32_t shards = 1;
  std::uint64_t limit = 0;
  unsigned threads = 0;
  bool gzip = false;
  bool resume = false;
  bool json = false;
};

struct Done {
  std::string split;
  fs::path path;
  Conversion result;
  double images_per_second() const {
    const std::uint64_t here = result.samples - result.resumed_at;
    return result.seconds > 0 ? static_cast<double>(here) / result.seconds : 0;
  }
};

std::vector<std::string> wanted_splits(const Source& from, const Options& options) {
  const std::string& asked = options.split;
  const std::vector<std::string> splits = from.splits(options.inputs);
  if (asked == "all") return splits;
  if (asked.empty()) return {splits.front()};
  if (std::find(splits.begin(), splits.end(), asked) != splits.end()) return {asked};
  std::vector<std::string_view> names(splits.begin(), splits.end());
  names.emplace_back("all");
  throw Error(unknown_kind("split", asked, names));
}

// "3/8"
ConversionPart parse_part(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  const std::string_view view(text);
  const auto number = parse_number<std::uint32_t>(view.substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : parse_number<std::uint32_t>(view.substr(slash + 1));
  if (!number || !count || *number < 1 || *number > *count) {
    throw Error(fmt::format("--part is I/N, from 1/N to N/N; found '{}'", text));
  }
  return {*number, *count};
}

ConvertOptions settings_of(const Options& options) {
  ConvertOptions settings;
  if (!options.encoding.empty()) settings.encoding = parse_encoding(options.encoding);
  if (!options.resize.empty()) settings.resize = parse_resize(options.resize);
  settings.shuffle = options.shuffle;
  settings.limit = options.limit;
  settings.shards = options.shards;
  settings.part = parse_part(options.part);
  settings.fix = options.fix == "reencode" ? Fix::reencode : Fix::keep;
  settings.on_bad = options.on_bad == "skip" ? OnBad::skip : OnBad::fail;
  settings.gzip = options.gzip;
  settings.threads = options.threads;
  settings.resume = options.resume;
  return settings;
}

nlohmann::ordered_json as_json(const Done& done) {
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
          {"images_per_second", of_this_run(rounded(done.images_per_second(), 1))},
          {"digest", or_null<nlohmann::ordered_json>(result.digest.digest)},
          {"set_digest", or_null<nlohmann::ordered_json>(result.digest.set_digest)},
          {"bytes_digest", result.bytes_digest},
          {"resumed_at", result.resumed_at},
          {"mended", of_this_run(result.mended)},
          {"skipped", of_this_run(result.skipped.size())}};
}

std::string as_text(const Options& options, const Done& done) {
  const Conversion& result = done.result;
  if (result.earlier) {
    return fmt::format("{}: {} as {} × {}, whole from an earlier run\n", done.path.string(),
                       counted(result.samples, "image"), options.format, result.codec);
  }
  std::string text = fmt::format("{}: {} as {} × {}, {} in {} ({} images/s)\n", done.path.string(),
                                 counted(result.samples, "image"), options.format, result.codec,
                                 bytes_text(result.bytes), duration_text(result.seconds),
                                 quantity(done.images_per_second()));
  if (result.digest.digest.empty()) {
    text += fmt::format("  bytes digest {} (JPEGs were not decoded: 'feedrate verify' does)\n",
                        result.bytes_digest);
  } else {
    text += fmt::format("  digest {}{}\n", result.digest.digest,
                        container(options.format).keeps_order()
                            ? ""
                            : " (as written; 'feedrate verify' shows that of reading too)");
  }
  return text;
}

// Notes and warnings that accompany the result, with and without --json.
void note_details(const Done& done) {
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

void print_result(const Options& options, const std::vector<Done>& all) {
  for (const Done& done : all) note_details(done);
  if (!options.json) {
    for (const Done& done : all) print(as_text(options, done));
    return;
  }
  nlohmann::ordered_json splits = nlohmann::ordered_json::array();
  for (const Done& done : all) splits.push_back(as_json(done));
  const nlohmann::ordered_json object{{"source", options.source},
                                      {"format", options.format},
                                      {"codec", all.front().result.codec},
                                      {"splits", splits}};
  print(json_text(object));
}

int join(const Options& options) {
  const Conversion result = join_parts(options.join);
  print(fmt::format("{}: {} in {}\n", options.join.string(), counted(result.samples, "image"),
                    bytes_text(result.bytes)));
  return exit_done;
}

int run(Options options) {
  if (!options.join.empty()) return join(options);
  const GracefulStop graceful;
  const Source& from = source(options.source);
  const Container& to = container(options.format);
  ConvertOptions settings = settings_of(options);
  if (!options.boxes.empty() && !from.takes_boxes()) {
    throw Error(fmt::format("{} does not take --boxes", from.name()));
  }
  options.inputs.insert(options.inputs.end(), options.boxes.begin(), options.boxes.end());
  const bool all = options.split == "all";
  std::vector<Done> finished;
  for (const std::string& split : wanted_splits(from, options)) {
    const fs::path out = all ? options.out / split : options.out;
    const fs::path made = settings.part.count == 1 ? out : part_path(out, settings.part);
    Progress progress(fmt::format("{} {}", options.format, split), "images");
    settings.progress = progress.callback();
    try {
      std::optional<Conversion> earlier;
      if (options.resume && all) {
        earlier = finished_conversion(from, options.inputs, split, to, out, settings);
      }
      finished.push_back({split, made,
                          earlier
                              ? std::move(*earlier)
                              : convert_dataset(from, options.inputs, split, to, out, settings)});
    } catch (const Stopped&) {
      note(fmt::format("stopped; '{}{}' goes on where it was", command_line(),
                       options.resume ? "" : " --resume"));
      throw;
    }
  }
  print_result(options, finished);
  return exit_done;
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  const auto known_sources = kind_names(sources()), known_formats = kind_names(containers());
  const auto known_codecs = kind_names(codecs());
  const std::vector<CLI::Option*> operands = {
      check_names(app.add_option("SOURCE", options->source,
                                 fmt::format("Kind of input: {}", fmt::join(known_sources, ", "))),
                  {"source", "sources", known_sources}),
      app.add_option("INPUT", options->inputs, "Its files, or the directory that holds them"),
      check_names(app.add_option("--to", options->format,
                                 fmt::format("Format to write: {}", fmt::join(known_formats, ", ")))
                      ->type_name("FORMAT"),
                  {"format", "formats", known_formats}),
      app.add_option("--out", options->out, "Directory to create; it must not exist")
          ->type_name("PATH")};
  for (CLI::Option* operand : operands) operand->required();
  offer(app.add_option("--split", options->split,
                       "Split (default: the first); all makes PATH/train, PATH/test, …")
            ->type_name("NAME"),
        {"all", "train", "test", "val"});
  std::vector<std::string> encodings{known_codecs.begin(), known_codecs.end()};
  encodings.insert(encodings.begin(), "keep");
  offer(app.add_option("--encode", options->encoding,
                       fmt::format("keep, or {}[:QUALITY] (default: keep if possible)",
                                   fmt::join(known_codecs, ", ")))
            ->type_name("CODEC"),
        encodings);
  app.add_option("--resize", options->resize, "short:256, long:256 or 256x256 (antialiased)")
      ->type_name("SIZE");
  app.add_option("--boxes", options->boxes, "Annotations: archives or directories of XML")
      ->type_name("FILE");
  add_choice(app, "--fix", options->fix, {"keep", "reencode"},
             "CMYK and misnamed images: keep, or reencode as RGB JPEG");
  add_choice(app, "--on-bad", options->on_bad, {"fail", "skip"},
             "Images that cannot be read: fail, or skip them");
  check_whole(app.add_option("--shuffle", options->shuffle, "Shuffle the images with this seed"), 0)
      ->type_name("SEED");
  check_whole(
      app.add_option("--shards", options->shards, "Number of files (if the format supports it)"), 1,
      99'999)
      ->type_name("N");
  app.add_option("--part", options->part, "Convert part I of N, on one of N machines")
      ->type_name("I/N");
  // Finished parts describe themselves: --join needs only their path.
  app.add_option_function<fs::path>(
         "--join",
         [options, operands](const fs::path& path) {
           options->join = path;
           for (CLI::Option* operand : operands) operand->required(false);
         },
         "Join the finished parts of PATH")
      ->type_name("PATH");
  check_whole(app.add_option("--limit", options->limit, "Stop after N images"), 1)->type_name("N");
  app.add_flag("--gzip", options->gzip, "Compress whole files (tfrecord)");
  app.add_flag("--resume", options->resume, "Continue where an earlier run stopped");
  add_threads(app, "--threads", options->threads, "Encoding threads (default: every core)");
  add_json(app, options->json);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command convert_command;
const Command convert_command{
    .name = "convert",
    .summary = "Converts a published dataset into one of the formats",
    .description =
        R"(Reads the archives of a published dataset and writes it in one of the formats. The
samples, their order and the files are the same at any thread count. The dataset is
written to PATH.partial and renamed once it is complete and on disk, so PATH is never
unfinished. --part and --join divide one conversion among several machines.)",
    .examples =
        R"(  feedrate convert mnist /usr/share/datasets/fashion-mnist --to lmdb --out fashion
  feedrate convert mnist archives --to recordio --encode png --split all --out data
)",
    .prepare = prepare};

}  // namespace feedrate::tools
