#include "trainer/backends/cuda/decode/batch_decoder.cuh"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

// A waiting thread sleeps, because spinning would take a core from the loader's threads.
constexpr unsigned sleeping = cudaEventDisableTiming | cudaEventBlockingSync;

constexpr unsigned max_group = 4096;  // images: far below the limit of a grid's rows
constexpr std::size_t upload_alignment = 16;

std::size_t room_of(const DecoderSize& size) {
  return round_up(size.seat_bytes - seat_head_bytes, upload_alignment);
}

// Bytes of a job that the kernels of a batch need on the device, and of its faults.
void copy_up(std::byte* to, const void* from, std::size_t bytes, cudaStream_t stream,
             DecodeCounts& counts) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  ++counts.uploads;
  counts.uploaded_bytes += bytes;
}

}  // namespace

BatchDecoder::Side::Side(const DecoderSize& size)
    : uploaded(room_of(size) * size.batch, "packed images"),
      jobs(size.batch * sizeof(ImageJob), "jobs of packed images"),
      faults(size.batch * sizeof(std::uint32_t), "faults of packed images"),
      staged_jobs(size.batch),
      seen_faults(size.batch),
      copied(make_event(sleeping)),
      done(make_event(sleeping)) {}

BatchDecoder::BatchDecoder(const DecoderSize& size) : size_(size), sides_{Side(size), Side(size)} {}

std::size_t BatchDecoder::bytes() const {
  const Side& side = sides_[0];
  return 2 * (side.uploaded.bytes() + side.jobs.bytes() + side.faults.bytes());
}

void BatchDecoder::check(const Batch& batch) const {
  if (batch.type == PixelType::packed && batch.shape == size_.shape && batch.count <= size_.batch &&
      batch.seat_bytes == size_.seat_bytes) {
    return;
  }
  throw Error(join("batch ", batch.number, ": ", batch.count, " images of ", name(batch.type), ", ",
                   batch.shape.height, "x", batch.shape.width, "x", batch.shape.channels,
                   ", do not fit a decoder of ", size_.batch, " packed images of ",
                   size_.shape.height, "x", size_.shape.width, "x", size_.shape.channels));
}

// The side's work must be done.
void BatchDecoder::expect_sound(Side& side) {
  const std::uint32_t count = std::exchange(side.count, 0);
  const auto faults = side.seen_faults.values().first(count);
  const auto first = std::ranges::find(faults, 1U);
  if (first == faults.end()) return;
  const auto image = static_cast<std::size_t>(first - faults.begin());
  throw Error(join(side.indices.empty() ? join("image ", image, " of a batch in memory")
                                        : join("sample ", side.indices[image]),
                   ": packed JPEG is damaged: a block of a run of MCUs is invalid"));
}

void BatchDecoder::add(std::vector<Group>& groups, const ImageJob& job, unsigned number,
                       std::uint64_t scratch) const {
  Group& group = groups.back();
  group.range.count = number + 1 - group.range.first;
  group.scratch = scratch;
  if (!job.packed) return;
  const auto raise = [](auto& limit, std::uint64_t value) {
    limit = std::max(limit, static_cast<std::remove_reference_t<decltype(limit)>>(value));
  };
  raise(group.runs, job.image.runs());
  raise(group.canvas, std::uint64_t{job.canvas.width} * job.canvas.height);
  if (!job.resized) return;
  raise(group.targets, std::uint64_t{job.down.span.count} + job.across.span.count);
  raise(group.squeezed, std::uint64_t{job.canvas.height} * job.across.span.count);
  raise(group.groups, std::uint64_t{job.down.span.count} * job.squeezed_stride / 4);
}

