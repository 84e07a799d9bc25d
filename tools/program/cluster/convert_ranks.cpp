#include "tools/program/cluster/convert_ranks.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "converters/pipeline/describe_conversion.h"
#include "converters/pipeline/join.h"
#include "converters/pipeline/journal.h"
#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/io/partial_directory.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;
using trainer::world;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view marker_name = "job";

std::string this_rank() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return join("rank ", world().rank(), " of ", world().ranks(), " on ", host.data());
}

/// What `work` says went wrong; "" if nothing did.
template <class Work>
std::string problem_of(const Work& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return error.what();
  } catch (const fs::filesystem_error& error) {
    return error.what();
  }
}

/// Ends the job on every rank if one of them has a problem. Every rank calls it.
void agree(const std::string& problem) {
  double failed = problem.empty() ? 0 : 1;
  world().wait_for_all();
  world().sum({&failed, 1});
  if (failed == 0) return;
  world().close();
  if (problem.empty()) throw AnotherRankFailed();
  throw Error(problem);
}

/// What all ranks must see alike: options, inputs and how many images they hold.
std::vector<std::string> view_of(const ConversionJob& job) {
  std::vector<std::string> lines;
  for (const ConversionJob::Split& split : job.splits) {
    for (std::string& line :
         common_purpose(purpose_of(job.from, job.inputs, {job.to, {}, split.name}, job.settings))) {
      lines.push_back(std::move(line));
    }
    const std::uint64_t images = job.from.open(job.inputs, split.name)->info().size;
    if (images != 0) lines.push_back(join(images, " images of ", split.name));
  }
  return lines;
}

/// What the first rank decides. It holds the lock of every output from before the first piece until
/// all are joined, so that a second job is refused at once.
class Plan {
 public:
  explicit Plan(const ConversionJob& job) : job_(job) {
    std::string text;
    if (world().rank() == 0) {
      const std::string problem = problem_of([&] { text = decide(); });
      if (!problem.empty()) text = json{{"problem", problem}}.dump(-1, ' ', true, replaced);
    }
    const json shared = json::parse(world().of_first(text));
    if (shared.contains("problem")) {
      const auto said = shared.at("problem").get<std::string>();
      agree(world().rank() == 0 ? said : "");
    }
    pieces = shared.at("pieces");
    token_ = shared.at("token");
    shared.at("open").get_to(open);
    agree(problem_of([&] { compare(shared.at("view").get<std::vector<std::string>>()); }));
  }

  /// First rank: makes the dataset of a split from its pieces.
  Conversion join_split(std::size_t split) {
    PartialDirectory& directory = *locks_.at(split);
    fs::remove(directory.path() / marker_name);
    return join_parts(directory);
  }

  std::uint32_t pieces = 0;
  std::vector<std::size_t> open;   // the splits that are not yet whole
  std::vector<Converted> earlier;  // first rank: those that are

 private:
  static constexpr auto replaced = json::error_handler_t::replace;

  std::string decide() {
    pieces = count_pieces(job_, world().ranks());
    token_ = std::to_string(std::random_device()());
    for (std::size_t i = 0; i < job_.splits.size(); ++i) {
      const auto& [name, out] = job_.splits[i];
      locks_.emplace_back();
      if (auto whole =
              finished_conversion(job_.from, job_.inputs, {job_.to, out, name}, job_.settings)) {
        earlier.push_back({name, out, *std::move(whole)});
        continue;
      }
      locks_.back() = std::make_unique<PartialDirectory>(out);
      write_text(locks_.back()->path() / marker_name, token_);
      open.push_back(i);
    }
    const json plan{{"pieces", pieces}, {"token", token_}, {"open", open}, {"view", view_of(job_)}};
    return plan.dump(-1, ' ', true, replaced);
  }

  // Throws Error where this rank sees other inputs or another output than the first.
  void compare(const std::vector<std::string>& view) const {
    const std::string other = problem_of([&] {
      const auto lines = first_difference(view, view_of(job_));
      if (lines) {
        throw Error(join("sees '", lines->second, "', expected '", lines->first,
                         "', as rank 0 does; all ranks need the same files and options"));
      }
    });
    if (!other.empty()) throw Error(join(this_rank(), ": ", other));
    for (const std::size_t split : open) {
      fs::path partial = without_slash(job_.splits[split].out);
      partial += ".partial";
      if (!sees_token(partial / marker_name)) {
        throw Error(join(this_rank(), ": ", partial,
                         ": expected the directory that rank 0 made, "
                         "found none or another; the output must lie where all ranks see it"));
      }
    }
  }

  // A network file system may show a new file late.
  bool sees_token(const fs::path& marker) const {
    constexpr std::chrono::seconds patience{3};
    const auto deadline = Clock::now() + patience;
    for (;;) {
      std::error_code error;
      if (fs::exists(marker, error) && read_text(marker) == token_) return true;
      if (Clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  const ConversionJob& job_;
  std::string token_;
  std::vector<std::unique_ptr<PartialDirectory>>
      locks_;  // first rank: of each split; null if whole
};

/// Works in a thread of its own, while this one answers the ranks that take pieces: MPI allows it
/// only one thread.
template <class Work>
void serve_meanwhile(const Work& work) {
  constexpr std::chrono::milliseconds between{5};
  std::future<void> done = std::async(std::launch::async, work);
  while (done.wait_for(between) != std::future_status::ready) world().answer_others();
  done.get();
}

/// Converts pieces until none is left; returns how many images were there before.
std::uint64_t take_pieces(const ConversionJob& job, const Plan& plan) {
  std::uint64_t kept = 0;
  std::string problem;
  const std::uint64_t all = plan.open.size() * std::uint64_t{plan.pieces};
  for (std::uint64_t next = 0; problem.empty() && (next = world().take()) < all;) {
    const ConversionJob::Split& split = job.splits[plan.open[next / plan.pieces]];
    ConvertOptions settings = job.settings;
    settings.part = {static_cast<std::uint32_t>(next % plan.pieces) + 1, plan.pieces};
    settings.resume = true;
    problem = problem_of([&] {
      serve_meanwhile([&] { kept += keep_or_convert(job, split, settings).resumed_at; });
    });
    if (problem.empty()) continue;
    world().stop_taking();
    problem = join(this_rank(), ", piece ", settings.part.number, " of ", plan.pieces, " of ",
                   split.name, ": ", problem);
  }
  agree(problem);
  return kept;
}

}  // namespace

std::vector<Converted> convert_by_ranks(const ConversionJob& job) {
  const auto start = Clock::now();
  Plan plan(job);
  auto kept = static_cast<double>(take_pieces(job, plan));
  world().sum({&kept, 1});
  std::vector<Converted> made = std::move(plan.earlier);
  const std::string problem = problem_of([&] {
    for (std::size_t i = 0; world().rank() == 0 && i < plan.open.size(); ++i) {
      const auto& [name, out] = job.splits[plan.open[i]];
      made.push_back({name, out, plan.join_split(plan.open[i])});
      Conversion& result = made.back().result;
      result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      // Of several splits, all images that were kept count for the first ones.
      result.resumed_at = std::min(static_cast<std::uint64_t>(kept), result.samples);
      kept -= static_cast<double>(result.resumed_at);
    }
  });
  agree(problem.empty() ? "" : join(this_rank(), ": ", problem));
  world().close();
  return made;
}

}  // namespace feedrate::tools
