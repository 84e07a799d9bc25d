#include "trainer/backends/plugins/plugin_backend.h"

#include "formats/base/error.h"
#include "trainer/backends/image_decoder.h"
#include "trainer/communicators/plugin_path.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

const LoadedBackend& PluginBackend::loaded() const {
  std::call_once(once_, [&] {
    loaded_ = load_backend(name(), plugin_places(join("libfeedrate_", name(), ".so")));
  });
  return loaded_;
}

const Backend& PluginBackend::plugin() const {
  if (loaded().backend == nullptr) throw Error(loaded().problem);
  return *loaded().backend;
}

std::string PluginBackend::unavailable() const {
  return loaded().backend == nullptr ? loaded().problem : loaded().backend->unavailable();
}

std::string PluginBackend::device_name(unsigned threads) const {
  return plugin().device_name(threads);
}

std::unique_ptr<Session> PluginBackend::compile(Plan plan, const SessionOptions& options) const {
  return plugin().compile(std::move(plan), options);
}

Roof PluginBackend::measure_roof(unsigned threads, const std::string& precision) const {
  return plugin().measure_roof(threads, precision);
}

PixelMemory& PluginBackend::pixel_memory() const { return plugin().pixel_memory(); }

std::unique_ptr<ImageDecoder> PluginBackend::image_decoder(const DecoderSize& size) const {
  return plugin().image_decoder(size);
}

std::vector<LibraryVersion> PluginBackend::libraries() const {
  return loaded().backend == nullptr ? std::vector<LibraryVersion>{} : plugin().libraries();
}

std::string PluginBackend::pci_bus_id() const {
  return loaded().backend == nullptr ? "" : plugin().pci_bus_id();
}

}  // namespace feedrate::trainer
