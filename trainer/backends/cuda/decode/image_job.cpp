#include "trainer/backends/cuda/decode/image_job.cuh"

#include "loader/pixels/render.h"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

constexpr std::uint32_t block_side = 8;

std::uint64_t take(std::uint64_t& scratch, std::uint64_t bytes) {
  const std::uint64_t at = scratch;
  scratch = round_up(at + bytes, device_alignment);
  return at;
}

void place_blocks(ImageJob& job) {
  for (std::uint8_t c = 0; c < job.image.components; ++c) {
    const PackedComponent& own = job.image.component[c];
    for (std::uint8_t y = 0; y < own.down; ++y) {
      for (std::uint8_t x = 0; x < own.across; ++x) job.blocks[job.block_count++] = {c, x, y};
    }
  }
}

void place_planes(ImageJob& job, std::uint64_t& scratch) {
  const PackedPart& image = job.image;
  for (unsigned c = 0; c < image.components; ++c) {
    const PackedComponent& own = image.component[c];
    Plane& plane = job.planes[c];
    plane.x = image.first_column * own.across * block_side;
    plane.y = image.first_row * own.down * block_side;
    plane.stride = image.columns * own.across * block_side;
    plane.at = take(scratch, std::uint64_t{image.rows} * own.down * block_side * plane.stride);
  }
}

AxisJob make_axis(const ResizeSpan& span, std::uint64_t& scratch) {
  const std::uint64_t targets = span.count * sizeof(std::uint32_t);
  AxisJob axis{.span = span, .source = source_of(span).begin};
  axis.first_at = take(scratch, targets);
  axis.count_at = take(scratch, targets);
  axis.weights_at = take(scratch, targets * max_weights(span));
  return axis;
}

}  // namespace

ImageJob make_job(const PackedSeat& seat, std::uint8_t channels, std::uint64_t packed_at,
                  std::uint64_t& scratch) {
  ImageJob job;
  job.channels = channels;
  if (seat.holds != SeatHolds::packed) return job;
  const View& view = seat.view;
  job.packed = true;
  job.resized = view.height != view.scaled_height || view.width != view.scaled_width;
  job.image = seat.image;
  job.part = seat.part;
  job.packed_at = packed_at;
  place_blocks(job);
  place_planes(job, scratch);
  if (!job.resized) {
    job.canvas = {view.x + static_cast<std::int32_t>(view.window.x),
                  view.y + static_cast<std::int32_t>(view.window.y), view.window.width,
                  view.window.height, view.mirrored};
    return job;
  }
  const Rect& part = seat.part;
  job.canvas = {static_cast<std::int32_t>(part.x), static_cast<std::int32_t>(part.y), part.width,
                part.height, false};
  const auto [down, across] = loader::detail::spans_of(view);
  job.across = make_axis(across, scratch);
  job.down = make_axis(down, scratch);
  job.colours_at = take(scratch, std::uint64_t{part.height} * part.width * channels);
  job.squeezed_stride = round_up(view.window.width * channels, 4);
  job.squeezed_at = take(scratch, std::uint64_t{part.height} * job.squeezed_stride);
  return job;
}

}  // namespace feedrate::trainer::cuda
