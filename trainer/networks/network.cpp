#include "trainer/networks/network.h"

#include <string>
#include <utility>

#include "formats/base/error.h"
#include "loader/recipe.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

std::string size_text(const Shape& shape) {
  return join(shape.height, "x", shape.width, "x", shape.channels);
}

}  // namespace

Network::Network(std::string_view name, std::string_view summary, Definition definition)
    : Kind(name, summary), definition_(std::move(definition)) {}

Graph Network::build(Shape input, std::uint32_t classes) const {
  Builder b(std::string(name()), input, classes);
  try {
    return definition_.build(b, classes);
  } catch (const Error& error) {
    throw Error(join(error.what(), "; images are ", size_text(input), ", ", name(),
                     " is published for ", size_text(definition_.input)));
  }
}

#define FEEDRATE_ROW(name) extern const Network& name##_network;
#include "trainer/networks/list.inc"
#undef FEEDRATE_ROW

std::span<const Network* const> networks() {
  static const Network* const rows[] = {
#define FEEDRATE_ROW(name) &name##_network,
#include "trainer/networks/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

std::string_view usual_augmentation(const Network& network, Shape stored) {
  try {
    const Shape made = loader::recipe(network.augmentation()).shape(stored);
    if (made.channels == network.published_input().channels) return network.augmentation();
  } catch (const Error&) {  // the recipe refuses such images
  }
  return "none";
}

const Network& network(std::string_view name) { return find_kind("network", name, networks()); }

}  // namespace feedrate::trainer
