// Planes of samples → pixels, one thread a pixel: upsampling, colours, and where nothing is resized
// also crop and mirror.

#include "trainer/backends/cuda/decode/jpeg_maths.cuh"
#include "trainer/backends/cuda/decode/launch.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

// The samples of a component, addressed as in the whole image.
struct Samples {
  const PackedComponent& own;
  const Plane& plane;
  const std::byte* first;

  __device__ int at(std::uint32_t x, std::uint32_t y) const {
    return static_cast<int>(first[std::uint64_t{y - plane.y} * plane.stride + (x - plane.x)]);
  }
  // The neighbour of sample `at` on the side of a pixel's half of it; at the edge, itself.
  static __device__ std::uint32_t beside(std::uint32_t at, bool later, std::uint32_t side) {
    if (later) return at + 1 < side ? at + 1 : at;
    return at > 0 ? at - 1 : at;
  }

  // The value of pixel (x, y), upsampled where, and as, libjpeg does: smoothly by two, but not
  // across in images of up to two samples; else by repetition.
  __device__ int pixel(std::uint32_t x, std::uint32_t y) const {
    const std::uint32_t sx = x / own.expand_across, sy = y / own.expand_down;
    const bool wide = own.expand_across == 2 && own.width > 2;
    const bool right = x % 2 != 0, lower = y % 2 != 0;
    if (wide && own.expand_down == 2) {
      const std::uint32_t other_x = beside(sx, right, own.width);
      const std::uint32_t other_y = beside(sy, lower, own.height);
      return smooth_both(between_rows(at(sx, sy), at(sx, other_y)),
                         between_rows(at(other_x, sy), at(other_x, other_y)), right);
    }
    if (wide && own.expand_down == 1) {
      return smooth(at(sx, sy), at(beside(sx, right, own.width), sy), right);
    }
    if (own.expand_across == 1 && own.expand_down == 2) {
      return smooth(at(sx, sy), at(sx, beside(sy, lower, own.height)), lower);
    }
    return at(sx, sy);
  }
};

__device__ Rgb colour_at(const ImageJob& job, const std::byte* scratch, std::uint32_t x,
                         std::uint32_t y) {
  const PackedPart& image = job.image;
  int values[max_jpeg_components];
  for (unsigned c = 0; c < image.components; ++c) {
    const Plane& plane = job.planes[c];
    values[c] = Samples{image.component[c], plane, scratch + plane.at}.pixel(x, y);
  }
  switch (image.colours) {
    case JpegColours::ycc:
      return rgb_of_ycc(values[0], values[1], values[2]);
    case JpegColours::cmyk:
      return rgb_of_inks({values[0], values[1], values[2]}, values[3]);
    case JpegColours::ycck:
      return rgb_of_ycck(values[0], values[1], values[2], values[3]);
    case JpegColours::rgb:
      return {values[0], values[1], values[2]};
    case JpegColours::grey:
      break;
  }
  return {values[0], values[0], values[0]};
}

struct Colours {
  __device__ std::uint32_t items(const ImageJob& job) const {
    return job.canvas.width * job.canvas.height;
  }
  __device__ void operator()(const ImageJob& job, unsigned number, const DecodeMemory& memory,
                             std::uint32_t i) const {
    const Canvas& canvas = job.canvas;
    const std::uint32_t row = i / canvas.width, column = i % canvas.width;
    // Unsigned: what lies in front of the part is far behind it.
    const std::uint32_t y = static_cast<std::uint32_t>(canvas.y) + row;
    const std::uint32_t x = static_cast<std::uint32_t>(canvas.x) +
                            (canvas.mirrored ? canvas.width - 1 - column : column);
    Rgb colour{0, 0, 0};
    if (y - job.part.y < job.part.height && x - job.part.x < job.part.width) {
      colour = colour_at(job, memory.scratch, x, y);
    }
    std::byte* to = (job.resized ? memory.scratch + job.colours_at
                                 : memory.pixels + number * memory.image_bytes) +
                    std::uint64_t{i} * job.channels;
    to[0] = static_cast<std::byte>(colour.red);
    if (job.channels == 1) return;
    to[1] = static_cast<std::byte>(colour.green);
    to[2] = static_cast<std::byte>(colour.blue);
  }
};

}  // namespace

void compute_colours(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                     std::uint64_t max_pixels) {
  each_item("colours_kernel", stream, range, memory, max_pixels, Colours{});
}

}  // namespace feedrate::trainer::cuda
