#include "formats/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/command.h"
#include "tools/console.h"
#include "tools/environment.h"
#include "tools/help.h"
#include "tools/text.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t findings_shown = 20;

struct Options {
  fs::path path;
  fs::path against;
  unsigned threads = 0;
  bool json = false;
};

struct Verified {
  std::unique_ptr<Dataset> dataset;
  Verification result;
};

struct Comparison {
  bool equal = false;
  bool same_set = false;
  std::optional<std::uint64_t> index;  // of the first sample that differs
  std::string sentence;
};

Verified verify_path(const fs::path& path, unsigned threads) {
  Verified verified{open_dataset(path), {}};
  Progress progress("verify " + path.string(), "images");
  verified.result = verify(*verified.dataset, threads, progress.callback());
  return verified;
}

std::string describe(const Dataset& dataset, std::uint64_t index) {
  Scratch scratch;
  const Sample sample = dataset.read(index, scratch);
  return fmt::format("label {}, {} × {} × {}", sample.label, sample.shape.height,
                     sample.shape.width, sample.shape.channels);
}

Comparison compare(const Verified& here, const Verified& there) {
  const auto& a = here.result.sample_digests;
  const auto& b = there.result.sample_digests;
  Comparison comparison{a == b,
                        here.result.digest.set_digest == there.result.digest.set_digest,
                        {},
                        "the same images, labels and order"};
  if (comparison.equal) return comparison;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto index = static_cast<std::uint64_t>(at - a.begin());
  comparison.index = index;
  if (at == a.end() || other == b.end()) {
    comparison.sentence = fmt::format("{} here, {} there; they agree as far as both go",
                                      counted(a.size(), "sample"), grouped(b.size()));
  } else {
    const std::string mine = describe(*here.dataset, index);
    const std::string theirs = describe(*there.dataset, index);
    comparison.sentence =
        mine == theirs ? fmt::format("sample {} differs in its pixels ({})", index, mine)
                       : fmt::format("sample {} differs: {} here, {} there", index, mine, theirs);
  }
  if (comparison.same_set) comparison.sentence += "; the images are the same in another order";
  return comparison;
}

std::string as_text(const Verified& verified) {
  const DatasetInfo& info = verified.dataset->info();
  const Verification& result = verified.result;
  std::string text =
      fmt::format("{}: {} × {}, {} read and decoded, {}\n", info.path.string(), info.format,
                  info.codec, counted(result.samples, "image"),
                  result.findings.empty() ? "sound" : counted(result.findings.size(), "finding"));
  for (std::size_t i = 0; i < std::min(findings_shown, result.findings.size()); ++i) {
    text += fmt::format("  {}: {}\n", result.findings[i].place, result.findings[i].problem);
  }
  if (result.findings.size() > findings_shown) {
    text +=
        fmt::format("  and {} more (--json lists all)\n", result.findings.size() - findings_shown);
  }
  if (!result.findings.empty()) return text;
  return text + fmt::format("  digest      {}\n  set digest  {}\n", result.digest.digest,
                            result.digest.set_digest);
}

ordered_json as_json(const Verified& verified) {
  const DatasetInfo& info = verified.dataset->info();
  const Verification& result = verified.result;
  const bool sound = result.findings.empty();
  ordered_json findings = ordered_json::array();
  for (const Finding& finding : result.findings) {
    findings.push_back({{"place", finding.place}, {"problem", finding.problem}});
  }
  return {{"path", info.path.string()},
          {"format", info.format},
          {"codec", info.codec},
          {"samples", result.samples},
          {"digest", sound ? ordered_json(result.digest.digest) : ordered_json(nullptr)},
          {"set_digest", sound ? ordered_json(result.digest.set_digest) : ordered_json(nullptr)},
          {"class_counts", result.class_counts},
          {"findings", findings}};
}

int run(const Options& options) {
  const unsigned threads = options.threads > 0 ? options.threads : usable_cores();
  const Verified here = verify_path(options.path, threads);
  ordered_json object = as_json(here);
  std::string text = as_text(here);
  bool sound = here.result.findings.empty();
  if (!options.against.empty()) {
    const Verified there = verify_path(options.against, threads);
    const Comparison comparison = compare(here, there);
    sound = sound && there.result.findings.empty() && comparison.equal;
    object["against"] = as_json(there);
    object["equal"] = comparison.equal;
    object["same_set"] = comparison.same_set;
    object["first_difference"] =
        comparison.index ? ordered_json(*comparison.index) : ordered_json(nullptr);
    text += as_text(there);
    text += comparison.equal ? "Equal: " : "NOT equal: ";
    text += comparison.sentence + ".\n";
  }
  print(options.json ? object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"
                     : text);
  return sound ? exit_done : exit_failed;
}

class VerifyCommand : public Command {
 public:
  VerifyCommand()
      : Command("verify", "Decodes every image, prints the digest, compares datasets") {}

  std::string_view description() const override {
    return "Reads, checks and decodes every sample of a dataset and prints its content digest, "
           "which\n"
           "depends on labels, sizes and pixels alone: two datasets with equal digests hold the "
           "same\n"
           "images in the same order, whatever their formats. Exits with 1 when a sample is "
           "damaged\n"
           "or the two datasets differ.";
  }
  std::string_view examples() const override {
    return "  feedrate verify data/lmdb/train\n"
           "  feedrate verify data/lmdb/train --against data/png-map/train\n";
  }
  std::string_view advice() const override {
    return "A dataset is a directory made by 'feedrate convert', or a bare file of its format.";
  }

  std::function<int()> prepare(CLI::App& app) const override {
    auto options = std::make_shared<Options>();
    app.add_option("PATH", options->path, "The dataset")->required();
    app.add_option("--against", options->against, "Compare with this one, and name what differs")
        ->type_name("PATH");
    add_threads(app, "--threads", options->threads, "Decoding threads (default: every core)");
    add_json(app, options->json);
    return [options] { return run(*options); };
  }
};

const VerifyCommand the_command;

}  // namespace

extern const Command& verify_command;
const Command& verify_command = the_command;

}  // namespace feedrate
