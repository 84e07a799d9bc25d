// The plug-in's entry point: describes the device and compiles sessions for it.

#include "trainer/backends/backend.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "formats/base/error.h"
#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/decode/image_decoder.cuh"
#include "trainer/backends/cuda/session.cuh"
#include "trainer/backends/cuda/timing/roof.cuh"
#include "trainer/backends/plugins/plugin.h"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

constexpr int min_capability = 8;  // the kernels are compiled for Ampere and later

class PinnedMemory final : public PixelMemory {
 public:
  std::byte* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) noexcept override { cudaFreeHost(memory); }
};

std::string version(int number) { return join(number / 1000, ".", number % 1000 / 10); }

std::string cudnn_version() {
  const std::size_t number = cudnnGetVersion();
  return join(number / 10000, ".", number / 100 % 100, ".", number % 100);  // cuDNN 9 and later
}

std::string why_no_driver() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    return "no NVIDIA driver was found (libcuda.so.1)";
  }
  cudaRuntimeGetVersion(&runtime);
  return join("the NVIDIA driver is too old: it supports CUDA ", version(driver),
              ", but this build needs ", version(runtime));
}

std::string why_not() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaErrorInsufficientDriver) return why_no_driver();
  if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0)) {
    return "no CUDA device was found";
  }
  if (status != cudaSuccess) return join("CUDA cannot start: ", cudaGetErrorString(status));
  int capability = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, own_device());
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, own_device());
  if (capability < min_capability) {
    return join("the GPU's compute capability is ", capability, ".", minor,
                ", but this build needs ", min_capability, ".0");
  }
  return "";
}

class CudaBackend final : public Backend {
 public:
  CudaBackend() : Backend("cuda", "an NVIDIA GPU") {}

  std::string unavailable() const override {
    static const std::string reason = why_not();
    return reason;
  }

  std::string device_name(unsigned) const override {
    require_device();
    return cuda::device_name();
  }

  std::unique_ptr<Session> compile(Plan plan, const SessionOptions& options) const override {
    check_precision(options.precision);
    if (options.pixels != PixelType::u8 && options.pixels != PixelType::packed) {
      throw Error(join(
          "the cuda backend takes u8 pixels, which it scales on the device, or packed JPEGs; not ",
          loader::name(options.pixels)));
    }
    require_device();
    return std::make_unique<CudaSession>(std::move(plan), options);
  }

  Roof measure_roof(unsigned, const std::string& precision) const override {
    check_precision(precision);
    require_device();
    return cuda::measure_roof(precision);
  }

  PixelMemory& pixel_memory() const override {
    require_device();
    check(cudaSetDevice(own_device()), "cudaSetDevice");
    static PinnedMemory memory;
    return memory;
  }

  std::unique_ptr<ImageDecoder> image_decoder(const DecoderSize& size) const override {
    require_device();
    return make_image_decoder(size);
  }

  std::vector<LibraryVersion> libraries() const override {
    int runtime = 0;
    check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    return {{"CUDA", version(runtime)}, {"cuDNN", cudnn_version()}};
  }

  std::string pci_bus_id() const override {
    if (!unavailable().empty()) return "";
    std::array<char, 32> id{};
    check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), own_device()),
          "cudaDeviceGetPCIBusId");
    return id.data();
  }

 private:
  static void check_precision(const std::string& precision) {
    if (std::ranges::find(known_precisions, precision) == std::end(known_precisions)) {
      throw Error(
          join("the cuda backend computes in fp32, tf32, bf16 or fp16, not in '", precision, "'"));
    }
  }
  void require_device() const {
    if (const std::string reason = unavailable(); !reason.empty()) throw Error(reason);
  }
};

const CudaBackend cuda_backend;

}  // namespace
}  // namespace feedrate::trainer::cuda

FEEDRATE_BACKEND_PLUGIN(feedrate::trainer::cuda::cuda_backend)
