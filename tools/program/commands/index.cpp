#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/crops/crop_index.h"
#include "formats/io/replace.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct IndexRequest {
  std::filesystem::path path;
  bool crops = false;
  unsigned threads = 0;
  bool json = false;
};

struct MadeCrops {
  MadeCropIndex made;
  double seconds = 0;

  double images_per_second() const {
    return seconds > 0 ? static_cast<double>(made.samples) / seconds : 0;
  }
};

struct Indexed {
  std::string path;
  std::string format;
  std::vector<std::string> files;
  std::optional<MadeCrops> crops;
};

}  // namespace

template <class Field>
void for_each_field(const MadeCrops& crops, const Field& field) {
  const MadeCropIndex& made = crops.made;
  field("samples", made.samples, {"in the dataset"});
  field("indexed", made.indexed, {"samples with an entry"});
  field("unreadable", made.unreadable, {"damaged samples, which got no entry"});
  field("bytes", made.bytes, {"of the index"});
  field("sample_bytes", made.sample_bytes, {"of the encoded images"});
  field("seconds", crops.seconds, {"that it took", Unit{"s"}, Digits{6}});
  field("images_per_second", crops.images_per_second(),
        {"`samples` / `seconds`", Unit{"images/s"}, Digits{1}});
}

template <>
inline constexpr Heading heading_of<Indexed>{"index", "What `feedrate index` prints."};

template <class Field>
void for_each_field(const Indexed& indexed, const Field& field) {
  field("path", indexed.path, {"the dataset as given"});
  field("format", indexed.format, {"its container"});
  field("files", indexed.files, {"index files written"});
  field("crops", indexed.crops, {"the crop index", Null{"without `--crops`"}});
}

Description describe_index() { return description_of(Indexed{}); }

namespace {

int index_crops(const IndexRequest& options) {
  const GracefulStop graceful;
  expect_local(options.path);
  const std::filesystem::path file = replaceable(crop_index_file(options.path));
  const std::unique_ptr<Dataset> dataset = open_dataset(options.path);
  const unsigned threads = options.threads == 0 ? usable_cores() : options.threads;
  Progress progress("index " + options.path.string(), "images");
  const auto start = std::chrono::steady_clock::now();
  const MadeCropIndex made = make_crop_index(*dataset, file, threads, progress.callback());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const MadeCrops crops{made, taken.count()};
  if (made.unreadable > 0) {
    warn(fmt::format("{} cannot be read and got no entry; 'feedrate verify' names them",
                     counted(made.unreadable, "sample")));
  }
  if (options.json) {
    print(json_text_of(
        Indexed{options.path.string(), dataset->info().format, {file.string()}, crops}));
    return exit_done;
  }
  print(fmt::format("{}: {} of {} indexed, {} ({:.2f} % of the images' {}), {} images/s\n",
                    file.string(), grouped(made.indexed), counted(made.samples, "image"),
                    bytes_text(made.bytes),
                    100 * static_cast<double>(made.bytes) / static_cast<double>(made.sample_bytes),
                    bytes_text(made.sample_bytes), quantity(crops.images_per_second())));
  return exit_done;
}

int run_index(const IndexRequest& options) {
  if (options.crops) return index_crops(options);
  const Container& container = container_at(options.path);
  Indexed indexed{options.path.string(), std::string(container.name()), {}, {}};
  std::string text;
  for (const std::filesystem::path& file : container.write_index(options.path)) {
    indexed.files.push_back(file.string());
    text += file.string() + "\n";
  }
  print(options.json ? json_text_of(indexed) : text);
  // The index is right for the data that are there; it must not make them look whole.
  expect_whole(open_as_found(options.path)->info());
  return exit_done;
}

std::function<int()> prepare_index(CLI::App& app) {
  auto options = std::make_shared<IndexRequest>();
  add_input(app, "PATH", options->path, "Dataset: its directory, or one of its files")->required();
  CLI::Option* crops = app.add_flag("--crops", options->crops,
                                    "Build a crop index, which speeds up decoding of crops");
  add_threads(app, options->threads, "Threads of --crops (default: all cores)")->needs(crops);
  add_json(app, options->json);
  return [options] { return run_index(*options); };
}

}  // namespace

extern const Command index_command;
const Command index_command{
    .name = "index",
    .job = Job::data,
    .summary = "Rebuild index files, or build a crop index",
    .description =
        R"(Write the .idx file of every .rec, TFRecord file or tar of a dataset, replacing it if it is
stale or damaged, and print its name. MXNet and DALI need these files; without them,
Feedrate scans all records when it opens the dataset.)",
    .details =
        R"(--crops: Writes feedrate.crops into the dataset's directory, or NAME.crops beside a dataset that is a
single file. With it, load and train decode little more of a baseline JPEG than its crop; pixels do
not change. It takes at most 2.8 % of the JPEGs' bytes. Build it again when the data changes.)",
    .examples = R"(  feedrate index train.rec
  feedrate index data/imagenet --crops
  feedrate index data/tfrecord/train
)",
    .prepare = prepare_index};

}  // namespace feedrate::tools
