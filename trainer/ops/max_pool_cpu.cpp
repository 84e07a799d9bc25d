#include <algorithm>

#include "trainer/backends/cpu/lanes.h"
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

// The part of a window that lies on the image, and the number of its first place among the places
// of the whole window.
struct Window {
  Range rows, columns;
  std::int32_t first_place;
};

Range on_image(std::int64_t start, std::int64_t kernel, std::int64_t side) {
  return {std::max<std::int64_t>(start, 0), std::min(start + kernel, side)};
}

Window window_at(const Plane& plane, std::int64_t y, std::int64_t x) {
  const std::int64_t top = y * plane.stride - plane.pad;
  const std::int64_t left = x * plane.stride - plane.pad;
  const Window window{on_image(top, plane.kernel, plane.height),
                      on_image(left, plane.kernel, plane.width), 0};
  const std::int64_t place = (window.rows.begin - top) * plane.kernel + window.columns.begin - left;
  return {window.rows, window.columns, static_cast<std::int32_t>(place)};
}

// Calls visit(offset of the pixel's first lane, place) for every place of the window.
template <class Visit>
[[gnu::always_inline]] inline void each_place(const Plane& plane, const Window& window,
                                              const Visit& visit) {
  for (std::int64_t y = 0; y < window.rows.size(); ++y) {
    for (std::int64_t x = 0; x < window.columns.size(); ++x) {
      const std::int64_t pixel = (window.rows.begin + y) * plane.width + window.columns.begin + x;
      visit(pixel * plane.lanes,
            window.first_place + static_cast<std::int32_t>(y * plane.kernel + x));
    }
  }
}

// The largest value of every window, and which place of the window held it, the first of equals.
// Where all are NaN, so is the output.
FEEDRATE_VECTOR void pool_plane(const Plane& plane, const float* in, float* out,
                                std::uint8_t* winners) {
  for (std::int64_t y = 0; y < plane.out_height; ++y) {
    for (std::int64_t x = 0; x < plane.out_width; ++x) {
      const Window window = window_at(plane, y, x);
      const std::int64_t start =
          (window.rows.begin * plane.width + window.columns.begin) * plane.lanes;
      for_lanes(plane.lanes, [&](std::int64_t first, auto width) {
        float best[width];
        std::int32_t best_place[width];
        for (int lane = 0; lane < width; ++lane) {
          best[lane] = in[start + first + lane];
          best_place[lane] = window.first_place;
        }
        each_place(plane, window, [&](std::int64_t pixel, std::int32_t place) {
          const float* values = in + pixel + first;
          for (int lane = 0; lane < width; ++lane) {
            const bool wins = !(values[lane] <= best[lane]);
            best[lane] = wins ? values[lane] : best[lane];
            best_place[lane] = wins ? place : best_place[lane];
          }
        });
        for (int lane = 0; lane < width; ++lane) {
          out[first + lane] = best[lane];
          winners[first + lane] = static_cast<std::uint8_t>(best_place[lane]);
        }
      });
      out += plane.lanes;
      winners += plane.lanes;
    }
  }
}

// Adds every window's gradient to the place that won. `to` starts at zero.
FEEDRATE_VECTOR void unpool_plane(const Plane& plane, const float* gradient,
                                  const std::uint8_t* winners, float* to) {
  for (std::int64_t y = 0; y < plane.out_height; ++y) {
    for (std::int64_t x = 0; x < plane.out_width; ++x) {
      const Window window = window_at(plane, y, x);
      for_lanes(plane.lanes, [&](std::int64_t first, auto width) {
        float mine[width];
        std::int32_t winner[width];
        for (int lane = 0; lane < width; ++lane) {
          mine[lane] = gradient[first + lane];
          winner[lane] = winners[first + lane];
        }
        each_place(plane, window, [&](std::int64_t pixel, std::int32_t place) {
          float* sums = to + pixel + first;
          for (int lane = 0; lane < width; ++lane) {
            sums[lane] += winner[lane] == place ? mine[lane] : 0.0F;
          }
        });
      });
      gradient += plane.lanes;
      winners += plane.lanes;
    }
  }
}

class MaxPoolLayer final : public Layer {
 public:
  explicit MaxPoolLayer(const LayerSite& site)
      : Layer(site, {site.node().extent, site.input.block}),
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

  // Which place of its window each output came from: one byte, as windows have at most 225 places.
  std::size_t kept_bytes() const override { return static_cast<std::size_t>(planes_ * out_size()); }

  void forward(const Pass&) override {
    auto* winners = reinterpret_cast<std::uint8_t*>(buffers().kept);
    on_shares(threads_, planes_, 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        pool_plane(plane_, buffers().input + i * in_size(), buffers().output + i * out_size(),
                   winners + i * out_size());
      }
    });
  }

  void backward(const Pass&) override {
    const auto* winners = reinterpret_cast<const std::uint8_t*>(buffers().kept);
    on_shares(threads_, planes_, 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        float* to = buffers().input_gradient + i * in_size();
        std::fill_n(to, in_size(), 0.0F);
        unpool_plane(plane_, buffers().output_gradient + i * out_size(), winners + i * out_size(),
                     to);
      }
    });
  }

 private:
  std::int64_t in_size() const { return plane_.height * plane_.width * plane_.lanes; }
  std::int64_t out_size() const { return plane_.out_height * plane_.out_width * plane_.lanes; }

  Plane plane_;
  std::int64_t planes_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return std::make_unique<MaxPoolLayer>(site);
}

}  // namespace feedrate::cpu
