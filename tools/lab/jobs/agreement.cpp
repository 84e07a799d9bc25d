#include "tools/lab/jobs/agreement.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/digests/fingerprint.h"
#include "tools/console/build_info.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::string_view order_term = "the order of an epoch";
constexpr std::string_view bytes_term = "the digest of the dataset's bytes";

std::string_view shown(std::string_view value) { return value.empty() ? "its default" : value; }

/// Of each member of a mix, joined; empty where a sidecar does not tell one of them.
std::string digests_of(const Dataset& dataset, std::string Sidecar::*digest) {
  const auto& made = dataset.info().sidecar;
  if (dataset.members().empty()) return made ? *made.*digest : "";
  std::string text;
  for (const auto& member : dataset.members()) {
    const std::string one = digests_of(*member, digest);
    if (one.empty()) return "";
    text = join(text, text.empty() ? "" : " + ", one);
  }
  return text;
}

/// What the sidecar's digests say holds for the order of writing; a checkpoint's position is one of
/// reading. Terms of datasets that are read in another order therefore have other names.
Terms written_terms(const Dataset& dataset) {
  const auto order = dataset.written_order();
  const bool as_written = order && std::ranges::is_sorted(*order);
  Terms terms;
  if (!as_written) {
    terms.emplace_back("the order of the dataset",
                       order ? join("not as written, with the fingerprint ",
                                    fingerprint(std::as_bytes(std::span(*order))))
                             : "not known");
  }
  const std::string images = digests_of(dataset, &Sidecar::digest);
  const std::string bytes = digests_of(dataset, &Sidecar::bytes_digest);
  if (!images.empty()) {
    terms.emplace_back(
        as_written ? "the digest of the dataset" : "the digest of the dataset as it was written",
        images);
  } else if (!bytes.empty() && as_written) {
    terms.emplace_back(bytes_term, bytes);
  }
  return terms;
}

struct Probe {
  std::int32_t label = -1;
  Sha256 image{};
};

/// Stays as it is for a bad sample, which is the loader's affair.
Probe probe_of(const Dataset& dataset, std::uint64_t index, Scratch& scratch) {
  Probe probe;
  try {
    const Sample sample = dataset.read(index, scratch);
    probe.label = sample.label;
    if (!sample.shape.plausible()) return probe;
    Buffer pixels(sample.shape.bytes());
    decode(sample, pixels);
    probe.image = sample_digest(0, {sample.shape, pixels});
  } catch (const Error&) {
  }
  return probe;
}

/// Of some samples all over the dataset: the same in every format and lossless encoding, with and
/// without a sidecar.
Terms probe_terms(const Dataset& dataset) {
  constexpr std::uint64_t probes = 64;
  const std::uint64_t size = dataset.size();
  std::vector<std::int32_t> labels;
  std::vector<Sha256> images;
  Scratch scratch;
  for (std::uint64_t k = 0; k < std::min(size, probes); ++k) {
    const Probe probe = probe_of(dataset, size < probes ? k : size / probes * k, scratch);
    labels.push_back(probe.label);
    images.push_back(probe.image);
  }
  const auto text = [](const auto& list) {
    return std::to_string(fingerprint(std::as_bytes(std::span(list))));
  };
  return {{"the fingerprint of the dataset's labels", text(labels)},
          {"the fingerprint of the dataset's images", text(images)}};
}

/// What tells one dataset, as it is read, from others.
Terms dataset_terms(const Dataset& dataset) {
  const DatasetInfo& info = dataset.info();
  Terms terms = {{"the size of the dataset", join(info.size, " images")}};
  if (info.classes != 0) terms.emplace_back("the dataset's classes", std::to_string(info.classes));
  for (Terms& more : std::array{written_terms(dataset), probe_terms(dataset)})
    std::ranges::move(more, std::back_inserter(terms));
  return terms;
}

std::string identity_of(const Dataset* dataset) {
  if (dataset == nullptr) return "none";
  std::string text;
  for (const auto& [name, value] : dataset_terms(*dataset)) {
    text = join(text, text.empty() ? "" : "; ", name, ": ", value);
  }
  return text;
}

/// What the first epoch holds: all picks, or so many all over it that there is time for them.
std::string order_of(const TrainingRequest& request, const Opened& opened) {
  if (!opened.picks) {
    const std::uint64_t block = request.feed.loader.shuffle_blocks;
    return join("every image once", block == 0 ? "" : join(", in blocks of ", block));
  }
  constexpr std::uint64_t probes = std::uint64_t{1} << 24;
  const std::uint64_t size = opened.picks->size();
  std::uint64_t print = 0;
  for (std::uint64_t k = 0; k < std::min(size, probes); ++k) {
    const std::uint64_t pick = size < probes ? k : size / probes * k;
    const std::array index = {opened.picks->index(request.seed, 0, pick)};
    print = fingerprint(std::as_bytes(std::span(index)), print);
  }
  return join(size, " picks, fingerprint ", print);
}

