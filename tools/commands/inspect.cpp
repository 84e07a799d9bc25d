#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "formats/contact_sheet.h"
#include "formats/dataset.h"
#include "formats/file.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/help.h"
#include "tools/text.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Options {
  fs::path path;
  std::uint64_t samples = 5;
  fs::path sheet;
  bool json = false;
};

constexpr std::uint64_t sheet_samples = 100;
constexpr unsigned sheet_columns = 10;

/// A sample as it is told of; nothing of it refers to the reader's scratch.
struct Line {
  std::uint64_t index;
  std::int32_t label;
  std::string name;
  Shape shape;
  std::size_t bytes;
};

std::vector<Line> first_samples(const Dataset& dataset, std::uint64_t count) {
  Scratch scratch;
  std::vector<Line> lines;
  for (std::uint64_t i = 0; i < std::min(count, dataset.size()); ++i) {
    const Sample sample = dataset.read(i, scratch);
    lines.push_back({i, sample.label, std::string(sample.name), sample.shape, sample.bytes.size()});
  }
  return lines;
}

std::string shape_text(Shape shape) {
  return fmt::format("{} × {} × {}", shape.height, shape.width, shape.channels);
}

std::string class_text(const Sidecar& sidecar, std::int32_t label) {
  const auto index = static_cast<std::size_t>(label);
  const std::vector<std::string>& names = sidecar.class_names.names;
  return label >= 0 && index < names.size() ? " " + names[index] : "";
}

std::string as_text(const DatasetInfo& info, std::uint32_t classes,
                    const std::vector<Line>& lines) {
  const Sidecar none;
  const Sidecar& sidecar = info.sidecar ? *info.sidecar : none;
  std::string text = fmt::format(
      "path     {}\nformat   {} × {}\nimages   {}, the first {} (height × width × channels)\n"
      "classes  {}\n",
      info.path.string(), info.format, info.codec, grouped(info.size), shape_text(info.shape),
      classes);
  if (info.sidecar) {
    text += fmt::format("source   {}, {}\ndigest   {}\n", sidecar.source, sidecar.split,
                        sidecar.digest);
  }
  for (const Line& line : lines) {
    text += fmt::format("  {:>6}  label {}{}, {}, {}{}\n", line.index, line.label,
                        class_text(sidecar, line.label), shape_text(line.shape),
                        bytes_text(line.bytes), line.name.empty() ? "" : ", " + line.name);
  }
  return text;
}

ordered_json as_json(const DatasetInfo& info, std::uint32_t classes,
                     const std::vector<Line>& lines) {
  const auto shape_json = [](Shape shape) {
    return ordered_json{
        {"height", shape.height}, {"width", shape.width}, {"channels", shape.channels}};
  };
  ordered_json object{
      {"path", info.path.string()}, {"format", info.format},           {"codec", info.codec},
      {"samples", info.size},       {"shape", shape_json(info.shape)}, {"classes", classes}};
  const bool known = info.sidecar.has_value();
  object["class_names"] =
      known ? ordered_json(info.sidecar->class_names.names) : ordered_json(nullptr);
  object["source"] = known ? ordered_json(info.sidecar->source) : ordered_json(nullptr);
  object["split"] = known ? ordered_json(info.sidecar->split) : ordered_json(nullptr);
  object["digest"] = known ? ordered_json(info.sidecar->digest) : ordered_json(nullptr);
  object["first"] = ordered_json::array();
  for (const Line& line : lines) {
    object["first"].push_back({{"index", line.index},
                               {"label", line.label},
                               {"name", line.name},
                               {"shape", shape_json(line.shape)},
                               {"bytes", line.bytes}});
  }
  return object;
}

void write_sheet(const Dataset& dataset, const fs::path& file) {
  const Image sheet = contact_sheet(dataset, sheet_samples, sheet_columns);
  Buffer png;
  png_codec.encode(sheet, png);
  write_text(file, {reinterpret_cast<const char*>(png.data()), png.size()});
  note(fmt::format("wrote {}", file.string()));
}

int run(const Options& options) {
  const std::unique_ptr<Dataset> dataset = open_dataset(options.path);
  const std::uint32_t classes = count_classes(*dataset);
  const std::vector<Line> lines = first_samples(*dataset, options.samples);
  if (!options.sheet.empty()) write_sheet(*dataset, options.sheet);
  if (options.json) {
    const ordered_json object = as_json(dataset->info(), classes, lines);
    print(object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  } else {
    print(as_text(dataset->info(), classes, lines));
  }
  return exit_done;
}

class InspectCommand : public Command {
 public:
  InspectCommand() : Command("inspect", "Tells what a dataset holds and shows its images") {}

  std::string_view description() const override {
    return "Opens a dataset of any format, ours or another tool's, and tells what it holds: "
           "format,\n"
           "codec, number of images, their size, classes and the first samples. --sheet draws the\n"
           "first hundred with their labels.";
  }
  std::string_view examples() const override {
    return "  feedrate inspect data/lmdb/train --samples 3\n"
           "  feedrate inspect data/lmdb/train --sheet sheet.png\n";
  }
  std::string_view advice() const override {
    return "A dataset is a directory made by 'feedrate convert', or a bare file of its format.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    app.add_option("PATH", options->path, "The dataset")->required();
    check_whole(
        app.add_option("--samples", options->samples, "How many of the first samples to list"), 0)
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--sheet", options->sheet, "Draw the first 100 images and labels as a PNG")
        ->type_name("FILE")
        ->group("Output");
    add_json(app, options->json);
    return [options] { return run(*options); };
  }
};

const InspectCommand the_command;

}  // namespace

extern const Command& inspect_command;
const Command& inspect_command = the_command;

}  // namespace feedrate
