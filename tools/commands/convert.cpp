#include "converters/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/command.h"
#include "tools/console.h"
#include "tools/help.h"
#include "tools/text.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source;
  std::vector<fs::path> inputs;
  std::string format;
  fs::path out;
  std::string split;
  std::string codec;
  unsigned threads = 0;
  std::uint64_t limit = 0;
  bool json = false;
};

struct Done {
  std::string split;
  fs::path path;
  Conversion result;
  double images_per_second() const {
    return result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : 0;
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

void print_result(const Options& options, const Codec& encoding, const std::vector<Done>& all) {
  if (options.json) {
    nlohmann::ordered_json splits = nlohmann::ordered_json::array();
    for (const Done& done : all) {
      splits.push_back({{"split", done.split},
                        {"path", done.path.string()},
                        {"samples", done.result.samples},
                        {"bytes", done.result.bytes},
                        {"seconds", rounded(done.result.seconds, 6)},
                        {"images_per_second", rounded(done.images_per_second(), 1)},
                        {"digest", done.result.digest.digest},
                        {"set_digest", done.result.digest.set_digest}});
    }
    const nlohmann::ordered_json object{{"source", options.source},
                                        {"format", options.format},
                                        {"codec", encoding.name()},
                                        {"splits", splits}};
    print(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  for (const Done& done : all) {
    print(fmt::format("{}: {} as {} × {}, {} in {} ({} images/s)\n  digest {}\n",
                      done.path.string(), counted(done.result.samples, "image"), options.format,
                      encoding.name(), bytes_text(done.result.bytes),
                      duration_text(done.result.seconds), quantity(done.images_per_second()),
                      done.result.digest.digest));
  }
}

int run(const Options& options) {
  const Source& from = source(options.source);
  const Container& to = container(options.format);
  const Codec& encoding = options.codec.empty() ? to.default_codec() : codec(options.codec);
  const bool all = options.split == "all";
  std::vector<Done> finished;
  for (const std::string& split : wanted_splits(from, options)) {
    const fs::path out = all ? options.out / split : options.out;
    Progress progress(fmt::format("{} {}", options.format, split), "images");
    const ConvertOptions settings{.codec = &encoding,
                                  .threads = options.threads,
                                  .limit = options.limit,
                                  .progress = progress.callback()};
    finished.push_back(
        {split, out, convert_dataset(from, options.inputs, split, to, out, settings)});
  }
  print_result(options, encoding, finished);
  return exit_done;
}

class ConvertCommand : public Command {
 public:
  ConvertCommand() : Command("convert", "Turns a published dataset into one of the formats") {}

  std::string_view description() const override {
    return "Reads a dataset in the packaging in which it is published and writes it in one of the\n"
           "formats. The samples, their order and the files are the same at any thread count. The\n"
           "dataset is made as PATH.partial and renamed once everything is on disk, so what "
           "stands\n"
           "under PATH is whole.";
  }
  std::string_view examples() const override {
    return "  feedrate convert mnist /usr/share/datasets/fashion-mnist --to lmdb --out fashion\n"
           "  feedrate convert mnist archives --to recordio --encode png --split all --out data\n";
  }
  std::string_view advice() const override {
    return "Nothing unfinished stands under a final name; 'feedrate convert --help' has examples.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    const std::string known_sources = fmt::format("{}", fmt::join(kind_names(sources()), ", "));
    const std::string known_formats = fmt::format("{}", fmt::join(kind_names(containers()), ", "));
    const std::string known_codecs = fmt::format("{}", fmt::join(kind_names(codecs()), ", "));
    app.add_option("SOURCE", options->source, "What is published: " + known_sources)->required();
    app.add_option("INPUT", options->inputs, "Its files, or the directory that holds them")
        ->required();
    app.add_option("--to", options->format, "Format to write: " + known_formats)
        ->type_name("FORMAT")
        ->required();
    app.add_option("--out", options->out, "Directory to make; it must not exist")
        ->type_name("PATH")
        ->required();
    app.add_option("--split", options->split,
                   "Part (default: the first); all makes PATH/train, PATH/test, …")
        ->type_name("NAME");
    app.add_option("--encode", options->codec,
                   "How pixels are kept: " + known_codecs + " (default: the format's)")
        ->type_name("CODEC");
    check_whole(app.add_option("--limit", options->limit, "Stop after so many images"), 1)
        ->type_name("N");
    add_threads(app, "--threads", options->threads, "Encoding threads (default: every core)");
    add_json(app, options->json);
    return [options] { return run(*options); };
  }
};

const ConvertCommand the_command;

}  // namespace

extern const Command& convert_command;
const Command& convert_command = the_command;

}  // namespace feedrate
