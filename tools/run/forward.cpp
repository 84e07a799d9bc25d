#include "tools/run/forward.h"

#include <memory>

#include "formats/dataset.h"
#include "formats/io/file.h"
#include "loader/loader.h"
#include "tools/cli/npy.h"
#include "tools/measure/sampler.h"
#include "tools/run/cold.h"
#include "tools/run/devices.h"
#include "tools/run/ranks.h"
#include "tools/run/time_limit.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/networks/network.h"
#include "trainer/ops/pixels.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

// Features of a whole dataset into one file, or only timed.
Inference features(const TrainingRequest& request, Session& session, BatchSource& source,
                   std::uint64_t images, std::size_t node) {
  const auto ignore = [](std::span<const float>) {};
  if (request.out.empty()) return extract_features(session, source, node, ignore);
  const Extent& extent = session.plan().graph.nodes[node].extent;
  Inference result;
  replace_file(request.out, [&](OutputFile& out) {
    out.write(npy_header({images, static_cast<std::uint64_t>(extent.channels),
                          static_cast<std::uint64_t>(extent.height),
                          static_cast<std::uint64_t>(extent.width)}));
    result = extract_features(session, source, node, [&](std::span<const float> values) {
      out.write(std::as_bytes(values));
    });
  });
  return result;
}

}  // namespace

ForwardReport run_forward(const TrainingRequest& request) {
  const Backend& device = usable_backend(request.device);
  const Network& definition = network(request.network);
  const std::unique_ptr<Dataset> dataset = open_dataset(request.path);
  const Recipe& augment = recipe(request.recipe).evaluation();
  const TrainRecipe wanted = wanted_recipe(request, definition);
  refuse_for_ranks(request, wanted.batch);
  Graph graph = definition.build(augment.shape(dataset->info().shape), count_classes(*dataset));

  ForwardReport report;
  apply(wanted.changes, graph);
  report.batch = wanted.batch;
  report.parameters = graph.parameter_count();
  report.macs = graph.macs();
  report.device_name = device.device_name();
  std::size_t node = 0;
  if (request.mode == "features") {
    node = last_pooling(graph);
    report.features = graph.nodes[node].name;
    report.feature_extent = graph.nodes[node].extent;
  }
  const unsigned threads = request.auto_threads ? loader_cores(true) : request.threads;
  note_oversubscription(request.device, request.resident ? 0 : threads, request.compute_threads);
  const std::unique_ptr<Session> session =
      device.compile(make_plan(std::move(graph), report.batch), {.precision = request.precision,
                                                                 .threads = request.compute_threads,
                                                                 .pixels = request.pixels});
  initialise(*session, request.seed);
  if (!request.resume.empty()) load_checkpoint(request.resume, *session);

  const bool repeats = request.resident || request.seconds > 0;
  if (request.cold) make_cold(*dataset);
  Loader loader(*dataset, augment,
                {.threads = threads,
                 .batch = report.batch,
                 .epochs = repeats ? 0 : std::max<std::uint64_t>(request.epochs, 1),
                 .pixels = {.type = request.pixels, .scales = input_scales(session->plan().graph)},
                 .order = {.shuffle = false},
                 .engine = {.tune = request.auto_threads && !request.resident,
                            .memory = &device.pixel_memory()}});
  std::unique_ptr<Replay> replay;
  if (request.resident) {
    replay = std::make_unique<Replay>(loader, resident_batches, 0, &device.pixel_memory());
  }
  BatchSource& batches = replay ? static_cast<BatchSource&>(*replay) : loader;
  TimeLimit limited(batches, request.seconds);
  Sampler sampler({.device = request.device, .transfers = [&] { return session->transfers(); }});
  Watched source(request.seconds > 0 ? limited : batches,
                 [&](std::uint64_t batch) { sampler.asked(batch); });
  if (report.features.empty()) {
    const std::uint64_t per_epoch = (dataset->size() + report.batch - 1) / report.batch;
    const bool endless = request.resident && request.seconds == 0 && request.steps == 0;
    report.result = infer(*session, source, endless ? per_epoch : request.steps);
  } else {
    report.result = features(request, *session, source, dataset->size(), node);
  }
  report.telemetry = sampler.measured();
  report.telemetry.planned_memory_mib = planned_mib(*session);
  report.threads = loader.stats().threads;
  return report;
}

}  // namespace feedrate::tools