std::vector<BatchDecoder::Group> BatchDecoder::upload(Side& side, const Batch& batch,
                                                      cudaStream_t stream, DecodeCounts& counts) {
  std::vector<Group> groups{{{side.jobs.as<ImageJob>(), 0, 0}}};
  made_.clear();
  std::size_t at = 0;
  std::uint64_t scratch = 0;
  for (unsigned i = 0; i < batch.count; ++i) {
    const Bytes seat = Bytes(batch.seats).subspan(i * size_.seat_bytes, size_.seat_bytes);
    const PackedSeat head = head_of_seat(seat);
    const auto channels = static_cast<std::uint8_t>(size_.shape.channels);
    const std::uint64_t before = scratch;
    ImageJob& job = side.staged_jobs.values()[i];
    job = make_job(head, channels, at, scratch);
    const unsigned in_group = i - groups.back().range.first;
    if (in_group > 0 && (scratch > max_scratch || in_group == max_group)) {
      groups.push_back({{side.jobs.as<ImageJob>(), i, 0}});
      scratch = 0;
      job = make_job(head, channels, at, scratch);
    } else if (!job.packed) {
      scratch = before;
    }
    add(groups, job, i, scratch);
    ++counts.images;
    counts.packed += head.holds == SeatHolds::packed ? 1 : 0;
    counts.too_large += head.holds == SeatHolds::too_large ? 1 : 0;
    if (!job.packed) made_.push_back({i, at});
    copy_up(side.uploaded.data() + at, seat.data() + seat_head_bytes, head.bytes, stream, counts);
    at = round_up(at + head.bytes, upload_alignment);
  }
  copy_up(side.jobs.data(), side.staged_jobs.values().data(), batch.count * sizeof(ImageJob),
          stream, counts);
  return groups;
}

void BatchDecoder::grow_scratch(const std::vector<Group>& groups, cudaStream_t compute) {
  const std::uint64_t needed = std::ranges::max(groups, {}, &Group::scratch).scratch;
  if (needed <= scratch_.bytes()) return;
  cuda::check(cudaStreamSynchronize(compute), "cudaStreamSynchronize");
  scratch_ = {};
  const std::uint64_t spare = std::min<std::uint64_t>(needed + needed / 4, max_scratch);
  scratch_ = DeviceMemory(std::max(needed, spare), "decoding packed images");
}

void BatchDecoder::decode(const Batch& batch, std::byte* pixels, const DecodeStreams& streams,
                          DecodeCounts& counts) {
  check(batch);
  current_ = 1 - current_;
  Side& side = sides_[current_];
  wait_for(side.done);
  expect_sound(side);

  const std::vector<Group> groups = upload(side, batch, streams.uploads, counts);
  cuda::check(cudaEventRecord(side.copied.get(), streams.uploads), "cudaEventRecord");
  grow_scratch(groups, streams.compute);
  cuda::check(cudaStreamWaitEvent(streams.compute, side.copied.get(), 0), "cudaStreamWaitEvent");
  const std::size_t fault_bytes = batch.count * sizeof(std::uint32_t);
  cuda::check(cudaMemsetAsync(side.faults.data(), 0, fault_bytes, streams.compute),
              "cudaMemsetAsync");
  const std::size_t image_bytes = size_.shape.bytes();
  const DecodeMemory memory{side.uploaded.data(), scratch_.data(), pixels,
                            side.faults.as<std::uint32_t>(), image_bytes};
  for (const Group& group : groups) {
    if (group.runs == 0) continue;  // of pixels only
    unpack_samples(streams.compute, group.range, memory, group.runs);
    compute_colours(streams.compute, group.range, memory, group.canvas);
    compute_weights(streams.compute, group.range, memory, group.targets);
    resize_across(streams.compute, group.range, memory, group.squeezed);
    resize_down(streams.compute, group.range, memory, group.groups);
  }
  for (const Made& made : made_) {
    cuda::check(cudaMemcpyAsync(pixels + made.image * image_bytes, side.uploaded.data() + made.at,
                                image_bytes, cudaMemcpyDeviceToDevice, streams.compute),
                "cudaMemcpyAsync");
  }
  cuda::check(cudaMemcpyAsync(side.seen_faults.values().data(), side.faults.data(), fault_bytes,
                              cudaMemcpyDeviceToHost, streams.compute),
              "cudaMemcpyAsync");
  cuda::check(cudaEventRecord(side.done.get(), streams.compute), "cudaEventRecord");
  side.indices.assign(batch.indices.begin(), batch.indices.end());
  side.count = batch.count;
  // From here on the caller may reuse its memory.
  wait_for(side.copied);
}

void BatchDecoder::wait() {
  for (const std::size_t which : {1 - current_, current_}) {
    wait_for(sides_[which].done);
    expect_sound(sides_[which]);
  }
}

}  // namespace feedrate::trainer::cuda
