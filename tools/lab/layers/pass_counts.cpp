#include "tools/lab/layers/pass_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "trainer/graph/passes.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

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

namespace {

/// A kind of pass; its values are divided among the images of a batch.
struct CountedKind {
  Kind kind;
  double image_bytes = 0;
};

template <class Field>
void for_each_sum(const CountedKind& counted, const Field& field) {
  const Kind& kind = counted.kind;
  field("calls", kind.count, {"kernels and library calls of a step: nodes of its CUDA graph"});
  field("beside", kind.beside,
        {"of these: on the branch that finds gradients of weights beside the rest of backward"});
  field("early", kind.early, {"of these: kernels that start while the one before them ends"});
  field("image_bytes", counted.image_bytes,
        {"of activations and their gradients, read and written, for one image", Unit{"bytes"},
         Digits{1}});
  field("parameter_bytes", kind.parameters,
        {"of parameters, their gradients and state, for one step", Unit{"bytes"}, Digits{1}});
}

}  // namespace

template <class Field>
void for_each_field(const CountedKind& counted, const Field& field) {
  field("op", counted.kind.op, {"the operator; gradient sums, update"});
  field("pass", counted.kind.what, {"what it computes"});
  for_each_sum(counted, field);
}

template <>
inline constexpr Heading heading_of<Counts>{
    "passes",
    "What `feedrate time NETWORK --passes` prints: the memory passes of a training step on CUDA, "
    "counted from the plan."};

template <class Field>
void for_each_field(const Counts& counts, const Field& field) {
  std::vector<CountedKind> kinds;
  for (const Kind& kind : counts.kinds) kinds.push_back({kind, counts.image_bytes(kind)});
  field("network", counts.request.network, {"whose step it is"});
  field("precision", counts.request.precision, {"`fp32`, `tf32`, `bf16`, `fp16`"});
  field("batch", counts.request.batch, {"images in a step"});
  for_each_sum(CountedKind{counts.all, counts.image_bytes(counts.all)}, field);
  field("passes", kinds, {"each kind of pass, in the order of the step"});
}

Description describe_passes() { return description_of(Counts{}); }

std::string pass_counts_json(const PassCountsRequest& request) {
  return json_text_of(count(request));
}

}  // namespace feedrate::tools
