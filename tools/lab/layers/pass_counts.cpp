#include "tools/lab/layers/pass_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/console/text.h"
#include "tools/lab/measure/or_null.h"
#include "trainer/graph/passes.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

using nlohmann::ordered_json;

constexpr double mega = 1e6;

/// Passes of one kind: the same work of all nodes of an operator.
struct Kind {
  std::string_view op, what;
  std::size_t count = 0;
  std::size_t beside = 0;  // of these: on the branch beside the others
  std::size_t early = 0;   // of these: kernels that start while the one before ends
  double values = 0;       // bytes of a step
  double parameters = 0;
};

struct Counts {
  PassCountsRequest request;
  std::vector<Kind> kinds;  // in the order of the step
  Kind all;

  double image_bytes(const Kind& kind) const { return kind.values / request.batch; }
};

Counts count(PassCountsRequest request) {
  const Network& definition = network(request.network);
  if (request.batch == 0) request.batch = definition.recipe().batch;
  Plan plan =
      make_plan(definition.build(definition.published_input(), definition.published_classes()),
                request.batch);
  const Fused fused = fuse(plan, fusions_of_environment());
  Counts counts{std::move(request), {}, {}};
  for (const Pass& pass : count_passes(plan, fused, counts.request.precision)) {
    auto kind = std::ranges::find_if(
        counts.kinds, [&](const Kind& one) { return one.op == pass.op && one.what == pass.what; });
    if (kind == counts.kinds.end()) kind = counts.kinds.insert(kind, {pass.op, pass.what});
    for (Kind* sum : {&*kind, &counts.all}) {
      ++sum->count;
      sum->beside += pass.beside;
      sum->early += pass.early;
      sum->values += pass.values;
      sum->parameters += pass.parameters;
    }
  }
  return counts;
}

}  // namespace

std::string pass_counts_text(const PassCountsRequest& request) {
  constexpr const char* row = "  {:<14} {:<26} {:>7} {:>10} {:>7} {:>12}\n";
  const Counts counts = count(request);
  std::string text = fmt::format(
      "{} on cuda, {}, batch {}: {} kernels and calls a step ({} on a branch, {} start early), "
      "{:.1f} MB of values an image, {:.1f} MB of parameters a step; counted from the plan\n",
      counts.request.network, counts.request.precision, counts.request.batch, counts.all.count,
      counts.all.beside, counts.all.early, counts.image_bytes(counts.all) / mega,
      counts.all.parameters / mega);
  text += fmt::format(row, "operator", "pass", "calls", "MB/image", "%", "MB/step");
  for (const Kind& kind : counts.kinds) {
    text += fmt::format(row, kind.op, kind.what, kind.count,
                        fmt::format("{:.2f}", counts.image_bytes(kind) / mega),
                        fmt::format("{:.1f}", 100 * kind.values / counts.all.values),
                        fmt::format("{:.1f}", kind.parameters / mega));
  }
  return text;
}

std::string pass_counts_json(const PassCountsRequest& request) {
  const Counts counts = count(request);
  ordered_json passes = ordered_json::array();
  for (const Kind& kind : counts.kinds) {
    passes.push_back({{"op", kind.op},
                      {"pass", kind.what},
                      {"calls", kind.count},
                      {"beside", kind.beside},
                      {"early", kind.early},
                      {"image_bytes", rounded(counts.image_bytes(kind), 1)},
                      {"parameter_bytes", rounded(kind.parameters, 1)}});
  }
  const ordered_json object = {{"network", counts.request.network},
                               {"precision", counts.request.precision},
                               {"batch", counts.request.batch},
                               {"calls", counts.all.count},
                               {"beside", counts.all.beside},
                               {"early", counts.all.early},
                               {"image_bytes", rounded(counts.image_bytes(counts.all), 1)},
                               {"parameter_bytes", rounded(counts.all.parameters, 1)},
                               {"passes", passes}};
  return json_text(object);
}

}  // namespace feedrate::tools
