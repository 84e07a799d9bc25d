#include "trainer/backends/cuda_plugin/plugin.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

std::string cuda_abi() {
  return join(FEEDRATE_VERSION, " gcc ", __VERSION__, " plan ", sizeof(Plan), " graph ",
              sizeof(Graph), " node ", sizeof(Node), " parameter ", sizeof(Parameter), " options ",
              sizeof(SessionOptions), " batch ", sizeof(Batch), " metrics ", sizeof(Metrics),
              " loss scale ", sizeof(LossScale));
}

}  // namespace feedrate::trainer
