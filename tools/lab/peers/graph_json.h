#pragma once
// Writes a network and how to train it as JSON, for the adapters of other frameworks.

#include <string>

#include "trainer/graph/graph.h"
#include "trainer/loop/train_recipe.h"

namespace feedrate::tools {

/// {"network", "input": [height, width, channels], "classes", "parameter_count" (the learned ones),
/// "nodes": [{"name", "op", "inputs": [indices of earlier nodes], "attributes", "extent":
/// [channels, height, width], "parameters": [names]}], "parameters": [{"name", "shape", "init":
/// {"rule", "value"}, "rate_scale", "decay_scale", "learned"}], "recipe": {"optimizer", "rate",
/// "momentum", "decay", "beta2", "epsilon"}}. The rate is that of the first step after warm-up.
std::string graph_json(const trainer::Graph& graph, const trainer::TrainRecipe& recipe);

}  // namespace feedrate::tools
