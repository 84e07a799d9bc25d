#include "trainer/backends/cuda_plugin/plugin.h"
#include "trainer/backends/image_decoder.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

std::string cuda_abi() {
  return join(FEEDRATE_VERSION, " gcc ", __VERSION__, " plan ", sizeof(Plan), " graph ",
              sizeof(Graph), " node ", sizeof(Node), " op ", sizeof(Op), " parameter ",
              sizeof(Parameter), " options ", sizeof(SessionOptions), " batch ", sizeof(Batch),
              " decoder ", sizeof(ImageDecoder), " metrics ", sizeof(Metrics), " loss scale ", sizeof(LossScale));
}

}  // namespace feedrate::trainer
