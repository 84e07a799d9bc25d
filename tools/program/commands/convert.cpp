#include "converters/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "converters/pipeline/join.h"
#include "formats/base/stop.h"
#include "formats/base/stopwatch.h"
#include "formats/base/text.h"
#include "formats/containers/wishes.h"
#include "formats/remote/url.h"
#include "formats/remote_dataset.h"
#include "tools/console/advised_error.h"
#include "tools/console/console.h"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/lab/measure/environment.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "tools/program/cluster/convert_ranks.h"
#include "tools/program/cluster/own_part.h"
#include "tools/program/commands/convert_report.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

namespace fs = std::filesystem;

struct ConvertRequest {
  std::string source;
  std::vector<fs::path> inputs;
  std::vector<fs::path> boxes;
  fs::path labels;
  std::string format;
  fs::path out;
  fs::path join;
  std::string split;
  std::string encoding;
  std::string resize;
  std::string part;
  Fix fix = Fix::keep;
  OnBad on_bad = OnBad::fail;
  std::optional<std::uint64_t> shuffle;
  std::uint32_t shards = 1;
  std::uint64_t limit = 0;
  unsigned threads = 0;
  bool no_check = false;
  bool no_boxes = false;
  bool one_label = false;
  bool gzip = false;
  bool crops = false;
  bool resume = false;
  bool json = false;
};

constexpr std::uint64_t max_shards = 99'999;

constexpr Setting source_row{.name = "source",
                             .names = [] { return kind_names(sources()); },
                             .check = [](std::string_view name) { source(name); },
                             .list = "sources"};
constexpr Setting format_row{.name = "to",
                             .unit = "FORMAT",
                             .sentence = "Format to write ('feedrate list formats')",
                             .names = [] { return kind_names(containers()); },
                             .check = [](std::string_view name) { container_to_write(name); },
                             .list = "formats"};
constexpr Setting split_row{.name = "split",
                            .unit = "NAME",
                            .sentence = "Split to convert, or all (default: the first)",
                            .detail = "all makes DIR/train, DIR/test …",
                            .names = [] {
                              return std::vector<std::string_view>{"all", "train", "test", "val"};
                            }};
constexpr Setting encode_row{.name = "encode",
                             .unit = "CODEC",
                             .sentence = "Codec of the images (default: keep if possible)",
                             .names =
                                 [] {
                                   auto names = encoder_names();
                                   names.insert(names.begin(), "keep");
                                   return names;
                                 },
                             .check = [](std::string_view text) { parse_encoding(text); }};
constexpr Setting resize_row{.name = "resize",
                             .unit = "SIZE",
                             .sentence = "Resize to short:256, long:256 or 256x256",
                             .detail = "Antialiased.",
                             .check = [](std::string_view text) { parse_resize(text); }};
constexpr std::string_view fix_words[] = {"keep", "reencode"};
constexpr Setting fix_row{.name = "fix",
                          .unit = "HOW",
                          .sentence = "CMYK and misnamed images: keep or reencode",
                          .detail = "reencode makes RGB JPEGs.",
                          .words = fix_words};
constexpr std::string_view on_bad_words[] = {"fail", "skip"};
constexpr Setting on_bad_row{.name = "on_bad",
                             .unit = "HOW",
                             .sentence = "Unreadable images: fail or skip",
                             .words = on_bad_words};
constexpr std::string_view auto_part = "auto";

// "3/8"
ConversionPart parse_part(std::string_view text) {
  if (text.empty() || text == auto_part) return {};
  const std::size_t slash = text.find('/');
  const auto number = parse_number<std::uint32_t>(text.substr(0, slash));
  const auto count = slash == std::string_view::npos
                         ? std::nullopt
                         : parse_number<std::uint32_t>(text.substr(slash + 1));
  if (!number || !count || *number < 1 || *number > *count) {
    throw Error(fmt::format("expected auto, or I/N from 1/N to N/N, found '{}'", text));
  }
  return {*number, *count};
}