/// Of parameters and the optimizer's state.
std::string weights_of(const Session& session) {
  const auto& parameters = session.plan().graph.parameters;
  Hasher all;
  const auto add = [&](const std::vector<float>& values) {
    all.add(std::as_bytes(std::span(values)));
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    add(session.parameter(i));
    for (std::size_t k = 0; parameters[i].learned && k < session.states(); ++k)
      add(session.state(i, k));
  }
  return hex(all.finish());
}

template <class Settings>
void add_rows(Terms& terms, const Settings& settings, std::initializer_list<const void*> members) {
  for_each_setting(settings, [&](const Setting& row, const auto& member) {
    if (members.size() != 0 && std::ranges::find(members, &member) == members.end()) return;
    std::string value;
    if constexpr (std::ranges::range<decltype(member)> && !requires { member.c_str(); }) {
      for (const double one : member) value = join(value, value.empty() ? "" : ",", one);
    } else {
      value = value_text(typed(row, member), member);
    }
    terms.emplace_back(spelled(row, Spelling::shell), std::move(value));
  });
}

/// Other bytes may be the same images, in another encoding.
bool position_depends_on(std::string_view term) {
  return term == order_term || (term.find("the dataset") != term.npos && term != bytes_term);
}

}  // namespace

Terms lasting_terms(const TrainingRequest& request, const Opened& opened, const Steps& steps) {
  Terms terms = dataset_terms(*opened.dataset);
  terms.emplace_back(order_term, order_of(request, opened));
  terms.emplace_back("--preset", request.model.preset);
  terms.emplace_back("--recipe", opened.augmentation.name());
  terms.emplace_back("the size at which JPEGs are decoded", name(size_of(request.feed.decode)));
  add_rows(terms, settings_of(opened.recipe), {});
  if (policy(opened.recipe.schedule.policy).rule().numbers == Policy::Numbers::length_of_training)
    terms.emplace_back("the length of the schedule", counted(steps.all, "step"));
  add_rows(terms, request.device, {&request.device.precision});
  const LoaderSettings& loader = request.feed.loader;
  add_rows(terms, loader, {&loader.pixels, &loader.on_bad});
  return terms;
}

void expect_resumable(const std::filesystem::path& file, const Terms& then, const Terms& now) {
  for (const auto& [name, value] : now) {
    const auto kept = std::ranges::find(then, name, &Terms::value_type::first);
    if (kept == then.end() || kept->second == value) continue;
    const std::string change =
        join(name, " was ", shown(kept->second), " when it was trained, and is now ", shown(value));
    if (position_depends_on(name)) {
      fail(file, change, "; its position in the one means nothing in the other");
    }
    warn(join(file, ": ", change));
  }
}

Terms terms_of(const TrainingRequest& request, const Opened& opened, const Session& session,
               const Position& start) {
  Terms terms = {{"the version of feedrate", std::string(build_info().version)},
                 {"--network", request.model.network},
                 {"--val", identity_of(opened.validation.get())},
                 {"--val-every", std::to_string(request.validation.every)},
                 {"--seed", std::to_string(request.seed)},
                 {"--epochs", std::to_string(request.length.epochs)},
                 {"--steps", std::to_string(request.length.steps)},
                 {"--checkpoint-every", std::to_string(request.files.save_every)},
                 {"--checkpoint", request.files.checkpoint.empty() ? "none" : "a file"},
                 {"--decode", std::string(name(request.feed.decode))},
                 {"--resident", request.feed.resident ? "true" : "false"}};
  terms.insert(terms.end(), start.terms.begin(), start.terms.end());
  add_rows(terms, request.device, {&request.device.name});
  add_rows(terms, request.feed.loader, {&request.feed.loader.bad_budget});
  terms.emplace_back("the first step", std::to_string(start.step));
  terms.emplace_back("the first weights", weights_of(session));
  return terms;
}

void expect_agreement(const Terms& terms) {
  using nlohmann::json;
  const Terms first = json::parse(world().of_first(json(terms).dump())).get<Terms>();
  for (const auto& [name, value] : terms) {
    const auto theirs = std::ranges::find(first, name, &Terms::value_type::first);
    if (theirs == first.end() || theirs->second == value) continue;
    throw Error(join("ranks must agree on ", name, ": rank ", world().rank(), " has ", shown(value),
                     ", rank 0 has ", shown(theirs->second)));
  }
  std::array agreed = {1.0};
  world().sum(agreed);  // no rank begins before all agree
}

}  // namespace feedrate::tools
