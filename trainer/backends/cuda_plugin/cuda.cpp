#include "trainer/backends/cuda_plugin/cuda.h"

#include <dlfcn.h>

#include <system_error>

#include "trainer/backends/image_decoder.h"
#include "trainer/communicators/plugin_path.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

namespace fs = std::filesystem;

constexpr const char* plugin_file = "libfeedrate_cuda.so";

LoadedCudaPlugin enter(void* library, const fs::path& place) {
  const auto entry = reinterpret_cast<CudaEntry>(dlsym(library, cuda_entry_name));
  if (entry == nullptr) {
    return {nullptr, join(place, " is not a CUDA plug-in of feedrate: ", last_loader_error())};
  }
  const CudaPlugin* plugin = entry(cuda_abi().c_str());
  if (plugin == nullptr) {
    return {nullptr, join(place, " belongs to another build of feedrate; install both together")};
  }
  return {plugin, ""};
}

const LoadedCudaPlugin& loaded() {
  static const LoadedCudaPlugin once = load_cuda_plugin(plugin_places(plugin_file));
  return once;
}

const CudaPlugin& plugin() {
  if (loaded().plugin == nullptr) throw Error(loaded().problem);
  return *loaded().plugin;
}

class CudaRow final : public Backend {
 public:
  CudaRow() : Backend("cuda", "an NVIDIA GPU, by cuDNN, cuBLASLt and kernels of our own") {}

  std::string unavailable() const override {
    return loaded().plugin == nullptr ? loaded().problem : plugin().backend->unavailable();
  }
  std::string device_name(unsigned threads) const override {
    return plugin().backend->device_name(threads);
  }
  std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const override {
    if (options.pixels != PixelType::u8 && options.pixels != PixelType::packed) {
      throw Error(join(
          "the cuda backend takes u8 pixels, which it scales on the device, or packed JPEGs; not ",
          feedrate::loader::name(options.pixels)));
    }
    return plugin().backend->compile(std::move(plan), options);
  }
  Roof measure_roof(unsigned threads, const std::string& precision) const override {
    return plugin().backend->measure_roof(threads, precision);
  }
  PixelMemory& pixel_memory() const override { return plugin().backend->pixel_memory(); }
  std::unique_ptr<ImageDecoder> image_decoder(const DecoderSize& size) const override {
    return plugin().backend->image_decoder(size);
  }
};

const CudaRow cuda_row;

}  // namespace

LoadedCudaPlugin load_cuda_plugin(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (place.has_parent_path() && !fs::exists(place, ignored)) continue;
    // RTLD_LOCAL: the plug-in contains copies of our own code, which must not replace the
    // program's.
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return enter(library, place);
    const std::string error = last_loader_error();
    // A file that exists but does not load lacks a library: report the loader's error.
    if (place.has_parent_path() || !error.starts_with(place.string())) {
      return {nullptr, join("the CUDA backend cannot be loaded: ", error)};
    }
  }
  return {nullptr, join("the CUDA backend is not installed: ", plugin_file,
                        " is neither beside the program, nor in ../lib, nor on the library path")};
}

std::string cuda_pci_bus_id() {
  return loaded().plugin == nullptr ? "" : loaded().plugin->pci_bus_id();
}

std::string cuda_runtime_version() {
  return loaded().plugin == nullptr ? "" : loaded().plugin->runtime_version();
}

std::string cudnn_version() {
  return loaded().plugin == nullptr ? "" : loaded().plugin->cudnn_version();
}

extern const Backend& cuda_backend;
const Backend& cuda_backend = cuda_row;

}  // namespace feedrate::trainer