constexpr Setting part_row{.name = "part",
                           .unit = "I/N",
                           .sentence = "Convert part I of N, or auto",
                           .names = [] { return std::vector<std::string_view>{auto_part}; },
                           .check = [](std::string_view text) { parse_part(text); }};

std::vector<std::string> wanted_splits(const Source& from, const ConvertRequest& options) {
  const std::string& asked = options.split;
  const std::vector<std::string> splits = from.splits(options.inputs);
  if (asked == "all") return splits;
  if (asked.empty()) return {splits.front()};
  if (std::find(splits.begin(), splits.end(), asked) != splits.end()) return {asked};
  std::vector<std::string_view> names(splits.begin(), splits.end());
  names.emplace_back("all");
  throw Misused(unknown_kind("split", asked, names));
}

/// Published files are known by their names, so others may lie beside them.
std::vector<fs::path> wholly_read(const ConvertRequest& options) {
  return source(options.source).reads_everything() ? options.inputs : std::vector<fs::path>();
}

ConvertOptions conversion_settings(const ConvertRequest& options) {
  ConvertOptions settings;
  if (!options.encoding.empty()) settings.encoding = parse_encoding(options.encoding);
  if (!options.resize.empty()) settings.resize = parse_resize(options.resize);
  settings.shuffle = options.shuffle;
  settings.limit = options.limit;
  settings.shards = options.shards;
  settings.part = parse_part(options.part);
  settings.fix = options.fix;
  settings.on_bad = options.on_bad;
  settings.check = !options.no_check;
  settings.no_boxes = options.no_boxes;
  settings.one_label = options.one_label;
  settings.gzip = options.gzip;
  settings.crops = options.crops;
  settings.threads = options.threads;
  settings.resume = options.resume;
  return settings;
}

int run_join(const ConvertRequest& options) {
  const Stopwatch watch;
  Conversion result = join_parts(options.join);
  result.seconds = watch.seconds();
  result.resumed_at = result.samples;  // others wrote them
  if (options.json || result.earlier) {
    const Sidecar sidecar = read_sidecar(options.join).value();
    print_conversions({sidecar.source, sidecar.format}, {{sidecar.split, options.join, result}},
                      options.json);
    return exit_done;
  }
  print(fmt::format("{}: {} in {}\n", options.join.string(), counted(result.samples, "image"),
                    bytes_text(result.bytes)));
  return exit_done;
}

// This process's part, from the variables of its launcher.
Place own_place() {
  if (const std::optional<Place> place = place_in(&std::getenv)) return *place;
  throw Error(
      "--part auto finds no number of this process: expected a task of a Slurm array "
      "(SLURM_ARRAY_TASK_ID), or a process started by srun, mpirun or torchrun (SLURM_PROCID, "
      "OMPI_COMM_WORLD_RANK, PMI_RANK or RANK, and how many there are)");
}

// Without MPI, each of several processes would convert the whole, into the same output.
void refuse_strangers() {
  const std::optional<Place> place = place_in(&std::getenv);
  if (!place || place->count == 1) return;
  throw AdvisedError(fmt::format("{}: this is process {} of {}, and each would convert the whole",
                                 place->from, place->number, place->count),
                     "Give --part auto: each then converts its part, and the last one joins them.");
}

bool joins_other_ranks(const ConvertRequest& options) {
  if (!options.part.empty()) return false;
  if (!trainer::launched_with_others()) {
    refuse_strangers();
    return false;
  }
  const unsigned rank = advised("--part auto needs no MPI: each process converts its part.",
                                [] { return trainer::world().rank(); });
  if (rank != 0) mute_notes();
  return true;
}

std::vector<Converted> convert_alone(const ConversionJob& job, const ConvertRequest& options) {
  std::vector<Converted> made;
  for (const ConversionJob::Split& split : job.splits) {
    Progress progress(fmt::format("{} {}", job.to.name(), split.name), "images");
    ConvertOptions settings = job.settings;
    settings.progress = progress.callback();
    const bool part = settings.part.count > 1;
    made.push_back({split.name, part ? part_path(split.out, settings.part) : split.out,
                    options.resume ? keep_or_convert(job, split, settings)
                                   : convert_dataset(job.from, job.inputs,
                                                     {job.to, split.out, split.name}, settings)});
  }
  return made;
}

