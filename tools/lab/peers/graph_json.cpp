#include "tools/lab/peers/graph_json.h"

#include <array>
#include <nlohmann/json.hpp>

#include "trainer/graph/op.h"

namespace feedrate::tools {
using namespace trainer;

namespace {

using nlohmann::ordered_json;

// In the order of Init::Rule.
constexpr std::array rules{
    "constant",   "xavier",  "glorot_uniform", "gaussian",           "he_normal",
    "he_fan_out", "uniform", "uniform_fan_in", "orthogonal_columns", "second_quarter"};
static_assert(rules.size() == static_cast<std::size_t>(Init::Rule::second_quarter) + 1);

ordered_json as_json(const Node& node, const Graph& graph) {
  ordered_json attributes = ordered_json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = value;
  ordered_json parameters = ordered_json::array();
  for (const std::size_t i : node.parameters) parameters.push_back(graph.parameters[i].name);
  const Extent& extent = node.extent;
  return {{"name", node.name},
          {"op", node.op->name()},
          {"inputs", node.inputs},
          {"attributes", attributes},
          {"extent", {extent.channels, extent.height, extent.width}},
          {"parameters", parameters}};
}

ordered_json as_json(const Parameter& parameter) {
  return {{"name", parameter.name},
          {"shape", parameter.shape},
          {"init",
           {{"rule", rules[static_cast<std::size_t>(parameter.init.rule)]},
            {"value", parameter.init.value}}},
          {"rate_scale", parameter.rate_scale},
          {"decay_scale", parameter.decay_scale},
          {"learned", parameter.learned}};
}

}  // namespace

std::string graph_json(const Graph& graph, const TrainRecipe& recipe) {
  ordered_json nodes = ordered_json::array(), parameters = ordered_json::array();
  for (const Node& node : graph.nodes) nodes.push_back(as_json(node, graph));
  for (const Parameter& parameter : graph.parameters) parameters.push_back(as_json(parameter));
  const UpdateSettings update = update_settings(recipe);
  const ordered_json object = {
      {"network", graph.network},
      {"input", {graph.input.height, graph.input.width, graph.input.channels}},
      {"classes", graph.classes},
      {"parameter_count", graph.parameter_count()},
      {"nodes", nodes},
      {"parameters", parameters},
      {"recipe",
       {{"optimizer", recipe.update.optimizer},
        {"rate", recipe.schedule.rate},
        {"momentum", update.momentum},
        {"decay", update.decay},
        {"beta2", update.beta2},
        {"epsilon", update.epsilon}}}};
  return object.dump(1) + "\n";
}

}  // namespace feedrate::tools
