// feedrate._native.DevicePlugin and DeviceDecoder: packed JPEGs decoded by the plug-in of a device.

#include "tools/bindings/python/device_decoder.hpp"

#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "formats/base/plugin_abi.h"
#include "loader/device_decoder.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {
using namespace formats;

namespace nb = nanobind;

namespace {

namespace fs = std::filesystem;
using loader::DeviceDecoding;

// The plug-in contains copies of our own code, which must not replace the module's: RTLD_LOCAL. Threads
// that its libraries start leave signals to Python's main thread.
void* open_library(const fs::path& place) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return library;
}

std::string last_error() {
  const char* error = dlerror();
  return error != nullptr ? error : "unknown error of the dynamic loader";
}

/// A plug-in, loaded; it stays so until the process ends. Any thread.
class DevicePlugin {
 public:
  /// Takes the first of the places where there is one; a bare name is left to the dynamic loader.
  /// Throws runtime_error with what to install.
  DevicePlugin(const std::string& name, const std::vector<std::string>& places) : name_(name) {
    for (const fs::path place : places) {
      std::error_code ignored;
      if (place.has_parent_path() && !fs::exists(place, ignored)) continue;
      if (void* library = open_library(place)) {
        enter(library, place);
        return;
      }
      const std::string error = last_error();
      // A file that exists but does not load lacks a library.
      if (place.has_parent_path() || !error.starts_with(place.string())) {
        throw std::runtime_error(join("the package feedrate-", name, " cannot be loaded: ", error,
                                      "; 'pip install ", package(), "' brings what it needs"));
      }
    }
    throw std::runtime_error(join("decoding on a device needs the package feedrate-", name,
                                  ": 'pip install ", package(), "'"));
  }

  const DeviceDecoding& functions() const { return *functions_; }
  const std::string& name() const { return name_; }

 private:
  std::string package() const { return join("feedrate-", name_, "==", FEEDRATE_VERSION); }

  void enter(void* library, const fs::path& place) {
    using namespace loader;
    const auto abi =
        reinterpret_cast<DeviceDecoderAbiFunction>(dlsym(library, device_decoder_abi_symbol));
    const auto functions =
        reinterpret_cast<DeviceDecodingFunction>(dlsym(library, device_decoding_symbol));
    if (abi == nullptr || functions == nullptr) {
      throw std::runtime_error(join(place, " decodes nothing for this feedrate: ", last_error(),
                                    "; 'pip install ", package(), "' mends it"));
    }
    const std::string problem = other_build(join(place), name_, device_decoder_abi(), abi());
    if (!problem.empty()) throw std::runtime_error(problem);
    functions_ = functions();
  }

  std::string name_;
  const DeviceDecoding* functions_ = nullptr;
};

/// Decodes the batches of one run. One thread at a time.
class DeviceDecoder {
 public:
  /// For batches of up to `batch` images.
  DeviceDecoder(const DevicePlugin& plugin, int device, std::uint32_t batch)
      : functions_(plugin.functions()),
        place_(join(plugin.name(), ":", device)),
        device_(device),
        batch_(batch) {}
  ~DeviceDecoder() {
    if (decoder_ != nullptr) functions_.close(decoder_);
  }
  DeviceDecoder(const DeviceDecoder&) = delete;
  DeviceDecoder& operator=(const DeviceDecoder&) = delete;

  /// Queues the decoding of a batch on a stream, into memory of the device; both as addresses. The
  /// batch's own memory is free when this returns.
  void decode(const PackedBatch& packed, std::uintptr_t pixels, std::uintptr_t stream) {
    const loader::Batch& batch = packed.batch;
    const OthersRun others_run;
    if (decoder_ == nullptr) {  // the first batch tells how large seats are
      expect(functions_.open({device_, batch.shape, batch_, batch.seat_bytes}, &decoder_));
    }
    expect(functions_.decode(decoder_, batch, reinterpret_cast<std::byte*>(pixels),
                             reinterpret_cast<void*>(stream)));
  }

  void wait() {
    const OthersRun others_run;
    if (decoder_ != nullptr) expect(functions_.wait(decoder_));
  }

 private:
  void expect(const char* problem) const {
    if (problem != nullptr) throw std::runtime_error(join(place_, ": ", problem));
  }

  const DeviceDecoding& functions_;
  std::string place_;
  int device_;
  std::uint32_t batch_;
  void* decoder_ = nullptr;
};

}  // namespace

void add_device_decoder(nb::module_& module) {
  nb::class_<PackedBatch>(module, "PackedBatch", "JPEGs of a batch, for a DeviceDecoder.")
      .def("__len__", [](const PackedBatch& packed) { return packed.batch.count; });
  nb::class_<DevicePlugin>(module, "DevicePlugin", "The plug-in of a device, loaded.")
      .def(nb::init<const std::string&, const std::vector<std::string>&>(), nb::arg("name"),
           nb::arg("places"));
  nb::class_<DeviceDecoder>(module, "DeviceDecoder", "Decodes packed batches on a device.")
      .def(nb::init<const DevicePlugin&, int, std::uint32_t>(), nb::arg("plugin"),
           nb::arg("device"), nb::arg("batch"))
      .def("decode", &DeviceDecoder::decode, nb::arg("packed"), nb::arg("pixels"),
           nb::arg("stream"),
           "Queues the decoding on a stream, into memory of the device: count x height x width x "
           "channels values of u8. The batch's memory is free when this returns. Both are "
           "addresses.")
      .def("wait", &DeviceDecoder::wait, "Waits until all batches are decoded.");
}

}  // namespace feedrate::tools
