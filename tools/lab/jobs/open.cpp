#include "tools/lab/jobs/open.h"

#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tools/console/advised_error.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/device_decoding.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/jobs/ranks.h"
#include "tools/lab/measure/engines.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

/// Throws Error where a class of `trained` has another number in `other`: a folder or texts that lack a
/// class number the others without it, and nothing else would tell.
void expect_same_numbers(const DatasetInfo& trained, const DatasetInfo& other) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (const std::string& name : trained.class_names.names) numbers.emplace(name, numbers.size());
  const std::vector<std::string>& names = other.class_names.names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = numbers.find(names[i]);
    if (found == numbers.end() || found->second == i) continue;
    fail(other.path, "class ", i, " is '", names[i], "', but in ", trained.path.string(),
         " that is class ", found->second, ": one of them lacks a class");
  }
}

/// Refuses before the training what would fail behind it.
std::unique_ptr<Dataset> open_validation(const TrainingRequest& request, const Opened& opened,
                                         const Recipe& augmentation) {
  const std::filesystem::path& path = request.validation.path;
  if (path.empty()) return nullptr;
  std::unique_ptr<Dataset> dataset = open_dataset(path);
  if (dataset->size() < world().ranks()) {
    fail(path, "holds ", counted(dataset->size(), "image"), ", fewer than the ", world().ranks(),
         " ranks that would share them");
  }
  const Shape found = augmentation.evaluation().shape(dataset->info().shape);
  if (found != opened.shape) {
    fail(path, "holds images of ", shape_text(found), ", but ", request.model.network,
         " is trained on ", shape_text(opened.shape));
  }
  const std::uint32_t classes = dataset->info().classes, trained = opened.dataset->info().classes;
  if (trained != 0 && classes > trained) {  // 0: not stated
    fail(path, "has ", classes, " classes, but ", request.model.network, " is trained on ",
         trained);
  }
  expect_same_numbers(opened.dataset->info(), dataset->info());
  return dataset;
}

BadLabels bad_labels_of(const TrainingRequest& request) {
  return {request.feed.loader.on_bad, request.feed.loader.bad_budget};
}

/// A switch for a machine with one GPU: NCCL is loaded, recorded and ended although there is nobody
/// to talk to.
bool communicates_alone() {
  const char* text = std::getenv("FEEDRATE_NCCL_ALONE");
  return text != nullptr && *text != '\0' && std::string_view(text) != "0";
}

}  // namespace

Opened open(const TrainingRequest& request) {
  const bool trains = request.mode == Mode::train;
  const Network& asked = network(request.model.network);
  const std::string& named = request.data.recipe;
  if (!named.empty()) recipe(named);  // an unknown name is refused before data is opened
  const RemoteCounts fetched_before = remote_counts();
  auto [dataset, picks] =
      open_data(request.data.path, request.data.order, true, bad_labels_of(request));
  if (!trains && picks) {
    throw Misused(join("--order, --weights, --groups and --mix are for --mode train, not --mode ",
                       name(request.mode)));
  }
  const Recipe& augmentation =
      recipe(named.empty() ? usual_augmentation(asked, dataset->info().shape) : named);
  Opened opened{.device = usable_backend(request.device.name),
                .network = asked,
                .recipe = changed_recipe(request),
                .augmentation = trains ? augmentation : augmentation.evaluation(),
                .dataset = std::move(dataset),
                .picks = std::move(picks),
                .validation = nullptr,
                .shape = {},
                .fetched_before = fetched_before};
  if (trains && !augmentation.mixers().empty()) {
    throw Error(join("recipe ", augmentation.name(),
                     " mixes images and their labels, but training takes one label an image"));
  }
  refuse_for_ranks(request, opened.recipe.batch);
  if (request.feed.decode == Decode::device) {
    expect_device_decodes(*opened.dataset, opened.augmentation);
  }
  opened.shape = opened.augmentation.shape(opened.dataset->info().shape);
  if (trains) opened.validation = open_validation(request, opened, augmentation);
  return opened;
}

std::unique_ptr<Session> compile(const TrainingRequest& request, const Opened& opened) {
  const std::uint32_t stated = opened.dataset->info().classes;
  Graph graph = opened.network.build(
      opened.shape,
      stated != 0 ? stated : told_labels(*opened.dataset, bad_labels_of(request)).classes);
  apply(opened.recipe.changes, graph);
  const TrainingRequest::Feed& feed = request.feed;
  note_oversubscription(request.device, feed.resident ? 0 : feed.loader.threads.value_or(0));
  const bool trains = request.mode == Mode::train;
  const unsigned ranks = world().ranks();
  std::unique_ptr<Session> session = opened.device.compile(
      make_plan(std::move(graph), opened.recipe.batch / ranks),
      {.precision = request.device.precision,
       .threads = request.device.compute_threads,
       .optimizer = trains ? &optimizer(opened.recipe.update.optimizer) : nullptr,
       .seed = request.seed,
       .pixels = feed.pixels(),
       .communicator = ranks > 1 || communicates_alone() ? &world() : nullptr});
  const std::string slow = fallback_warning(session->engines());
  if (!slow.empty()) warn(slow);
  initialise(*session, request.seed);
  return session;
}

std::optional<DeviceDecoded> decoded_by(const TrainingRequest& request, const Session& session) {
  const DecodeCounts* counts = session.decoded();
  if (counts == nullptr) return std::nullopt;
  const DecodeCounts all = of_all_ranks(*counts);
  return DeviceDecoded{request.device.name, all, all.images * session.plan().graph.input.bytes()};
}

std::optional<ServerWork> fetched_for(const Opened& opened) {
  const bool validates_remote = opened.validation && opened.validation->info().is_remote();
  if (!opened.dataset->info().is_remote() && !validates_remote) return std::nullopt;
  return server_work(remote_counts().since(opened.fetched_before));
}

RunReport describe(const TrainingRequest& request, const Opened& opened, const Session& session) {
  const Graph& graph = session.plan().graph;
  return {.parameters = graph.parameter_count(),
          .macs = graph.macs(),
          .batch = opened.recipe.batch,
          .threads = 0,
          .recipe = std::string(opened.augmentation.name()),
          .device_name = opened.device.device_name(request.device.compute_threads),
          .engines = {session.engines().begin(), session.engines().end()},
          .telemetry = {},
          .decoded = {},
          .remote = {}};
}

}  // namespace feedrate::tools
