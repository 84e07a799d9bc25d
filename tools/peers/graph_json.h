#pragma once
// A network and how to train it, as adapters of other frameworks read them: whatever we train, they
// can train.

#include <string>

#include "trainer/graph/graph.h"
#include "trainer/loop/train_recipe.h"

namespace feedrate::tools {

/// {"network", "input": [height, width, channels], "classes", "parameter_count" of the learned
/// ones, "nodes": [{"name", "op", "inputs": [indices of earlier nodes], "attributes", "extent":
/// [channels, height, width], "parameters": [names]}], "parameters": [{"name", "shape", "init":
/// {"rule", "value"}, "rate_scale", "decay_scale", "learned"}], "recipe": {"optimizer", "rate",
/// "momentum", "decay", "beta2", "epsilon"}}. The rate is that of the first step after warm-up.
std::string graph_json(const trainer::Graph& graph, const trainer::TrainRecipe& recipe);

}  // namespace feedrate::tools
