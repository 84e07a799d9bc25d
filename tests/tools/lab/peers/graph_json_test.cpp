#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tools/lab/peers/graph_json.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace trainer;

namespace {

using nlohmann::json;

json exported(const Network& network) {
  const Graph graph = network.build(network.published_input(), network.published_classes());
  return json::parse(graph_json(graph, network.recipe()));
}

TEST(UnitGraphJson, tells_of_every_network_as_many_parameters_as_it_has) {
  for (const Network* network : networks()) {
    const json told = exported(*network);
    std::int64_t count = 0;
    for (const json& parameter : told.at("parameters")) {
      std::int64_t elements = 1;
      for (const json& side : parameter.at("shape")) elements *= side.get<std::int64_t>();
      if (parameter.at("learned")) count += elements;
    }
    EXPECT_EQ(count, told.at("parameter_count")) << network->name();
    EXPECT_EQ(
        told.at("parameter_count"),
        network->build(network->published_input(), network->published_classes()).parameter_count());
    EXPECT_GT(told.at("recipe").at("rate"), 0) << network->name();
  }
}

TEST(UnitGraphJson, nodes_name_known_ops_and_earlier_nodes_and_their_own_parameters) {
  std::set<std::string> seen;
  for (const Network* network : networks()) {
    const json told = exported(*network);
    std::set<std::string> parameters, owned;
    for (const json& parameter : told.at("parameters")) parameters.insert(parameter.at("name"));
    std::size_t index = 0;
    for (const json& node : told.at("nodes")) {
      EXPECT_NO_THROW(op(node.at("op").get<std::string>()));
      seen.insert(node.at("op"));
      for (const json& input : node.at("inputs")) EXPECT_LT(input, index);
      for (const json& name : node.at("parameters")) owned.insert(name);
      EXPECT_EQ(node.at("extent").size(), 3U);
      ++index;
    }
    EXPECT_EQ(owned, parameters) << network->name();
    EXPECT_EQ(told.at("nodes").back().at("op"), "softmax_loss");
  }
  for (const Op* one : ops()) EXPECT_TRUE(seen.contains(std::string(one->name()))) << one->name();
}

TEST(UnitGraphJson, a_layer_keeps_its_attributes_and_how_it_starts_and_learns) {
  const json told = exported(network("lenet"));
  EXPECT_EQ(told.at("input"), json({28, 28, 1}));
  EXPECT_EQ(told.at("classes"), 10);
  EXPECT_EQ(told.at("nodes").at(1).at("attributes").at("filters"), 20);
  const json& weight = told.at("parameters").at(0);
  EXPECT_EQ(weight.at("name"), "conv1.weight");
  EXPECT_EQ(weight.at("shape"), json({20, 1, 5, 5}));
  EXPECT_EQ(weight.at("init").at("rule"), "xavier");
  EXPECT_EQ(told.at("parameters").at(1).at("rate_scale"), 2);
  EXPECT_EQ(told.at("recipe").at("optimizer"), "sgd");
  EXPECT_EQ(exported(network("lstm")).at("recipe").at("optimizer"), "rmsprop");
}

}  // namespace
}  // namespace feedrate::tools
