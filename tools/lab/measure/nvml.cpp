#include "tools/lab/measure/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;

namespace {

// NVML's types, declared here because not every CUDA installation has its header.
using Result = int;
using Device = struct OpaqueDevice*;
struct Memory {
  std::uint64_t total, free, used;  // bytes
};
struct Utilisation {
  std::uint32_t gpu, memory;  // percent
};
struct Process {
  std::uint32_t pid;
  std::uint64_t used;  // bytes
  std::uint32_t gpu_instance, compute_instance;
};
static_assert(sizeof(Memory) == 24 && sizeof(Utilisation) == 8 && sizeof(Process) == 24);

constexpr Result success = 0;
constexpr Result insufficient_size = 7;
constexpr std::uint64_t not_available = ~std::uint64_t{0};
constexpr double bytes_per_mib = 1024.0 * 1024.0;
constexpr double per_milli = 1e-3;

// A function that an older driver lacks returns "not supported".
template <class... Parameters>
class Function {
 public:
  Function(void* library, const char* name)
      : call_(reinterpret_cast<Result (*)(Parameters...)>(dlsym(library, name))) {}
  bool exists() const { return call_ != nullptr; }
  Result operator()(Parameters... arguments) const {
    constexpr Result not_supported = 3;
    return exists() ? call_(arguments...) : not_supported;
  }

 private:
  Result (*call_)(Parameters...);
};

template <class Number>
std::optional<double> scaled(const std::optional<Number>& value, double by) {
  return value ? std::optional(static_cast<double>(*value) * by) : std::nullopt;
}

void* open_library(std::string& problem) {
  const char* given = std::getenv("FEEDRATE_NVML");
  void* library = dlopen(given != nullptr ? given : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    problem = join("NVML was not found: ", text != nullptr ? text : "unknown error");
  }
  return library;
}

}  // namespace

struct Nvml::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() {
    if (started) shutdown();
    dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Returns "", or what went wrong.
  std::string start(const std::string& pci_bus_id) {
    if (!init.exists()) return "the library named as NVML has no nvmlInit_v2";
    if (const Result result = init(); result != success) return failure("nvmlInit_v2", result);
    started = true;
    const Result result =
        pci_bus_id.empty() ? by_index(0, &device) : by_pci_bus_id(pci_bus_id.c_str(), &device);
    return result == success ? "" : failure("finding the GPU", result);
  }

  std::string failure(const char* what, Result result) const {
    return join("NVML: ", what, ": ", error_string != nullptr ? error_string(result) : "error",
                " (", result, ")");
  }

  void* handle;
  bool started = false;
  Device device = nullptr;
  const char* (*error_string)(Result) =
      reinterpret_cast<const char* (*)(Result)>(dlsym(handle, "nvmlErrorString"));
  Function<> init{handle, "nvmlInit_v2"};
  Function<> shutdown{handle, "nvmlShutdown"};
  Function<unsigned, Device*> by_index{handle, "nvmlDeviceGetHandleByIndex_v2"};
  Function<const char*, Device*> by_pci_bus_id{handle, "nvmlDeviceGetHandleByPciBusId_v2"};
  Function<Device, char*, unsigned> name{handle, "nvmlDeviceGetName"};
  Function<char*, unsigned> driver{handle, "nvmlSystemGetDriverVersion"};
  Function<Device, Memory*> memory{handle, "nvmlDeviceGetMemoryInfo"};
  Function<Device, unsigned*, Process*> processes{handle,
                                                  "nvmlDeviceGetComputeRunningProcesses_v3"};
  Function<Device, unsigned*> power{handle, "nvmlDeviceGetPowerUsage"};
  Function<Device, unsigned long long*> energy{handle, "nvmlDeviceGetTotalEnergyConsumption"};
  Function<Device, Utilisation*> utilisation{handle, "nvmlDeviceGetUtilizationRates"};
  Function<Device, int, unsigned*> clock{handle, "nvmlDeviceGetClockInfo"};
  Function<Device, unsigned long long*> throttle{handle,
                                                 "nvmlDeviceGetCurrentClocksThrottleReasons"};
};

