#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Op& name##_op;
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW

std::vector<Parameter> Op::parameters(const Attributes&, std::span<const Extent>) const {
  return {};
}

std::uint64_t Op::macs(const Attributes&, std::span<const Extent>, Extent) const { return 0; }

std::span<const Op* const> ops() {
  static const Op* const rows[] = {
#define FEEDRATE_ROW(name) &name##_op,
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Op& op(std::string_view name) { return find_kind("operator", name, ops()); }

}  // namespace feedrate::trainer
