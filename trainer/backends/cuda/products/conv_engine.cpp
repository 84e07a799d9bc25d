#include "trainer/backends/cuda/products/conv_engine.cuh"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

ConvEngine describe(GraphDescriptor config) {
  std::vector<GraphDescriptor> engines =
      config.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) throw Error("cuDNN offers a choice of knobs without an engine");
  const auto number = engines[0].get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  std::string name = std::to_string(number);
  auto notes = engines[0].get_all<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                               CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  // Asked for 0 knob choices, cuDNN does not say how many there are, so ask for the maximum.
  for (const GraphDescriptor& knob :
       config.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                    CUDNN_KNOB_TYPE_COUNTS)) {
    name += join(" ", knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE), "=",
                 knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return {std::move(config), number, std::move(name), std::move(notes)};
}

}  // namespace

std::vector<std::string> words_of(std::span<const cudnnBackendNumericalNote_t> notes) {
  static constexpr const char* words[] = {
      "tensor core",         "inputs rounded", "sums rounded",      "fft",
      "nondeterministic",    "winograd",       "winograd tile 4x4", "winograd tile 6x6",
      "winograd tile 13x13", "strict nan"};
  std::vector<std::string> result;
  for (const cudnnBackendNumericalNote_t note : notes) {
    const auto number = static_cast<std::size_t>(note);
    result.push_back(number < std::size(words) ? words[number] : join("note ", number));
  }
  return result;
}

bool keeps_promises(const ConvEngine& engine, Arithmetic arithmetic) {
  return std::ranges::none_of(engine.notes, [arithmetic](cudnnBackendNumericalNote_t note) {
    return note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
           note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
           note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
           (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && arithmetic == Arithmetic::fma);
  });
}

std::vector<ConvEngine> engines_of(const ConvGraph& graph, cudnnBackendHeurMode_t mode,
                                   Arithmetic arithmetic) {
  GraphDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set_part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.operations());
  heuristics.set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, {mode});
  heuristics.finalize();
  std::vector<ConvEngine> engines;
  for (GraphDescriptor& config :
       heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                        heuristics.count_parts(CUDNN_ATTR_ENGINEHEUR_RESULTS))) {
    ConvEngine engine = describe(std::move(config));
    if (keeps_promises(engine, arithmetic)) engines.push_back(std::move(engine));
  }
  return engines;
}

std::vector<ConvEngine> different_first(std::vector<ConvEngine> engines) {
  std::map<std::int64_t, std::size_t> entries;
  std::vector<std::pair<std::size_t, ConvEngine>> numbered;
  for (ConvEngine& engine : engines) {
    const std::size_t entry = entries[engine.number]++;
    numbered.emplace_back(entry, std::move(engine));
  }
  std::ranges::stable_sort(numbered, {}, [](const auto& each) { return each.first; });
  for (std::size_t i = 0; i < engines.size(); ++i) engines[i] = std::move(numbered[i].second);
  return engines;
}

}  // namespace feedrate::trainer::cuda
