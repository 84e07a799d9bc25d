#include "trainer/backends/cuda/decode/image_decoder.cuh"

#include "trainer/backends/cuda/decode/batch_decoder.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

class CudaImageDecoder final : public ImageDecoder {
 public:
  explicit CudaImageDecoder(const DecoderSize& size)
      : image_bytes_(size.shape.bytes()),
        uploads_(make_stream()),
        compute_(make_stream()),
        decoder_(size),
        pixels_(size.batch * image_bytes_, "decoded images"),
        host_pixels_(size.batch * image_bytes_) {}

  // Queued work must not outlive the memory that it uses.
  ~CudaImageDecoder() override {
    cudaStreamSynchronize(uploads_.get());
    cudaStreamSynchronize(compute_.get());
  }

  void decode(const loader::Batch& batch) override {
    decoder_.decode(batch, pixels_.data(), {uploads_.get(), compute_.get()}, counts_);
    bytes_ = batch.count * image_bytes_;
  }

  std::span<const std::byte> pixels() override {
    wait();
    const std::span<std::byte> to = host_pixels_.values().first(bytes_);
    check(
        cudaMemcpyAsync(to.data(), pixels_.data(), bytes_, cudaMemcpyDeviceToHost, compute_.get()),
        "cudaMemcpyAsync");
    check(cudaStreamSynchronize(compute_.get()), "cudaStreamSynchronize");
    return to;
  }

  void wait() override { decoder_.wait(); }

 private:
  std::size_t image_bytes_;
  Stream uploads_;
  Stream compute_;
  BatchDecoder decoder_;
  DeviceMemory pixels_;
  PinnedArray<std::byte> host_pixels_;
  std::size_t bytes_ = 0;  // of the last batch
};

}  // namespace

std::unique_ptr<ImageDecoder> make_image_decoder(const DecoderSize& size) {
  check(cudaSetDevice(own_device()), "cudaSetDevice");
  return std::make_unique<CudaImageDecoder>(size);
}

}  // namespace feedrate::trainer::cuda
