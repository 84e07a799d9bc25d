#include "formats/verify/verify.h"
#include "formats/base/cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "formats/base/error.h"
#include "formats/inspect/compare.h"
#include "formats/remote/url.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/signals.h"
#include "tools/console/text.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"
#include "tools/program/cli/remote_options.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t findings_shown = 20;

struct VerifyRequest {
  fs::path path;
  fs::path against;
  unsigned threads = 0;
  bool json = false;
};

struct Verified {
  std::unique_ptr<Dataset> dataset = nullptr;
  DatasetInfo info = {};
  Verification result = {};
};

Verified verify_path(const fs::path& path, unsigned threads) {
  Verified verified{.dataset = open_as_found(path)};
  verified.info = verified.dataset->info();
  Progress progress("verify " + without_secrets(path.native()), "images");
  verified.result = verify(*verified.dataset, threads, progress.callback());
  return verified;
}

std::string describe(const Dataset& dataset, std::uint64_t index) {
  try {
    Scratch scratch;
    const Sample sample = dataset.read(index, scratch);
    return fmt::format("label {}, {}", sample.label, shape_text(sample.shape));
  } catch (const Error&) {
    return "damaged";  // reported among the findings
  }
}

// "sample 7 differs: label 3, 28 × 28 × 1 here, label 5, 28 × 28 × 1 there"
std::string first_difference(const Verified& here, const Verified& there, std::uint64_t index) {
  const std::uint64_t ours = here.dataset->size();
  const std::uint64_t theirs = there.dataset->size();
  if (index >= std::min(ours, theirs)) {
    return fmt::format("{} here, {} there; they agree as far as both go", counted(ours, "sample"),
                       grouped(theirs));
  }
  const auto decoded = [&](const Verified& verified) {
    return verified.result.sample_digests[index] != Sha256{};
  };
  if (!decoded(here) || !decoded(there)) return fmt::format("sample {} is damaged", index);
  const std::string mine = describe(*here.dataset, index);
  const std::string other = describe(*there.dataset, index);
  if (mine == other) return fmt::format("sample {} differs in its pixels ({})", index, mine);
  return fmt::format("sample {} differs: {} here, {} there", index, mine, other);
}

std::string comparison_text(const Verified& here, const Verified& there,
                            const formats::Comparison& comparison) {
  if (comparison.equal()) return "Equal: the same images, labels and order.\n";
  std::string text =
      fmt::format("NOT equal: {}.\n", first_difference(here, there, comparison.first.value()));
  if (comparison.same_set()) {
    return text + fmt::format("  {} out of place: the images are the same in another order\n",
                              counted(comparison.different, "position"));
  }
  text += fmt::format("  {} not the same\n", counted(comparison.different, "position"));
  const auto absent = [&](std::uint64_t count, const std::optional<std::uint64_t>& first,
                          const Verified& owner, std::string_view where) {
    if (count == 0) return;
    text += fmt::format("  {} only {}, the first is {} ({})\n", counted(count, "sample"), where,
                        *first, describe(*owner.dataset, *first));
  };
  absent(comparison.missing, comparison.first_missing, here, "here");
  absent(comparison.extra, comparison.first_extra, there, "there");
  return text;
}

std::string list_text(std::string_view title, const std::vector<Finding>& list) {
  std::string text = list.empty() ? "" : fmt::format("  {}\n", title);
  for (std::size_t i = 0; i < std::min(findings_shown, list.size()); ++i) {
    text += fmt::format("    {}: {}\n", list[i].place, list[i].problem);
  }
  if (list.size() > findings_shown) {
    text += fmt::format("    and {} more (--json lists them)\n", list.size() - findings_shown);
  }
  return text;
}

std::string verified_classes_text(const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint64_t> held;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(held),
               [](std::uint64_t count) { return count > 0; });
  const auto [fewest, most] = std::minmax_element(held.begin(), held.end());
  if (held.empty()) return "none";
  return *fewest == *most
             ? fmt::format("{}, {} each", grouped(held.size()), counted(*most, "image"))
             : fmt::format("{}, {} … {} images each", grouped(held.size()), grouped(*fewest),
                           grouped(*most));
}

