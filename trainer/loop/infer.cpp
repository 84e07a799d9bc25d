#include "trainer/loop/infer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/base/stopwatch.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

// Passes each batch to `body`; the clock starts when the first batch is done.
template <class Body>
Inference run_all(Session& session, BatchSource& source, std::uint64_t steps, const Body& body) {
  Inference result;
  session.take_metrics();
  Stopwatch timed;
  for (std::uint64_t step = 0; steps == 0 || step < steps; ++step) {
    throw_if_stop_requested();
    const Stopwatch waiting;
    const Batch* batch = source.next();
    if (batch == nullptr) break;
    if (step > 0) result.wait_seconds += waiting.seconds();
    session.upload(*batch);
    body(*batch);
    result.images += batch->count;
    if (step > 0) {
      result.timed_images += batch->count;
    } else {
      session.wait();
      timed.restart();
    }
  }
  session.wait();
  if (result.timed_images > 0) result.seconds = timed.seconds();
  return result;
}

}  // namespace

Inference infer(Session& session, BatchSource& source, std::uint64_t steps) {
  Inference result =
      run_all(session, source, steps, [&](const Batch&) { session.evaluate_step(); });
  const Metrics metrics = session.take_metrics();
  if (!std::isfinite(metrics.loss_sum)) {
    throw Error(join("network ", session.plan().graph.network,
                     ": the loss is not finite: its values overflow with these weights"));
  }
  if (metrics.images == 0) return result;
  const auto images = static_cast<double>(metrics.images);
  result.loss = metrics.loss_sum / images;
  result.accuracy = static_cast<double>(metrics.correct) / images;
  result.accuracy5 = static_cast<double>(metrics.correct5) / images;
  return result;
}

Inference extract_features(Session& session, BatchSource& source, std::size_t node,
                           const std::function<void(std::span<const float>)>& take) {
  const auto elements =
      static_cast<std::size_t>(session.plan().graph.nodes.at(node).extent.elements());
  std::vector<float> values(session.plan().batch * elements);
  std::uint64_t before = 0;  // images
  return run_all(session, source, 0, [&](const Batch& batch) {
    const std::span<float> filled(values.data(), batch.count * elements);
    session.forward_to(node, filled);
    const auto bad = std::ranges::find_if(filled, [](float one) { return !std::isfinite(one); });
    if (bad != filled.end()) {
      const auto at = static_cast<std::size_t>(bad - filled.begin());
      throw Error(join("image ", before + at / elements, ": value ", at % elements,
                       " of its features, the output of ", session.plan().graph.nodes[node].name,
                       ", is ", *bad));
    }
    before += batch.count;
    take(filled);
  });
}

std::size_t last_pooling(const Graph& graph) {
  const std::vector<bool> training_only = graph.training_only();
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const bool pools = graph.nodes[i].op->traits().pooling != Pooling::none;
    if (pools && !training_only[i]) return i;
  }
  throw Error(join("network ", graph.network, ": has no pooling layer to take features from"));
}

}  // namespace feedrate::trainer
