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

constexpr std::string_view dataset_term = "the dataset";
constexpr std::string_view order_term = "the order of an epoch";

std::string_view shown(std::string_view value) { return value.empty() ? "its default" : value; }

/// Other bytes may be the same images, in another encoding: only a digest of pixels tells them from
/// other data.
std::string data_term(const Dataset& dataset) {
  const auto& made = dataset.info().sidecar;
  const bool bytes = made && made->digest.empty();
  return join(dataset_term, bytes ? "'s bytes" : "");
}

/// The digest that its conversion recorded, and what any dataset tells without being read.
std::string identity_of(const Dataset* dataset) {
  if (dataset == nullptr) return "none";
  std::string text;
  for (const auto& member : dataset->members()) text = join(text, identity_of(member.get()), " + ");
  const DatasetInfo& info = dataset->info();
  text = join(text, info.size, " images, ", info.classes, " classes");
  if (!info.sidecar) return text;
  const Sidecar& made = *info.sidecar;
  return join(text, ", digest ", made.digest.empty() ? made.bytes_digest : made.digest);
}

/// What an epoch holds, from picks all over the first one.
std::string order_of(const TrainingRequest& request, const Opened& opened) {
  if (!opened.picks) return "every image once";
  constexpr std::uint64_t probes = 1024;
  const std::uint64_t size = opened.picks->size();
  std::vector<std::uint64_t> indices;
  for (std::uint64_t k = 0; k < std::min(size, probes); ++k)
    indices.push_back(opened.picks->index(request.seed, 0, size < probes ? k : size / probes * k));
  return join(size, " picks, fingerprint ", fingerprint(std::as_bytes(std::span(indices))));
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

}  // namespace

Terms lasting_terms(const TrainingRequest& request, const Opened& opened, const Steps& steps) {
  Terms terms = {
      {data_term(*opened.dataset), identity_of(opened.dataset.get())},
      {std::string(order_term), order_of(request, opened)},
      {"--preset", request.model.preset},
      {"--recipe", std::string(opened.augmentation.name())},
      {"the size at which JPEGs are decoded", std::string(name(size_of(request.feed.decode)))}};
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
    if (name == dataset_term || name == order_term) {
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
  const auto [mine, theirs] = std::ranges::mismatch(terms, first);
  if (mine != terms.end() && theirs != first.end()) {
    throw Error(join("ranks must agree on ", mine->first, ": rank ", world().rank(), " has ",
                     shown(mine->second), ", rank 0 has ", shown(theirs->second)));
  }
  std::array agreed = {1.0};
  world().sum(agreed);  // no rank begins before all agree
}

}  // namespace feedrate::tools