std::vector<std::string> codec_names(const Verification& result) {
  std::vector<std::string> names;
  for (const auto& [name, samples] : result.codecs) names.push_back(name);
  return names;
}

// A folder is read in another order than that in which it was written, if that is known.
std::string digests_text(const Verification& result) {
  const bool known = !result.written_digest.empty();
  const bool as_written = result.written_digest == result.digest.digest;
  std::string text = fmt::format("  digest        {}{}\n", result.digest.digest,
                                 as_written ? "" : " as read: class by class");
  if (!as_written && known) {
    text += fmt::format("                {} as written\n", result.written_digest);
  }
  return text + fmt::format("  set digest    {}\n  bytes digest  {}{}\n", result.digest.set_digest,
                            known ? result.written_bytes_digest : result.bytes_digest,
                            as_written ? ""
                            : known    ? " as written"
                                       : " as read");
}

std::string verified_text(const Verified& verified) {
  const DatasetInfo& info = verified.info;
  const Verification& result = verified.result;
  std::string text =
      fmt::format("{}: {} × {}, {} read and decoded, {}\n", shown_path(info.path), info.format,
                  fmt::join(codec_names(result), " and "), counted(result.samples, "image"),
                  !result.findings.empty() ? counted(result.findings.size(), "finding")
                  : result.complete        ? "sound"
                                           : "no damage so far");
  if (!result.complete) {
    text += fmt::format("  stopped after {} of {}; the rest was not checked\n",
                        grouped(result.looked_at), counted(info.size, "image"));
  }
  text += list_text("findings", result.findings) + list_text("notes", result.notes);
  text += fmt::format("  classes       {}\n", verified_classes_text(result.class_counts));
  if (result.digest.digest.empty()) return text;
  return text + digests_text(result);
}

/// Of one dataset or of two; compared where both were verified to their ends.
struct Answer {
  Verified here = {};
  std::optional<Verified> there = {};
  std::optional<formats::Comparison> comparison = {};

  bool sound() const {
    return here.result.findings.empty() && (!there || there->result.findings.empty()) &&
           (!comparison || comparison->equal());
  }
};

}  // namespace

template <>
inline constexpr Heading heading_of<Finding>{"finding", "What is wrong, or worth knowing."};

template <class Field>
void for_each_field(const Finding& finding, const Field& field) {
  field("place", finding.place, {"sample, file, offset"});
  field("problem", finding.problem, {"what is wrong, expected and found"});
}

template <>
inline constexpr Heading heading_of<Verified>{"verified", "What was found of a dataset."};

template <class Field>
void for_each_field(const Verified& verified, const Field& field) {
  constexpr std::string_view not_decoded = "a sample could not be decoded";
  const Verification& result = verified.result;
  field("path", shown_path(verified.info.path), {"the dataset as given"});
  field("format", verified.info.format, {"its container"});
  field("codec", fmt::format("{}", fmt::join(codec_names(result), ",")),
        {"codecs of its samples, joined by commas"});
  field("complete", result.complete,
        {"false: interrupted; counts are of what was read until then, and digests are null"});
  field("samples", result.samples, {"read and decoded without a finding"});
  field("digest", unless_empty(result.digest.digest),
        {"of labels and pixels in order", Unit{sha256_unit}, Null{not_decoded}});
  field("set_digest", unless_empty(result.digest.set_digest),
        {"of labels and pixels, whatever the order", Unit{sha256_unit}, Null{not_decoded}});
  field("bytes_digest", unless_empty(result.bytes_digest),
        {"of the samples as they are stored", Unit{sha256_unit}, Null{not_decoded}});
  field("details_digest", unless_empty(result.details_digest),
        {"32 hex digits: of the names, boxes and further labels beside the images",
         Null{"nothing is stored beside them, or it has checksums; or a sample could not be "
              "decoded"}});
  field("written_digest", unless_empty(result.written_digest),
        {"`digest` in the order of writing, as `convert` and `inspect` show it; another one for a "
         "`folder` alone",
         Unit{sha256_unit}, Null{"a sample could not be decoded, or the order is not known"}});
  field("written_bytes_digest", unless_empty(result.written_bytes_digest),
        {"`bytes_digest` in the order of writing", Unit{sha256_unit},
         Null{"a sample could not be decoded, or the order is not known"}});
  field("class_counts", result.class_counts, {"samples of each label, from 0"});
  field("findings", result.findings,
        {"what is wrong; empty if the dataset is sound. With a finding, the exit code is 1"});
  field("notes", result.notes, {"worth knowing but not wrong: repeated images, …"});
}

