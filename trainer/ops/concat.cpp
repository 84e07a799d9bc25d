// Concatenates the channels of several inputs.

#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

class Concat final : public Op {
 public:
  using Op::Op;
  Extent extent(const Attributes&, std::span<const Extent> inputs) const override {
    if (inputs.size() < 2) throw Error(join("takes 2 inputs or more, not ", inputs.size()));
    Extent all = inputs[0];
    for (const Extent& in : inputs.subspan(1)) {
      if (in.height != all.height || in.width != all.width) {
        throw Error(join("cannot concatenate ", in.height, "x", in.width, " values with ",
                         all.height, "x", all.width));
      }
      all.channels += in.channels;
    }
    return all;
  }
};

const Concat concat_row("concat", "the channels of several inputs, concatenated");

}  // namespace

extern const Op& concat_op;
const Op& concat_op = concat_row;

}  // namespace feedrate::trainer
