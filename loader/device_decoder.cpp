#include "loader/device_decoder.h"

#include "formats/base/error.h"

namespace feedrate::loader {

const std::string& device_decoder_abi() {
  static const std::string abi =
      formats::join(FEEDRATE_VERSION, " gcc ", __VERSION__, " size ", sizeof(DeviceDecoderSize),
                    " functions ", sizeof(DeviceDecoding), " batch ", sizeof(Batch));
  return abi;
}

}  // namespace feedrate::loader
