#include "formats/means/mean.h"
#include "formats/base/cores.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "formats/means/mean_format.h"
#include "formats/remote/url.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"
#include "tools/program/commands/shape_fields.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr double brightest = 255;

struct MeanRequest {
  fs::path path;
  fs::path out;
  unsigned threads = 0;
  bool json = false;
};

/// Of a dataset, or of a mean image in a file.
struct Means {
  MeanRequest options;
  DatasetMeans means = {};
  bool is_dataset = true;  // else the deviations and the number of images are unknown
  std::optional<MeanLayout> layout = {};  // of the file written
};

// All layouts of a grey image are the same.
std::string order_text(const Means& found) {
  return found.means.channels == 1 ? "grey" : std::string(layout_text(*found.layout));
}

Means measure_means(const MeanRequest& options) {
  const std::unique_ptr<Dataset> dataset = open_dataset(options.path);
  Means found{.options = options};
  if (!options.out.empty()) found.layout = mean_layout_for(mean_format(options.out), *dataset);
  const unsigned threads = options.threads > 0 ? options.threads : usable_cores();
  Progress progress("mean " + without_secrets(options.path.native()), "images");
  found.means = dataset_means(*dataset, threads, progress.callback());
  return found;
}

Means convert(const MeanRequest& options) {
  Means found{.options = options};
  found.is_dataset = false;
  found.means.mean_image = read_mean(options.path);
  found.means.channels = found.means.mean_image->shape.channels;
  found.means.mean = channel_means(*found.means.mean_image);
  if (!options.out.empty()) found.layout = mean_format(options.out).layout();
  return found;
}

std::string channel_name(std::uint32_t channels, std::size_t channel) {
  if (channels == 1) return "grey";
  return std::array{"red", "green", "blue"}[channel];
}

std::string mean_text(const Means& found) {
  const DatasetMeans& means = found.means;
  std::string text = without_secrets(found.options.path.native()) + ": ";
  text += found.is_dataset ? counted(means.images, "image") : "a mean image";
  if (means.mean_image) {
    text += fmt::format(", {} (height × width × channels)\n", shape_text(means.mean_image->shape));
  } else {
    text += " of several sizes\n";
  }
  const auto line = [&](std::string_view name, const std::array<std::string, 4>& cells) {
    text += fmt::format("  {:<7} {:<11}", name, cells[0]);
    if (found.is_dataset) text += fmt::format("{:<13}", cells[1]);
    text += fmt::format("{:<11}{}\n", cells[2], found.is_dataset ? cells[3] : "");
  };
  line("", {"0 … 1", "", "0 … 255", ""});
  line("", {"mean", "deviation", "mean", "deviation"});
  for (std::size_t c = 0; c < means.channels; ++c) {
    const auto number = [](double value, int digits) {
      return fmt::format("{:.{}f}", value, digits);
    };
    line(channel_name(means.channels, c),
         {number(means.mean[c] / brightest, 6), number(means.deviation[c] / brightest, 6),
          number(means.mean[c], 4), number(means.deviation[c], 4)});
  }
  return text;
}

/// Of each channel.
std::vector<double> divided(const DatasetMeans& means, const std::array<double, 3>& values,
                            double scale) {
  std::vector<double> list;
  for (std::size_t c = 0; c < means.channels; ++c) list.push_back(values[c] / scale);
  return list;
}

}  // namespace

template <>
inline constexpr Heading heading_of<Means>{"mean", "What `feedrate mean` prints."};

template <class Field>
void for_each_field(const Means& found, const Field& field) {
  constexpr std::string_view mean_image = "`path` is a mean image";
  constexpr std::string_view no_file = "without `--out`";
  const DatasetMeans& means = found.means;
  const auto deviation = [&](double scale) {
    return only_if(found.is_dataset, divided(means, means.deviation, scale));
  };
  field("path", without_secrets(found.options.path.native()),
        {"the dataset or mean image as given"});
  field("images", only_if(found.is_dataset, means.images), {"in the dataset", Null{mean_image}});
  field("shape", means.mean_image ? std::optional(means.mean_image->shape) : std::nullopt,
        {"of the mean image", Null{"images have several sizes"}});
  field("mean", divided(means, means.mean, 1), {"of each channel, 0 … 255"});
  field("deviation", deviation(1),
        {"standard deviation of each channel, 0 … 255", Null{mean_image}});
  field("unit_mean", divided(means, means.mean, brightest), {"of each channel, 0 … 1"});
  field("unit_deviation", deviation(brightest),
        {"standard deviation of each channel, 0 … 1", Null{mean_image}});
  field("file", only_if(found.layout.has_value(), found.options.out.string()),
        {"the mean image written", Null{no_file}});
  field("layout", found.layout ? std::optional(order_text(found)) : std::nullopt,
        {"order of its values: `planes B, G, R`, `grey`, …", Null{no_file}});
}

Description describe_mean() { return description_of(Means{}); }

namespace {

int run_mean(const MeanRequest& options) {
  const GracefulStop graceful;
  const Means found =
      mean_format_of(options.path) != nullptr ? convert(options) : measure_means(options);
  if (found.layout) {
    if (!found.means.mean_image) {
      fail(options.path, "the images have several sizes, so there is no mean image to write");
    }
    write_mean(options.out, *found.means.mean_image, found.layout);
    note(fmt::format("wrote {}: {}, {}", options.out.string(), mean_format(options.out).name(),
                     order_text(found)));
  }
  print(options.json ? json_text_of(found) : mean_text(found));
  return exit_done;
}

std::function<int()> prepare_mean(CLI::App& app) {
  auto options = std::make_shared<MeanRequest>();
  add_input(app, "PATH", options->path, "Dataset, its URL, or a mean image")->required();
  std::string extensions;
  for (const MeanFormat* format : mean_formats()) {
    extensions += fmt::format("{}{}", extensions.empty() ? "" : ", ", format->extension());
  }
  add_output(app, {.name = "--out", .description = "Write the mean image: " + extensions},
             options->out);
  app.callback([options] {
    if (!options->out.empty()) mean_format(options->out);
  });
  add_threads(app, options->threads, "Decoding threads (default: all cores)");
  add_remote_options(app);
  add_json(app, options->json);
  return [options] { return run_mean(*options); };
}

}  // namespace

extern const Command mean_command;
const Command mean_command{
    .name = "mean",
    .job = Job::data,
    .summary = "Compute the mean image and the mean of each channel",
    .description =
        R"(Decode every image of a dataset and print the exact mean and standard deviation of each
channel, the same at any number of threads. If PATH is a mean image, convert it.)",
    .details = R"(--out: For Caffe, CNTK or MXNet. All images must have the same size.)",
    .examples = R"(  feedrate mean data/lmdb/train
  feedrate mean data/lmdb/train --out mean.binaryproto
  feedrate mean mean.binaryproto --out mean.nd
)",
    .prepare = prepare_mean};

}  // namespace feedrate::tools
