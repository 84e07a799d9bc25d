#include "tools/lab/jobs/forward.h"

#include <algorithm>
#include <memory>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tools/console/console.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/jobs/feed.h"
#include "tools/lab/jobs/npy.h"
#include "tools/lab/measure/sampler.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

/// With repeated batches or a time limit, epochs have no end.
LoaderOptions loading(const TrainingRequest& request, const Opened& opened,
                      const Session& session) {
  LoaderOptions options = loader_options(request, opened, session);
  const bool repeats = request.feed.resident || request.seconds > 0;
  options.epochs = repeats ? 0 : std::max<std::uint64_t>(request.length.epochs, 1);
  options.order.shuffle = false;
  return options;
}

Inference run_infer(const TrainingRequest& request, const Opened& opened, Session& session,
                    Feed& feed) {
  const bool endless = request.feed.resident && request.seconds <= 0 && request.length.steps == 0;
  const std::uint32_t batch = opened.recipe.batch;
  const std::uint64_t per_epoch = (opened.dataset->size() + batch - 1) / batch;
  return infer(session, feed, endless ? per_epoch : request.length.steps);
}

/// Writes the features of the whole dataset into a file.
Inference run_features(const TrainingRequest& request, const Opened& opened, Session& session,
                       Feed& feed) {
  const std::size_t node = last_pooling(session.plan().graph);
  const Extent& extent = session.plan().graph.nodes[node].extent;
  Inference result;
  replace_file(request.files.features, [&](OutputFile& out) {
    out.write(npy_header({opened.dataset->size(), static_cast<std::uint64_t>(extent.channels),
                          static_cast<std::uint64_t>(extent.height),
                          static_cast<std::uint64_t>(extent.width)}));
    result = extract_features(session, feed, node, [&](std::span<const float> values) {
      out.write(std::as_bytes(values));
    });
  });
  return result;
}

}  // namespace

ForwardReport run_forward(const TrainingRequest& request) {
  const Opened opened = open(request);
  const std::unique_ptr<Session> session = compile(request, opened);
  const bool infers = request.mode == Mode::infer;
  if (!request.files.resume.empty()) {
    load_checkpoint(request.files.resume, *session);
  } else {
    warn(join("without --resume the weights are random: the time is right, ",
              infers ? "the loss and the accuracy mean" : "the features mean", " nothing"));
  }
  ForwardReport report;
  report.run = describe(request, opened, *session);
  if (!infers) {
    const Graph& graph = session->plan().graph;
    const Node& node = graph.nodes[last_pooling(graph)];
    report.features = node.name;
    report.feature_extent = node.extent;
  }

  if (request.data.cold) make_cold(*opened.dataset);
  Sampler sampler(
      {.device = request.device.name, .transfers = [&] { return session->transfers(); }});
  Feed feed(request, opened, loading(request, opened, *session),
            {.asked = [&](std::uint64_t number) { sampler.asked(number); }});
  report.result = (infers ? run_infer : run_features)(request, opened, *session, feed);
  report.run.telemetry = sampler.measured();
  report.run.telemetry.planned_memory_mib = planned_mib(*session);
  report.run.decoded = decoded_by(request, *session);
  report.run.remote = fetched_for(opened);
  report.run.threads = feed.loader().stats().threads;
  return report;
}

}  // namespace feedrate::tools