// Says how many parts are left to the process whose part was not the last.
void note_missing(const std::vector<Converted>& made, const ConversionJob& job,
                  const Place& place) {
  for (std::size_t i = 0; i < made.size() && place.count > 1; ++i) {
    if (made[i].path == job.splits[i].out) continue;
    note(fmt::format("{}: part {} of {} is whole; the process that makes the last one joins them",
                     made[i].path.string(), place.number, place.count));
  }
}

/// Replaces URLs of datasets by the files that stand in for theirs while the result lives.
std::vector<UrlFiles> stand_ins(const Source& from, std::vector<fs::path>& inputs) {
  std::vector<UrlFiles> found;
  if (from.name() != "dataset") return found;
  for (fs::path& input : inputs) {
    if (url_scheme(input.native()).empty()) continue;
    input = found.emplace_back(files_of_url(input.native())).path;
  }
  return found;
}

int run_convert(ConvertRequest options) {
  if (!options.join.empty()) return run_join(options);
  const GracefulStop graceful;
  const Source& from = source(options.source);
  if (!options.boxes.empty() && !from.takes_boxes()) {
    throw Misused(fmt::format("{} does not take --boxes", from.name()));
  }
  if (!options.boxes.empty() && !container(options.format).holds_boxes()) {
    throw Error(fmt::format("{} holds no bounding boxes: leave out --boxes", options.format));
  }
  const std::vector<UrlFiles> remote = stand_ins(from, options.inputs);
  options.inputs.insert(options.inputs.end(), options.boxes.begin(), options.boxes.end());
  if (!options.labels.empty()) {
    if (!from.takes_labels()) {
      throw Misused(fmt::format("{} does not take --labels", from.name()));
    }
    if (options.inputs.size() != 1) throw Misused("--labels belongs to one archive or directory");
    if (!fs::is_regular_file(without_wishes(options.labels))) fail(options.labels, "is not a file");
    options.inputs.push_back(options.labels);
  }
  ConversionJob job{
      from, options.inputs, container(options.format), conversion_settings(options), {}};
  for (const std::string& split : wanted_splits(from, options)) {
    job.splits.push_back({split, options.split == "all" ? options.out / split : options.out});
  }
  const bool by_ranks = joins_other_ranks(options);
  const bool same_line = by_ranks || options.part == auto_part || options.resume;
  try {
    std::vector<Converted> made;
    if (by_ranks) {
      made = convert_by_ranks(job);
      if (made.empty()) return exit_done;  // the first rank tells
    } else if (options.part == auto_part) {
      const Place place = own_place();
      made = convert_own_part(job, place);
      note_missing(made, job, place);
    } else {
      made = convert_alone(job, options);
    }
    print_conversions({options.source, options.format}, made, options.json);
  } catch (const Stopped&) {
    note(fmt::format("stopped; '{}{}' goes on where it was", command_line(),
                     same_line ? "" : " --resume"));
    throw;
  } catch (const AnotherRankFailed&) {
    return exit_failed;
  }
  return exit_done;
}

