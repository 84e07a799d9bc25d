#include "trainer/backends/cuda/inputs.cuh"

#include <algorithm>

#include "formats/base/stopwatch.h"
#include "trainer/backends/cuda/decode/batch_decoder.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

// A waiting thread sleeps, because spinning would take a core from the loader's threads.
constexpr unsigned sleeping = cudaEventDisableTiming | cudaEventBlockingSync;

constexpr std::int32_t missing = -1;

}  // namespace

Inputs::Side::Side(std::size_t pixel_bytes, std::uint32_t batch)
    : pixels(pixel_bytes, "pixels"),
      labels(batch * sizeof(std::int32_t), "labels"),
      staged_labels(batch),
      copied(make_event(sleeping)),
      released(make_event(sleeping)) {}

Inputs::Inputs(const Shape& shape, std::uint32_t batch, PixelType type)
    : shape_(shape),
      sides_{Side(shape.bytes() * batch, batch), Side(shape.bytes() * batch, batch)} {
  if (type == PixelType::packed) {
    decoder_ =
        std::make_unique<BatchDecoder>(DecoderSize{shape, batch, packed_seat_bytes(shape, 0)});
    decoding_ = make_stream();
  }
}

Inputs::~Inputs() = default;

void Inputs::upload(const Context& context, const Batch& batch) {
  const std::size_t next = 1 - current_;
  Side& side = sides_[next];
  const std::span<std::int32_t> labels = side.staged_labels.values();
  const auto rest = std::ranges::copy(batch.labels.first(batch.count), labels.begin()).out;
  std::fill(rest, labels.end(), missing);

  const Stopwatch stopwatch;
  const cudaStream_t stream = context.uploads();
  check(cudaStreamWaitEvent(stream, side.released.get(), 0), "cudaStreamWaitEvent");
  check(cudaMemcpyAsync(side.labels.data(), labels.data(), labels.size_bytes(),
                        cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  ++copies_.count;
  copies_.bytes += labels.size_bytes();
  if (decoder_ != nullptr) {
    decode(context, batch, side);
  } else {
    copy_pixels(stream, batch, side);
  }
  copies_.seconds += stopwatch.seconds();
  current_ = next;
  side.count = batch.count;
}

void Inputs::copy_pixels(cudaStream_t stream, const Batch& batch, Side& side) {
  const std::size_t bytes = batch.count * shape_.bytes();
  check(cudaMemcpyAsync(side.pixels.data(), batch.pixels.data(), bytes, cudaMemcpyHostToDevice,
                        stream),
        "cudaMemcpyAsync");
  check(cudaEventRecord(side.copied.get(), stream), "cudaEventRecord");
  // From here on the caller may reuse its memory, and every later launch sees the batch.
  wait_for(side.copied);
  ++copies_.count;
  copies_.bytes += bytes;
}

void Inputs::decode(const Context& context, const Batch& batch, Side& side) {
  const DecodeCounts before = decoded_;
  const cudaStream_t stream = decoding_.get();
  check(cudaStreamWaitEvent(stream, side.released.get(), 0), "cudaStreamWaitEvent");
  decoder_->decode(batch, side.pixels.data(), {context.uploads(), stream}, decoded_);
  // The caller's memory is free again; the pixels may still be in the making, so the next step
  // waits for them, on the device.
  check(cudaEventRecord(side.copied.get(), stream), "cudaEventRecord");
  check(cudaStreamWaitEvent(context.compute(), side.copied.get(), 0), "cudaStreamWaitEvent");
  copies_.count += decoded_.uploads - before.uploads;
  copies_.bytes += decoded_.uploaded_bytes - before.uploaded_bytes;
}

void Inputs::expect_decoded() {
  if (decoder_ != nullptr) decoder_->wait();
}

std::optional<std::uint64_t> Inputs::wait_for_room() const {
  const Side& side = sides_[1 - current_];
  wait_for(side.released);
  return side.step;
}

void Inputs::reuse() {
  if (sides_[1 - current_].count != 0) current_ = 1 - current_;
}

bool Inputs::select(std::uint64_t number) {
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    if (sides_[side].count == 0 || sides_[side].step != number) continue;
    current_ = side;
    return true;
  }
  return false;
}

void Inputs::release_after_work(const Context& context, std::optional<std::uint64_t> step) {
  sides_[current_].step = step;
  check(cudaEventRecord(sides_[current_].released.get(), context.compute()), "cudaEventRecord");
}

const std::uint8_t* Inputs::pixels(std::size_t side) const {
  return sides_[side].pixels.as<std::uint8_t>();
}

const std::int32_t* Inputs::labels(std::size_t side) const {
  return sides_[side].labels.as<std::int32_t>();
}

std::size_t Inputs::later_bytes() const {
  return decoder_ != nullptr ? BatchDecoder::max_scratch : 0;
}

std::size_t Inputs::bytes() const {
  return 2 * (sides_[0].pixels.bytes() + sides_[0].labels.bytes()) +
         (decoder_ != nullptr ? decoder_->bytes() : 0);
}

}  // namespace feedrate::trainer::cuda
