// Max pooling. Forward saves the position of each window's largest value; backward gathers, so that
// no two threads add to the same sum. Forward may normalise what it reads, with the norm and the
// relu before it; the norm then gathers the gradient.

#include <optional>

#include "trainer/backends/cuda/layers/norm_channels.cuh"
#include "trainer/backends/cuda/layers/pool_gradient.cuh"

namespace feedrate::trainer::cuda {
namespace {

/// What the pool reads, as it lies.
struct Plain {
  template <class T, unsigned lanes>
  struct Channels {
    __device__ Channels(const Plain&, std::int64_t, std::uint32_t) {}
    __device__ float operator()(unsigned, float x) const { return x; }
  };
};
/// The output of the norm and the relu before the pool, as they would have stored it.
struct Normalised {
  std::int64_t images;  // those present
  NormChannels norm;
  template <class T, unsigned lanes>
  struct Channels {
    bool present;
    ChannelForward forward[lanes];  // read once for all values of a window
    __device__ Channels(const Normalised& of, std::int64_t image, std::uint32_t channel)
        : present(image < of.images) {
      for (unsigned k = 0; k < lanes; ++k) forward[k] = of.norm.forward(channel + k);
    }
    __device__ float operator()(unsigned k, float x) const {
      return present ? static_cast<float>(static_cast<T>(relu(forward[k](x)))) : 0.0F;
    }
  };
};

struct Winner {
  float value;
  std::uint8_t position;  // in the window
};

template <class T, unsigned lanes, class Value>
struct MaxPoolForward {
  static constexpr std::int32_t at_once = 3;  // values of a row of the window
  PoolSides s;
  Value value;
  const T* input;
  T* output;
  std::uint8_t* winners;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const PoolGeometry& g = s.g;
    const T* values = input + image * s.in.elements();
    const std::uint32_t channel = s.out.channel(e);
    const PoolSpot out = pool_spot(s.out.pixel(e), g.out_width);
    const PoolRange rows = pool_inputs(g, out.row, g.height);
    const PoolRange columns = pool_inputs(g, out.column, g.width);
    const typename Value::template Channels<T, lanes> channels(value, image, channel);
    Winner best[lanes] = {};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; column += at_once) {
        Lanes<T, lanes> found[at_once];
        for (std::int32_t c = 0; c < at_once; ++c) {
          // Beyond the end the last one is loaded once more, and not looked at.
          const std::int32_t inside = std::min(column + c, columns.end - 1);
          const auto pixel = static_cast<std::uint32_t>(row * g.width + inside);
          found[c] = load<T, lanes>(values + s.in.offset(channel, pixel));
        }
        for (std::int32_t c = 0; c < at_once && column + c < columns.end; ++c) {
          const std::uint8_t position = pool_position(g, out.row, out.column, row, column + c);
          const bool first = row == rows.begin && column + c == columns.begin;
          for (unsigned k = 0; k < lanes; ++k) {
            const float x = channels(k, found[c].values[k]);
            if (first || wins(x, best[k].value)) best[k] = {x, position};
          }
        }
      }
    }
    const std::int64_t offset = image * s.out.elements() + e;
    Lanes<T, lanes> won;
    ByteLanes<lanes> positions;
    for (unsigned k = 0; k < lanes; ++k) {
      won.values[k] = best[k].value;
      positions.values[k] = best[k].position;
    }
    store(output + offset, won);
    store_bytes(winners + offset, positions);
  }
};

template <class T, unsigned lanes>
struct MaxPoolBackward {
  PoolGradient<T, lanes> gradient;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    store(input_gradient + image * gradient.s.in.elements() + e, gradient(image, e));
  }
};

template <class T>
class MaxPoolLayer final : public LayerOf<T> {
 public:
  explicit MaxPoolLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        sides_{pool_geometry(site.node().attributes, site.input, site.node().extent),
               image_layout(site.input), image_layout(site.node().extent)} {
    if (site.norm == no_node) return;
    norm_.emplace(site.graph.nodes[site.norm], site.input, site.norm_parameters[0]);
  }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * sides_.out.elements());
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step& step) override {
    if (norm_ && !step.unfused) {
      const Buffers& norm = buffers.norm(0);
      forward(Normalised{step.count, norm_->channels(norm.saved)},
              reinterpret_cast<const T*>(norm.inputs[0]), buffers);
    } else {
      forward(Plain{}, buffers.input, buffers);
    }
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(context_, "max_pool backward", batch_, sides_.in.elements(),
                     MaxPoolBackward<T, lanes>{{sides_, buffers.output_gradient, winners(buffers)},
                                               buffers.input_gradient},
                     lanes);
    });
  }

 private:
  static std::uint8_t* winners(const BuffersOf<T>& buffers) {
    return reinterpret_cast<std::uint8_t*>(buffers.saved);
  }
  template <class Value>
  void forward(const Value& value, const T* input, const BuffersOf<T>& buffers) const {
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(
          context_, "max_pool forward", batch_, sides_.out.elements(),
          MaxPoolForward<T, lanes, Value>{sides_, value, input, buffers.output, winners(buffers)},
          lanes);
    });
  }

  const Context& context_;
  std::int64_t batch_;
  PoolSides sides_;
  std::optional<Norm> norm_;  // that forward applies
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return make_typed<MaxPoolLayer>(site);
}

}  // namespace feedrate::trainer::cuda
