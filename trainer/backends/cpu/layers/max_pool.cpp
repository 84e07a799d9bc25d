#include <algorithm>
#include <limits>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/backends/cpu/values/vector.h"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cpu {
namespace {

// One plane of blocks: `lanes` channels side by side at every pixel.
struct Plane {
  PoolGeometry g;
  std::int64_t lanes;
  bool relu_before;
  std::int64_t in_size() const { return std::int64_t{g.height} * g.width * lanes; }
  // Windows of 2 × 2 that neither overlap nor leave gaps.
  bool is_halved() const {
    return g.kernel == 2 && g.stride == 2 && g.pad == 0 && g.height == 2 * g.out_height &&
           g.width == 2 * g.out_width;
  }
  std::int64_t out_size() const { return std::int64_t{g.out_height} * g.out_width * lanes; }
};

// The places of a window that lie in the plane: their positions begin with `first`, and those of
// the next row are `pitch` higher.
struct Box {
  std::int32_t rows, columns, first, pitch;
};

// Calls visit(row, column, position) for every place of a box; the position is in all lanes of
// `place`, and changes by `step` from place to place. The loops over a box of side × side are
// unrolled, unless `side` is 0.
template <int side, int step, class Ints, class Visit>
FEEDRATE_INLINE inline void each_place(const Box& box, Ints& place, const Visit& visit) {
  fill(box.first, place);
  if (side != 0 && box.rows == side && box.columns == side) {
#pragma GCC unroll 3
    for (std::int32_t row = 0; row < side; ++row) {
#pragma GCC unroll 3
      for (std::int32_t column = 0; column < side; ++column, place += step) {
        visit(row, column, place);
      }
    }
    return;
  }
  Ints skipped;
  fill(step * (box.pitch - box.columns), skipped);
  for (std::int32_t row = 0; row < box.rows; ++row, place += skipped) {
    for (std::int32_t column = 0; column < box.columns; ++column, place += step) {
      visit(row, column, place);
    }
  }
}

// Calls visit(the window's first value, box) for every window, row by row.
template <class T, class Visit>
FEEDRATE_INLINE inline void each_window(const Plane& plane, T* values, const Visit& visit) {
  const PoolGeometry& g = plane.g;
  for (std::int32_t row = 0; row < g.out_height; ++row) {
    const PoolRange rows = pool_inputs(g, row, g.height);
    for (std::int32_t column = 0; column < g.out_width; ++column) {
      const PoolRange columns = pool_inputs(g, column, g.width);
      visit(values + (std::int64_t{rows.begin} * g.width + columns.begin) * plane.lanes,
            Box{rows.end - rows.begin, columns.end - columns.begin,
                pool_position(g, row, column, rows.begin, columns.begin), g.kernel});
    }
  }
}

// The winner of a window whose maximum a relu sets to 0: no input gets its gradient.
constexpr std::int32_t no_winner = 255;

// A NaN wins, as wins() says. Keeping it would slow down every step for the sake of one that has
// diverged; noticing it takes one addition for each value.
enum class Nan : std::uint8_t { noticed, kept };

// The largest value of every window and its position in the window, the first of equals. With a
// relu before the pooling, takes the relu of the maximum, which is the maximum of the relu. With
// Nan::noticed, returns whether the result may be wrong because a value is NaN.
template <int kernel, Nan nan, class T>
FEEDRATE_INLINE inline bool pool(const Plane& plane, const T* in, T* out, std::uint8_t* winners) {
  const std::int64_t pitch = plane.g.width * plane.lanes;
  float sums[16] = {};  // NaN if a value is, and where infinities of both signs meet
  each_window(plane, in, [&](const T* window, const Box& box) FEEDRATE_INLINE {
    for_lanes(plane.lanes, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
      using Vector = VectorOf<width>;
      typename Vector::Floats best, value, limit, infinity, sum{};
      typename Vector::Ints best_place, place;
      load(window + first, best);
      fill(box.first, best_place);
      fill(std::numeric_limits<float>::infinity(), infinity);
      limit = best < infinity ? best : infinity;
      const auto compare = [&](std::int32_t y, std::int32_t x, const auto& here) FEEDRATE_INLINE {
        load(window + y * pitch + x * plane.lanes + first, value);
        if constexpr (nan == Nan::noticed) {
          sum += value;
          const auto stays = value <= best;
          best = stays ? best : value;
          best_place = stays ? best_place : here;
        } else {  // after a NaN the limit is infinity, which only another NaN passes
          const typename Vector::Floats own_limit = value < infinity ? value : infinity;
          const auto stays = value <= limit;
          limit = stays ? limit : own_limit;
          best = stays ? best : value;
          best_place = stays ? best_place : here;
        }
      };
      each_place<kernel, 1>(box, place, compare);
      if constexpr (nan == Nan::noticed) {
        load(sums, value);
        value += sum;
        store(value, sums);
      }
      if (plane.relu_before) {
        fill(no_winner, place);
        best_place = best > 0.0F ? best_place : place;
        best = best < 0.0F ? typename Vector::Floats{} : best;
      }
      store(best, out + first);
      store(__builtin_convertvector(best_place, typename Vector::Bytes), winners + first);
    });
    out += plane.lanes;
    winners += plane.lanes;
  });
  return std::ranges::any_of(sums, [](float sum) { return sum != sum; });
}

