#include "trainer/optimizers/optimizer.h"

#include "trainer/optimizers/rules.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

template <class Rule>
class Row final : public Optimizer {
 public:
  Row() : Optimizer(Rule::name, Rule::summary) {}
  std::size_t states() const override { return Rule::states; }
  bool norms() const override { return Rule::norms; }
  UpdateSettings defaults() const override { return Rule::defaults; }
};

template <class Rule>
const Row<Rule> row;

}  // namespace

std::span<const Optimizer* const> optimizers() {
  static const Optimizer* const rows[] = {
#define FEEDRATE_ROW(prefix) &row<prefix##Rule>,
#include "trainer/optimizers/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Optimizer& optimizer(std::string_view name) {
  return find_kind("optimizer", name, optimizers());
}

}  // namespace feedrate::trainer
