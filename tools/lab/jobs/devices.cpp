#include "tools/lab/jobs/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "tools/console/console.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

const Backend& usable_backend(const std::string& name) {
  const Backend& device = backend(name);
  const std::string why_not = device.unavailable();
  if (!why_not.empty()) throw Error(join("device ", name, ": ", why_not));
  return device;
}

void note_oversubscription(const DeviceSettings& device, unsigned loader_threads) {
  const unsigned cores = usable_cores();
  const unsigned threads =
      std::max(loader_threads, device.name == "cpu" ? device.compute_threads : 0);
  if (threads <= cores) return;
  note(fmt::format("{} on {}", counted(threads, "thread"), counted(cores, "core")));
}

double planned_mib(const Session& session) {
  return rounded(static_cast<double>(session.planned_bytes()) / (1 << 20), 1);
}

}  // namespace feedrate::tools