// Adds each window's gradient to its winner. `to` must start at zero.
template <int kernel, class T>
FEEDRATE_INLINE inline void unpool(const Plane& plane, const T* gradient,
                                   const std::int32_t* winners, float* to) {
  const std::int64_t pitch = plane.g.width * plane.lanes;
  each_window(plane, to, [&](float* window, const Box& box) FEEDRATE_INLINE {
    for_lanes(plane.lanes, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
      using Vector = VectorOf<width>;
      typename Vector::Floats mine, sum;
      typename Vector::Ints winner, place;
      load(gradient + first, mine);
      load(winners + first, winner);
      const auto add = [&](std::int32_t y, std::int32_t x, const auto& here) FEEDRATE_INLINE {
        float* at = window + y * pitch + x * plane.lanes + first;
        load(at, sum);
        sum += winner == here ? mine : typename Vector::Floats{};
        store(sum, at);
      };
      each_place<kernel, 1>(box, place, add);
    });
    gradient += plane.lanes;
    winners += plane.lanes;
  });
}

// The same where each input belongs to exactly one window.
template <int kernel, class T>
FEEDRATE_INLINE inline void unpool_apart(const Plane& plane, const T* gradient,
                                         const std::int32_t* winners, T* to) {
  const PoolGeometry& g = plane.g;
  const std::int64_t pitch = g.width * plane.lanes;
  for (std::int32_t row = 0; row < g.out_height; ++row) {
    for (std::int32_t column = 0; column < g.out_width; ++column) {
      T* window = to + (row * pitch + column * plane.lanes) * kernel;
      for_lanes(plane.lanes, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
        using Vector = VectorOf<width>;
        typename Vector::Floats mine, own;
        typename Vector::Ints winner, place;
        load(gradient + first, mine);
        load(winners + first, winner);
        const auto write = [&](std::int32_t y, std::int32_t x, const auto& here) FEEDRATE_INLINE {
          own = winner == here ? mine : typename Vector::Floats{};
          store(own, window + y * pitch + x * plane.lanes + first);
        };
        each_place<kernel, 1>({kernel, kernel, 0, kernel}, place, write);
      });
      gradient += plane.lanes;
      winners += plane.lanes;
    }
  }
}

// Computes the same bits by gathering: each input's gradient is the sum over the windows that it
// won, row by row. For windows of 3 × 3 and stride 1.
template <class T>
FEEDRATE_INLINE inline void unpool_dense(const Plane& plane, const T* gradient,
                                         const std::int32_t* winners, T* to) {
  const PoolGeometry& g = plane.g;
  const std::int64_t pitch = g.out_width * plane.lanes;
  for (std::int32_t y = 0; y < g.height; ++y) {
    const PoolRange rows = pool_outputs(g, y, g.out_height);
    for (std::int32_t x = 0; x < g.width; ++x) {
      const PoolRange columns = pool_outputs(g, x, g.out_width);
      const std::int32_t first_place = pool_position(g, rows.begin, columns.begin, y, x);
      const std::int64_t start = rows.begin * pitch + columns.begin * plane.lanes;
      for_lanes(plane.lanes, [&](std::int64_t first, auto width) FEEDRATE_INLINE {
        using Vector = VectorOf<width>;
        typename Vector::Floats sum{}, part;
        typename Vector::Ints winner, place;
        const auto add = [&](std::int32_t row, std::int32_t column,
                             const auto& here) FEEDRATE_INLINE {
          const std::int64_t at = start + row * pitch + column * plane.lanes + first;
          load(gradient + at, part);
          load(winners + at, winner);
          sum += winner == here ? part : typename Vector::Floats{};
        };
        each_place<3, -1>({rows.end - rows.begin, columns.end - columns.begin, first_place, 3},
                          place, add);
        store(sum, to + first);
      });
      to += plane.lanes;
    }
  }
}