template <>
inline constexpr Heading heading_of<Answer>{
    "verify", "What `feedrate verify` prints, even if it exits with 1 because of findings."};

template <class Field>
void for_each_field(const Answer& answer, const Field& field) {
  constexpr std::string_view alone = "no `--against`, or a verification was interrupted";
  const auto compared = [&](auto value_of) {  // of what may be empty itself, too
    using Found = decltype(value_of(*answer.comparison));
    return answer.comparison ? std::optional<Found>(std::in_place, value_of(*answer.comparison))
                             : std::optional<Found>();
  };
  for_each_field(answer.here, field);
  field("against", answer.there, {"the same keys for the other dataset", Absent{"no `--against`"}});
  field("equal", compared([](const formats::Comparison& found) { return found.equal(); }),
        {"the same images, labels and order; false makes the exit code 1", Absent{alone}});
  field("same_set", compared([](const formats::Comparison& found) { return found.same_set(); }),
        {"the same images and labels in any order", Absent{alone}});
  field("first_difference", compared([](const formats::Comparison& found) { return found.first; }),
        {"index of the first sample that differs", Null{"they are equal"}, Absent{alone}});
  field("different", compared([](const formats::Comparison& found) { return found.different; }),
        {"positions whose samples differ, or that only one has", Absent{alone}});
  field("missing", compared([](const formats::Comparison& found) { return found.missing; }),
        {"samples that only `path` has", Absent{alone}});
  field("extra", compared([](const formats::Comparison& found) { return found.extra; }),
        {"samples that only the other has", Absent{alone}});
}

Description describe_verify() { return description_of(Answer{}); }

namespace {

int run_verify(const VerifyRequest& options) {
  const GracefulStop graceful;
  const unsigned threads = options.threads > 0 ? options.threads : usable_cores();
  Answer answer{.here = verify_path(options.path, threads)};
  const Verified& here = answer.here;
  std::string text = verified_text(here);
  if (!options.against.empty() && here.result.complete) {
    const Verified& there = answer.there.emplace(verify_path(options.against, threads));
    text += verified_text(there);
    if (there.result.complete) {
      answer.comparison = formats::compare(here.result.sample_digests, there.result.sample_digests);
      text += comparison_text(here, there, *answer.comparison);
    }
  }
  print(options.json ? json_text_of(answer) : text);
  return answer.sound() ? exit_done : exit_failed;
}

std::function<int()> prepare_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyRequest>();
  add_input(app, "PATH", options->path, "Dataset, or its URL")->required();
  add_input(app, "--against", options->against, "Dataset to compare with; differences are shown")
      ->type_name("PATH");
  add_threads(app, options->threads, "Decoding threads (default: all cores)");
  add_remote_options(app);
  add_json(app, options->json);
  return [options] { return run_verify(*options); };
}

}  // namespace

extern const Command verify_command;
const Command verify_command{
    .name = "verify",
    .job = Job::data,
    .summary = "Decode every image and compare datasets",
    .description =
        R"(Decode every sample of a dataset and print its digest, which depends only on labels, sizes
and pixels: equal digests mean the same images in the same order, whatever the format.
Exits with 1 if a sample is damaged or the datasets differ.)",
    .examples = R"(  feedrate verify data/lmdb/train
  feedrate verify data/lmdb/train --against data/png-map/train
)",
    .prepare = prepare_verify};

}  // namespace feedrate::tools
