#pragma once
// A backend whose plug-in is loaded at first use.

#include <mutex>

#include "trainer/backends/plugins/load_backend.h"

namespace feedrate::trainer {

/// What the plug-in's backend does. Without it, unavailable() says why; what needs it throws Error
/// with that sentence, and what only describes it is empty.
class PluginBackend final : public Backend {
 public:
  using Backend::Backend;
  std::string unavailable() const override;
  std::string device_name(unsigned threads) const override;
  std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const override;
  Roof measure_roof(unsigned threads, const std::string& precision) const override;
  loader::PixelMemory& pixel_memory() const override;
  std::unique_ptr<ImageDecoder> image_decoder(const DecoderSize& size) const override;
  std::vector<LibraryVersion> libraries() const override;
  std::string pci_bus_id() const override;

 private:
  const LoadedBackend& loaded() const;
  const Backend& plugin() const;

  mutable std::once_flag once_;
  mutable LoadedBackend loaded_;
};

}  // namespace feedrate::trainer