std::function<int()> prepare_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertRequest>();
  const std::vector<CLI::Option*> operands = {
      add_argument(app, "SOURCE", source_row, options->source)
          ->description(fmt::format("Kind of input: {}", fmt::join(kind_names(sources()), ", "))),
      add_paths(
          app,
          app.add_option("INPUT", options->inputs, "Its files, or the directory that holds them"),
          {.paths = [options] { return wholly_read(*options); }}),
      add_option(app, format_row, options->format),
      add_output(app,
                 {.name = "--out",
                  .description = "Directory to create; must not exist",
                  .use = PathUse::creates},
                 options->out)};
  for (CLI::Option* operand : operands) operand->required();
  add_option(app, split_row, options->split);
  explain(app, operands[2], fmt::format("{}.", fmt::join(kind_names(containers()), ", ")));
  explain(app, add_option(app, encode_row, options->encoding),
          fmt::format("keep, or {}[:QUALITY].", fmt::join(encoder_names(), ", ")));
  add_option(app, resize_row, options->resize);
  CLI::Option* const boxes =
      add_input(app, "--boxes", options->boxes, "Bounding boxes: archives or directories of XML")
          ->type_name("FILE");
  add_input(app, "--labels", options->labels, "List of images and labels: text or CSV")
      ->type_name("FILE");
  app.add_flag("--no-boxes", options->no_boxes, "Leave out bounding boxes")->excludes(boxes);
  app.add_flag("--one-label", options->one_label, "Keep only the class of each line of --labels");
  add_option(app, fix_row, options->fix);
  add_option(app, on_bad_row, options->on_bad);
  app.add_flag("--no-check", options->no_check, "Don't check that copied JPEGs can be decoded");
  add_option(app,
             {.name = "shuffle", .unit = "SEED", .sentence = "Shuffle the images with this seed"},
             options->shuffle);
  add_option(app,
             {.name = "shards",
              .unit = "N",
              .sentence = "Number of output files",
              .detail = "More than one only if the format supports it.",
              .min = 1,
              .max = max_shards},
             options->shards);
  add_option(app, part_row, options->part);
  // Finished parts describe themselves: --join needs only their path, and takes nothing else.
  const auto set_join = [options, operands](const fs::path& path) {
    options->join = path;
    for (CLI::Option* operand : operands) operand->required(false);
  };
  CLI::Option* const join_option =
      app.add_option_function<fs::path>("--join", set_join, "Join the finished parts of PATH");
  add_paths(app, join_option, {.paths = [options] { return std::vector{options->join}; }})
      ->type_name("PATH");
  add_option(app, {.name = "limit", .unit = "N", .sentence = "Stop after N images", .min = 1},
             options->limit);
  app.add_flag("--gzip", options->gzip, "Compress whole files (tfrecord)");
  app.add_flag("--crops", options->crops, "Build a crop index too ('feedrate index --crops')");
  app.add_flag("--resume", options->resume, "Continue an interrupted conversion");
  add_threads(app, options->threads, "Encoding threads (default: all cores)");
  add_remote_options(app);
  for (CLI::Option* other : app.get_options()) {
    if (other != join_option && other != app.get_help_ptr() && other != app.get_help_all_ptr())
      join_option->excludes(other);
  }
  add_json(app, options->json);
  return [options] { return run_convert(*options); };
}

}  // namespace

extern const Command convert_command;
const Command convert_command{
    .name = "convert",
    .job = Job::data,
    .summary = "Convert a published dataset or a folder into one of the formats",
    .description =
        R"(Read the archives of a published dataset, a folder of images or a dataset, and write one of
the formats. The output is the same at any number of threads, and appears under its name
only when it is complete.)",
    .common =
        "--to --out --split --encode --resize --labels --shards --shuffle --threads --on-bad "
        "--resume --json",
    .details =
        R"(--out: The data is written to DIR.partial, which is renamed once it is complete and on disk. An
existing DIR is kept, and nothing is converted.
--encode: keep copies the original bytes.
--part: auto finds the part from the variables of a Slurm array or another launcher; the last
process to finish joins the parts. See 'feedrate help processes'.
--join: Together with --part I/N, divides a conversion by hand.
--resume: Finished shards are kept. Not needed with mpirun or --part auto, which always resume.)",
    .examples =
        R"(  feedrate convert mnist /usr/share/datasets/fashion-mnist --to lmdb --out fashion
  feedrate convert mnist archives --to recordio --encode png --split all --out data
  mpirun -n 4 feedrate convert imagenet ILSVRC2012_img_train.tar --to webdataset \
    --shards 1024 --out data/imagenet
)",
    .prepare = prepare_convert};

}  // namespace feedrate::tools
