#include <algorithm>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/backends/cpu/values/vector.h"
#include "trainer/ops/avg_window.h"

namespace feedrate::trainer::cpu {
namespace {

// Calls visit(offset of the pixel's first lane) for every position of an output's window; returns
// the number of positions.
template <class Visit>
[[gnu::always_inline]] inline std::int32_t each_place(const PoolGeometry& g, std::int64_t lanes,
                                                      std::int32_t row, std::int32_t column,
                                                      const Visit& visit) {
  const PoolRange rows = avg_inputs(g, row, g.height, g.out_height);
  const PoolRange columns = avg_inputs(g, column, g.width, g.out_width);
  for (std::int32_t y = rows.begin; y < rows.end; ++y) {
    for (std::int32_t x = columns.begin; x < columns.end; ++x) {
      visit((std::int64_t{y} * g.width + x) * lanes);
    }
  }
  return (rows.end - rows.begin) * (columns.end - columns.begin);
}

// One plane of blocks: `lanes` channels side by side at every pixel.
template <class T>
FEEDRATE_VECTOR void pool_plane(const PoolGeometry& g, std::int64_t lanes, const T* in, T* out) {
  for (std::int32_t row = 0; row < g.out_height; ++row) {
    for (std::int32_t column = 0; column < g.out_width; ++column, out += lanes) {
      for_lanes(lanes, [&](std::int64_t first, auto width) {
        float sum[width] = {};
        const std::int32_t places = each_place(g, lanes, row, column, [&](std::int64_t pixel) {
          for (int lane = 0; lane < width; ++lane) sum[lane] += in[pixel + first + lane];
        });
        for (int lane = 0; lane < width; ++lane) {
          out[first + lane] = T(sum[lane] / static_cast<float>(places));
        }
      });
    }
  }
}

// Adds each output's gradient, in equal parts, to its inputs. `to` must start at zero.
template <class T>
FEEDRATE_VECTOR void unpool_plane(const PoolGeometry& g, std::int64_t lanes, const T* gradient,
                                  float* to) {
  for (std::int32_t row = 0; row < g.out_height; ++row) {
    for (std::int32_t column = 0; column < g.out_width; ++column, gradient += lanes) {
      const std::int32_t places = each_place(g, lanes, row, column, [](std::int64_t) {});
      for_lanes(lanes, [&](std::int64_t first, auto width) {
        float part[width];
        for (int lane = 0; lane < width; ++lane) {
          part[lane] = gradient[first + lane] / static_cast<float>(places);
        }
        each_place(g, lanes, row, column, [&](std::int64_t pixel) {
          for (int lane = 0; lane < width; ++lane) to[pixel + first + lane] += part[lane];
        });
      });
    }
  }
}

template <class T>
class AvgPoolLayer final : public LayerOf<T> {
 public:
  explicit AvgPoolLayer(const LayerSite& site)
      : LayerOf<T>(site, {site.node().extent, site.input.block}),
        geometry_(pool_geometry(site.node().attributes, site.input.extent, site.node().extent)),
        in_size_(site.input.pixels() * site.input.block),
        planes_(site.batch * site.input.blocks()),
        threads_(site.threads) {}

  std::size_t scratch_bytes() const override {
    return sums_elsewhere ? static_cast<std::size_t>(in_size_ * threads_) * sizeof(float) : 0;
  }

  void forward(const Step&) override {
    on_shares(threads_, planes_, 1, [&](const Range& range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        pool_plane(geometry_, output().block, buffers().input + i * in_size_,
                   buffers().output + i * out_size());
      }
    });
  }

  void backward(const Step&) override {
    if (buffers().input_gradient == nullptr) return;
    on_threads(threads_, [&](unsigned thread) {
      const Range range = share_of(planes_, thread, threads_);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        T* to = buffers().input_gradient + i * in_size_;
        float* sums = reinterpret_cast<float*>(buffers().scratch) + thread * in_size_;
        if constexpr (!sums_elsewhere) sums = to;
        std::fill_n(sums, in_size_, 0.0F);
        unpool_plane(geometry_, output().block, buffers().output_gradient + i * out_size(), sums);
        if constexpr (sums_elsewhere) convert(sums, in_size_, to);
      }
    });
  }

 private:
  using LayerOf<T>::buffers;
  using LayerOf<T>::output;
  // Several windows may add to a gradient, which is rounded once.
  static constexpr bool sums_elsewhere = type_of_values<T> != ValueType::fp32;

  std::int64_t out_size() const { return output().pixels() * output().block; }

  PoolGeometry geometry_;
  std::int64_t in_size_, planes_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_avg_pool_layer(const LayerSite& site) {
  return make_typed<AvgPoolLayer>(site);
}

}  // namespace feedrate::trainer::cpu
