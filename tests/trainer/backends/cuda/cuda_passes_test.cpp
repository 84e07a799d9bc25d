// The passes that are counted from a plan are those that the backend runs.

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

class CudaPasses : public CudaParity {
 protected:
  void expect_counted(const Graph& graph, const std::string& precision) const {
    const auto session = start(*cuda_, graph, 2, optimizer("sgd"), precision);
    session->upload(RandomBatch(graph, 2, 1).batch());
    session->train_step(settings, 0);
    session->wait();
    ASSERT_EQ(session->steps_recorded(), true);
    expect_recorded(graph, 2, precision);
  }
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaPasses, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaPasses, of_every_operator_are_the_nodes_of_its_recorded_step) {
  for (const OpCase& c : op_cases()) {
    SCOPED_TRACE(join(c.op, " ", c.what));
    for (const std::string precision : {"fp32", "bf16", "fp16"}) expect_counted(c.graph, precision);
  }
}

TEST_P(CudaPasses, of_networks_are_the_nodes_of_their_recorded_steps) {
  for (const char* name : {"lenet", "alexnet:cifar"}) {
    SCOPED_TRACE(name);
    const Network& row = network(name);
    expect_counted(row.build(row.published_input(), row.published_classes()), "bf16");
  }
}

}  // namespace
}  // namespace feedrate::testing
