// A fake NVML with two GPUs, for tests without a GPU. Built twice: FEEDRATE_OLD_DRIVER leaves out
// the functions of newer drivers. FEEDRATE_FAKE_NVML_FAILS makes nvmlInit_v2 fail.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0;
constexpr int driver_not_loaded = 9;
constexpr int not_found = 6;
constexpr int insufficient_size = 7;
constexpr unsigned process_count = 70;  // more than a caller expects at first
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

struct FakeDevice {
  const char* name;
  const char* bus;
};
FakeDevice devices[] = {{"Fake GPU 0", "0000:1B:00.0"}, {"Fake GPU 1", "0000:2C:00.0"}};

struct Memory {
  std::uint64_t total, free, used;
};
struct Process {
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t gpu_instance, compute_instance;
};
struct Utilisation {
  std::uint32_t gpu, memory;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return std::getenv("FEEDRATE_FAKE_NVML_FAILS") != nullptr ? driver_not_loaded : success;
}
int nvmlShutdown() { return success; }
const char* nvmlErrorString(int result) {
  return result == driver_not_loaded ? "Driver Not Loaded" : "Not Found";
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, FakeDevice** device) {
  *device = &devices[index];
  return success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, FakeDevice** device) {
  for (FakeDevice& candidate : devices) {
    if (std::strcmp(candidate.bus, bus) != 0) continue;
    *device = &candidate;
    return success;
  }
  return not_found;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, FakeDevice** device) {
  if (std::strcmp(uuid, "GPU-0123") != 0) return not_found;
  *device = &devices[0];
  return success;
}
int nvmlDeviceGetName(FakeDevice* device, char* text, unsigned length) {
  std::snprintf(text, length, "%s", device->name);
  return success;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.65.06");
  return success;
}
int nvmlDeviceGetMemoryInfo(FakeDevice*, Memory* memory) {
  *memory = {1000 * mib, 250 * mib, 750 * mib};
  return success;
}
int nvmlDeviceGetPowerUsage(FakeDevice*, unsigned* milliwatts) {
  *milliwatts = 123456;
  return success;
}
int nvmlDeviceGetUtilizationRates(FakeDevice*, Utilisation* utilisation) {
  *utilisation = {87, 12};
  return success;
}
int nvmlDeviceGetClockInfo(FakeDevice*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1755 : 2619;
  return success;
}

#ifndef FEEDRATE_OLD_DRIVER
// Every answer is 50 J more than the last.
int nvmlDeviceGetTotalEnergyConsumption(FakeDevice*, unsigned long long* millijoules) {
  static unsigned long long so_far = 7654321 - 50000;
  *millijoules = so_far += 50000;
  return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(FakeDevice*, unsigned long long* reasons) {
  *reasons = 0x4 | 0x40 | 0x1;
  return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(FakeDevice*, unsigned* count, Process* processes) {
  const unsigned room = *count;
  *count = process_count;
  if (room < process_count) return insufficient_size;
  for (unsigned i = 0; i < process_count; ++i) processes[i] = {1, mib, 0, 0};
  processes[process_count - 1] = {static_cast<std::uint32_t>(getpid()), 321 * mib, 0, 0};
  return success;
}
#endif

}  // extern "C"
