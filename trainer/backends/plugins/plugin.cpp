#include "trainer/backends/plugins/plugin.h"

#include "formats/base/error.h"
#include "trainer/backends/image_decoder.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

const std::string& backend_abi() {
  static const std::string abi =
      join(FEEDRATE_VERSION, " gcc ", __VERSION__, " plan ", sizeof(Plan), " graph ", sizeof(Graph),
           " node ", sizeof(Node), " op ", sizeof(Op), " parameter ", sizeof(Parameter),
           " options ", sizeof(SessionOptions), " batch ", sizeof(Batch), " decoder ",
           sizeof(ImageDecoder), " metrics ", sizeof(Metrics), " loss scale ", sizeof(LossScale));
  return abi;
}

}  // namespace feedrate::trainer
