#include <algorithm>
#include <limits>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/parallel.h"

namespace feedrate::cpu {
namespace {

// One plane of blocks: `lanes` channels side by side at every pixel.
struct Plane {
  std::int64_t height, width, lanes;
  std::int64_t out_height, out_width;
  std::int64_t kernel, stride, pad;
};

// The part of a window that lies on the image, along one side.
Range on_image(std::int64_t position, const Plane& plane, std::int64_t side) {
  const std::int64_t start = position * plane.stride - plane.pad;
  return {std::max<std::int64_t>(start, 0), std::min(start + plane.kernel, side)};
}

constexpr std::int64_t chunk = 64;  // lanes held in registers and first-level cache

// For `lanes` (≤ chunk) channels of one window: the largest value, and which place of the window
// held it, the first of equals. A NaN wins and stays.
FEEDRATE_VECTOR void pool_window(const float* in, const Plane& plane, Range rows, Range columns,
                                 std::int64_t first_place, std::int64_t lanes, float* out,
                                 std::uint8_t* winner) {
  float best[chunk];
  std::int32_t place[chunk];
  const float* start = in + (rows.begin * plane.width + columns.begin) * plane.lanes;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    best[lane] = start[lane];
    place[lane] = static_cast<std::int32_t>(first_place);
  }
  for (std::int64_t y = 0; y < rows.size(); ++y) {
    for (std::int64_t x = 0; x < columns.size(); ++x) {
      const float* values = start + (y * plane.width + x) * plane.lanes;
      const auto here = static_cast<std::int32_t>(first_place + y * plane.kernel + x);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const bool wins = values[lane] > best[lane] || values[lane] != values[lane];
        best[lane] = wins ? values[lane] : best[lane];
        place[lane] = wins ? here : place[lane];
      }
    }
  }
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    out[lane] = best[lane];
    winner[lane] = static_cast<std::uint8_t>(place[lane]);
  }
}

// Adds the window's gradient to the place that won, for all channels.
FEEDRATE_VECTOR void return_gradient(const float* gradient, const std::uint8_t* winner,
                                     std::int32_t place, std::int64_t lanes, float* to) {
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    to[lane] += winner[lane] == place ? gradient[lane] : 0.0F;
  }
}

class MaxPoolLayer final : public Layer {
 public:
  explicit MaxPoolLayer(const LayerSite& site)
      : Layer(site, {site.node().extent, site.input.block}),
        input_(site.input),
        plane_{.height = site.input.extent.height,
               .width = site.input.extent.width,
               .lanes = site.input.block,
               .out_height = site.node().extent.height,
               .out_width = site.node().extent.width,
               .kernel = site.node().attributes.integer("kernel"),
               .stride = site.node().attributes.integer("stride"),
               .pad = site.node().attributes.integer("pad")},
        planes_(site.batch * site.input.blocks()),
        threads_(site.threads) {}

  // Which place of its window each output came from.
  std::size_t kept_bytes() const override { return static_cast<std::size_t>(planes_ * out_size()); }

  void forward(const Pass&) override {
    auto* winners = reinterpret_cast<std::uint8_t*>(buffers().kept);
    on_shares(threads_, planes_, 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        pool(buffers().input + i * in_size(), buffers().output + i * out_size(),
             winners + i * out_size());
      }
    });
  }

  void backward(const Pass&) override {
    if (buffers().input_gradient == nullptr) return;
    const auto* winners = reinterpret_cast<const std::uint8_t*>(buffers().kept);
    on_shares(threads_, planes_, 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        unpool(buffers().output_gradient + i * out_size(), winners + i * out_size(),
               buffers().input_gradient + i * in_size());
      }
    });
  }

 private:
  std::int64_t in_size() const { return input_.pixels() * input_.block; }
  std::int64_t out_size() const { return output().pixels() * output().block; }

  void pool(const float* in, float* out, std::uint8_t* winners) const {
    for (std::int64_t y = 0; y < plane_.out_height; ++y) {
      for (std::int64_t x = 0; x < plane_.out_width; ++x) {
        const Range rows = on_image(y, plane_, plane_.height);
        const Range columns = on_image(x, plane_, plane_.width);
        for (std::int64_t lane = 0; lane < plane_.lanes; lane += chunk) {
          const std::int64_t at = (y * plane_.out_width + x) * plane_.lanes + lane;
          pool_window(in + lane, plane_, rows, columns, first_place(y, x),
                      std::min(chunk, plane_.lanes - lane), out + at, winners + at);
        }
      }
    }
  }

  void unpool(const float* gradient, const std::uint8_t* winners, float* to) const {
    std::fill_n(to, in_size(), 0.0F);
    for (std::int64_t y = 0; y < plane_.out_height; ++y) {
      for (std::int64_t x = 0; x < plane_.out_width; ++x) {
        const Range rows = on_image(y, plane_, plane_.height);
        const Range columns = on_image(x, plane_, plane_.width);
        const std::int64_t at = (y * plane_.out_width + x) * plane_.lanes;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
          for (std::int64_t column = columns.begin; column < columns.end; ++column) {
            const std::int64_t place =
                first_place(y, x) + (row - rows.begin) * plane_.kernel + column - columns.begin;
            return_gradient(gradient + at, winners + at, static_cast<std::int32_t>(place),
                            plane_.lanes, to + (row * plane_.width + column) * plane_.lanes);
          }
        }
      }
    }
  }

  // Of the window's places, the first that lies on the image.
  std::int64_t first_place(std::int64_t y, std::int64_t x) const {
    const std::int64_t above = std::max<std::int64_t>(plane_.pad - y * plane_.stride, 0);
    const std::int64_t left = std::max<std::int64_t>(plane_.pad - x * plane_.stride, 0);
    return above * plane_.kernel + left;
  }

  Layout input_;
  Plane plane_;
  std::int64_t planes_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return std::make_unique<MaxPoolLayer>(site);
}

}  // namespace feedrate::cpu
