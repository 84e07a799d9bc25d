// What the plug-in exports for those who know the loader alone: loader/device_decoder.h.

#include "loader/device_decoder.h"

#include <exception>
#include <memory>
#include <string>

#include "formats/base/error.h"
#include "trainer/backends/cuda/decode/batch_decoder.cuh"
#include "trainer/backends/plugins/plugin.h"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

// Makes a device the thread's current one, for a while.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

class Decoder {
 public:
  explicit Decoder(const DeviceDecoderSize& size)
      : device_(size.device),
        uploads_(make_stream()),
        done_(make_event(cudaEventDisableTiming)),
        decoder_({size.shape, size.batch, size.seat_bytes}) {}

  // Queued work must not outlive the memory that it uses.
  ~Decoder() {
    cudaStreamSynchronize(uploads_.get());
    cudaEventSynchronize(done_.get());
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  int device() const { return device_; }

  void decode(const Batch& batch, std::byte* pixels, cudaStream_t stream) {
    // The batch before, perhaps on another stream, uses the same scratch memory.
    check(cudaStreamWaitEvent(stream, done_.get(), 0), "cudaStreamWaitEvent");
    DecodeCounts ignored;
    decoder_.decode(batch, pixels, {uploads_.get(), stream}, ignored);
    check(cudaEventRecord(done_.get(), stream), "cudaEventRecord");
  }
  void wait() { decoder_.wait(); }

 private:
  int device_;
  Stream uploads_;
  Event done_;
  BatchDecoder decoder_;
};

// Null, or what `act` throws.
template <class Act>
const char* told(const Act& act) noexcept {
  thread_local std::string sentence;
  try {
    act();
    return nullptr;
  } catch (const std::exception& error) {
    sentence = error.what();
    return sentence.c_str();
  }
}

const char* open(const DeviceDecoderSize& size, void** decoder) {
  return told([&] {
    if (const std::string reason = feedrate_backend()->unavailable(); !reason.empty()) {
      throw Error(reason);
    }
    const OnDevice on_device(size.device);
    *decoder = std::make_unique<Decoder>(size).release();
  });
}

template <class Act>
const char* told_of(void* opened, const Act& act) {
  auto& decoder = *static_cast<Decoder*>(opened);
  return told([&] {
    const OnDevice on_device(decoder.device());
    act(decoder);
  });
}

const char* decode(void* opened, const Batch& batch, std::byte* pixels, void* stream) {
  return told_of(opened, [&](Decoder& decoder) {
    decoder.decode(batch, pixels, static_cast<cudaStream_t>(stream));
  });
}

const char* wait(void* opened) {
  return told_of(opened, [](Decoder& decoder) { decoder.wait(); });
}

void close(void* opened) {
  told_of(opened, [](Decoder& decoder) { const std::unique_ptr<Decoder> ended(&decoder); });
}

constexpr DeviceDecoding device_decoding{open, decode, wait, close};

}  // namespace
}  // namespace feedrate::trainer::cuda

extern "C" __attribute__((visibility("default"))) const char* feedrate_device_decoder_abi() {
  return feedrate::loader::device_decoder_abi().c_str();
}
extern "C" __attribute__((visibility("default"))) const feedrate::loader::DeviceDecoding*
feedrate_device_decoding() {
  return &feedrate::trainer::cuda::device_decoding;
}
