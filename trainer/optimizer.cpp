#include "trainer/optimizer.h"

namespace feedrate {
namespace {

class Sgd final : public Optimizer {
 public:
  using Optimizer::Optimizer;
  std::size_t states() const override { return 1; }  // velocity
};

const Sgd sgd("sgd", "stochastic gradient descent with momentum, as Caffe writes it");

}  // namespace

std::span<const Optimizer* const> optimizers() {
  static const Optimizer* const rows[] = {&sgd};
  return rows;
}

const Optimizer& optimizer(std::string_view name) {
  return find_kind("optimizer", name, optimizers());
}

}  // namespace feedrate