// Returns whether the result may be wrong because a value is NaN.
template <class T>
FEEDRATE_VECTOR bool pool_plane(const Plane& plane, const T* in, T* out, std::uint8_t* winners) {
  if (plane.g.kernel == 3) return pool<3, Nan::noticed>(plane, in, out, winners);
  // For so few values, noticing costs as much as keeping.
  if (plane.g.kernel == 2) return pool<2, Nan::kept>(plane, in, out, winners);
  return pool<0, Nan::noticed>(plane, in, out, winners);
}

// A step that has diverged may be slow: nothing is unrolled.
template <class T>
FEEDRATE_VECTOR void pool_plane_with_nan(const Plane& plane, const T* in, T* out,
                                         std::uint8_t* winners) {
  pool<0, Nan::kept>(plane, in, out, winners);
}

// A thread's scratch for a plane: winners as wide as the values, and sums of gradients if these are
// not fp32.
struct PlaneScratch {
  std::int32_t* wide;
  float* sums;
};

template <class T>
FEEDRATE_VECTOR void unpool_plane(const Plane& plane, const T* gradient,
                                  const std::uint8_t* winners, const PlaneScratch& scratch, T* to) {
  const PoolGeometry& g = plane.g;
  const std::int64_t size = plane.out_size();
  for (std::int64_t i = 0; i < size; ++i) scratch.wide[i] = winners[i];
  if (g.kernel == 3 && g.stride == 1) return unpool_dense(plane, gradient, scratch.wide, to);
  if (plane.is_halved()) return unpool_apart<2>(plane, gradient, scratch.wide, to);
  float* sums = scratch.sums;
  if constexpr (type_of_values<T> == ValueType::fp32) sums = to;
  std::fill_n(sums, plane.in_size(), 0.0F);
  if (g.kernel == 3) {
    unpool<3>(plane, gradient, scratch.wide, sums);
  } else if (g.kernel == 2) {
    unpool<2>(plane, gradient, scratch.wide, sums);
  } else {
    unpool<0>(plane, gradient, scratch.wide, sums);
  }
  if constexpr (type_of_values<T> == ValueType::bf16) {
    convert(sums, plane.in_size(), to);
  }
}

template <class T>
class MaxPoolLayer final : public LayerOf<T> {
 public:
  explicit MaxPoolLayer(const LayerSite& site)
      : LayerOf<T>(site, {site.node().extent, site.input.block}),
        plane_{pool_geometry(site.node().attributes, site.input.extent, site.node().extent),
               site.input.block, site.relu_before},
        planes_(site.batch * site.input.blocks()),
        threads_(site.threads) {}

  bool does_relu_before() const override { return plane_.relu_before; }

  // The winner of each output in one byte, since windows have at most 225 positions.
  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(planes_ * plane_.out_size());
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(threads_ * (plane_.out_size() + sums_size())) * sizeof(float);
  }

  void forward(const Step&) override {
    each_plane([this](std::int64_t in, std::int64_t out, const PlaneScratch&) {
      const T* from = buffers().input + in;
      T* to = buffers().output + out;
      if (pool_plane(plane_, from, to, winners() + out)) {
        pool_plane_with_nan(plane_, from, to, winners() + out);
      }
    });
  }

  void backward(const Step&) override {
    each_plane([this](std::int64_t in, std::int64_t out, const PlaneScratch& scratch) {
      unpool_plane(plane_, buffers().output_gradient + out, winners() + out, scratch,
                   buffers().input_gradient + in);
    });
  }

 private:
  using LayerOf<T>::buffers;

  // The values of a thread's sums of gradients; in fp32, the input's gradient itself holds the
  // sums.
  std::int64_t sums_size() const {
    return type_of_values<T> == ValueType::fp32 ? 0 : plane_.in_size();
  }
  std::uint8_t* winners() const { return reinterpret_cast<std::uint8_t*>(buffers().saved); }

  // Calls body(offset of a plane in the input, its offset in the output, the thread's scratch).
  template <class Body>
  void each_plane(const Body& body) const {
    on_threads(threads_, [&](unsigned thread) {
      std::byte* mine = buffers().scratch + thread * scratch_bytes() / threads_;
      const PlaneScratch scratch{reinterpret_cast<std::int32_t*>(mine),
                                 reinterpret_cast<float*>(mine) + plane_.out_size()};
      const Range range = share_of(planes_, thread, threads_);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        body(i * plane_.in_size(), i * plane_.out_size(), scratch);
      }
    });
  }

  Plane plane_;
  std::int64_t planes_;
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return make_typed<MaxPoolLayer>(site);
}

}  // namespace feedrate::trainer::cpu