Nvml::Nvml(const std::string& pci_bus_id) {
  void* handle = open_library(problem_);
  if (handle == nullptr) return;
  library_ = std::make_unique<Library>(handle);
  problem_ = library_->start(pci_bus_id);
}

Nvml::~Nvml() = default;

std::optional<std::string> Nvml::name() const {
  std::array<char, 96> text{};
  if (!available() || library_->name(library_->device, text.data(), text.size()) != success) {
    return std::nullopt;
  }
  return text.data();
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 80> text{};
  if (!available() || library_->driver(text.data(), text.size()) != success) return std::nullopt;
  return text.data();
}

template <class Value, class Function, class... Arguments>
std::optional<Value> Nvml::ask(Function Library::*function, Arguments... arguments) const {
  Value value{};
  if (!available() ||
      (library_.get()->*function)(library_->device, arguments..., &value) != success) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> Nvml::memory_used_mib() const {
  const auto memory = ask<Memory>(&Library::memory);
  return memory ? scaled(std::optional(memory->used), 1 / bytes_per_mib) : std::nullopt;
}

std::optional<double> Nvml::own_memory_mib() const {
  if (!available()) return std::nullopt;
  std::vector<Process> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  Result result = library_->processes(library_->device, &count, processes.data());
  if (result == insufficient_size) {
    processes.resize(count + 16);  // more processes may start meanwhile
    count = static_cast<unsigned>(processes.size());
    result = library_->processes(library_->device, &count, processes.data());
  }
  if (result != success) return std::nullopt;
  processes.resize(count);
  const auto own = static_cast<std::uint32_t>(getpid());
  for (const Process& process : processes) {
    if (process.pid == own && process.used != not_available) {
      return static_cast<double>(process.used) / bytes_per_mib;
    }
  }
  return std::nullopt;
}

std::optional<double> Nvml::power_w() const {
  return scaled(ask<unsigned>(&Library::power), per_milli);
}

std::optional<double> Nvml::energy_j() const {
  return scaled(ask<unsigned long long>(&Library::energy), per_milli);
}

std::optional<double> Nvml::utilisation_percent() const {
  const auto utilisation = ask<Utilisation>(&Library::utilisation);
  return utilisation ? std::optional<double>(utilisation->gpu) : std::nullopt;
}

std::optional<double> Nvml::clock_mhz() const {
  constexpr int multiprocessors = 1;
  return ask<unsigned>(&Library::clock, multiprocessors);
}

std::optional<std::uint64_t> Nvml::throttle_reasons() const {
  return ask<unsigned long long>(&Library::throttle);
}

std::string throttle_text(std::uint64_t reasons) {
  constexpr std::uint64_t idle = 0x1, clocks_as_set = 0x2, display_clocks = 0x100;
  struct Reason {
    std::uint64_t bit;
    const char* text;
  };
  constexpr Reason known[] = {{0x4, "software power cap"},
                              {0x8, "hardware slowdown"},
                              {0x10, "clocks kept equal among GPUs"},
                              {0x20, "software thermal slowdown"},
                              {0x40, "hardware thermal slowdown"},
                              {0x80, "hardware power brake"}};
  reasons &= ~(idle | clocks_as_set | display_clocks);
  std::string text;
  const auto add = [&](const std::string& reason) {
    if (!text.empty()) text += ", ";
    text += reason;
  };
  for (const Reason& reason : known) {
    if ((reasons & reason.bit) != 0) add(reason.text);
    reasons &= ~reason.bit;
  }
  if (reasons != 0) add(fmt::format("unknown reason 0x{:x}", reasons));
  return text.empty() ? "none" : text;
}

}  // namespace feedrate::tools
