// Max pooling on the CPU against its definition, position by position, with NaN and infinities
// among the values.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "formats/base/random.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cpu {
using namespace formats;

namespace {

struct Case {
  std::int64_t kernel, stride, pad;
  std::int64_t channels, block;
  std::uint32_t nan_of_64;  // how many values in 64 are NaN
  bool relu_before = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.kernel << 'x' << c.kernel << " stride " << c.stride << " pad " << c.pad
             << " channels " << c.channels << " block " << c.block << " nan " << c.nan_of_64
             << (c.relu_before ? " relu" : "");
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t height = 9, width = 11, images = 2;

// Few distinct values, so that windows often contain equal ones; exact in bf16, and so are sums.
std::vector<float> random_values(std::int64_t count, std::uint64_t key, std::uint32_t nan_of_64) {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const std::uint64_t bits = random_bits(key, i);
    const std::uint32_t special = below(bits, 64);
    float value = static_cast<float>(bits % 9) - 4.0F;
    if (nan_of_64 > 0 && special == 63) value = bits % 2 == 0 ? infinity : -infinity;
    values.push_back(special < nan_of_64 ? nan : value);
  }
  return values;
}

class Pooling {
 public:
  explicit Pooling(const Case& c)
      : case_(c), graph_(graph_of(c)), in_{graph_.nodes[1].extent, c.block} {}

  template <class T>
  void check() const {
    LayerSite site{.graph = graph_, .number = 2, .inputs = {in_}, .input = in_, .batch = images};
    site.threads = 2;
    site.type = site.input_type = type_of_values<T>;
    site.relu_before = case_.relu_before;
    const auto layer = make_layer(site);
    EXPECT_EQ(layer->does_relu_before(), case_.relu_before);
    const std::vector<float> input = random_values(in_.elements() * images, 1, case_.nan_of_64);
    const std::vector<float> gradient = random_values(layer->output().elements() * images, 2, 0);
    std::vector<T> in(input.begin(), input.end()), out(gradient.size());
    std::vector<T> out_gradient(gradient.begin(), gradient.end()), in_gradient(in.size(), T{7.0F});
    std::vector<std::byte> saved(layer->saved_bytes()), scratch(layer->scratch_bytes() + 64);
    BuffersOf<T> buffers;
    buffers.input = in.data();
    buffers.output = out.data();
    buffers.output_gradient = out_gradient.data();
    buffers.input_gradient = in_gradient.data();
    buffers.saved = saved.data();
    buffers.scratch = scratch.data();
    layer->bind(Buffers(buffers));
    layer->forward({});
    layer->backward({});
    std::vector<float> expected_gradient(in.size());
    for_each_output(layer->output(), [&](std::size_t output, const auto& window) {
      std::optional<std::size_t> winner;
      for (const std::size_t i : window) {
        if (!winner || wins(input[i], input[*winner])) winner = i;
      }
      float expected = input[*winner];
      if (case_.relu_before) expected = expected < 0 ? 0 : expected;
      const float found = static_cast<float>(out[output]);
      EXPECT_TRUE(found == expected || (found != found && expected != expected))
          << case_ << ": output " << output << " is " << found << ", not " << expected;
      const bool passes = !case_.relu_before || expected > 0;
      if (passes) expected_gradient[*winner] += gradient[output];
    });
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(static_cast<float>(in_gradient[i]), expected_gradient[i]) << case_ << " at " << i;
    }
  }

 private:
  static Graph graph_of(const Case& c) {
    Builder b("pool", {.height = height, .width = width, .channels = 3}, 2);
    const auto x = b.conv(b.input(1), c.channels, 1, 1, 0, {});
    return b.softmax_loss(b.dense(b.max_pool(x, c.kernel, c.stride, c.pad), 2, {}));
  }

  // Calls visit(an output's offset, the offsets of its window, row by row).
  template <class Visit>
  void for_each_output(const Layout& out, const Visit& visit) const {
    for (std::int64_t image = 0; image < images; ++image) {
      for (std::int64_t c = 0; c < case_.channels; ++c) {
        for (std::int64_t row = 0; row < out.extent.height; ++row) {
          for (std::int64_t column = 0; column < out.extent.width; ++column) {
            std::vector<std::size_t> window;
            for (std::int64_t y = row * case_.stride - case_.pad, dy = 0; dy < case_.kernel;
                 ++y, ++dy) {
              for (std::int64_t x = column * case_.stride - case_.pad, dx = 0; dx < case_.kernel;
                   ++x, ++dx) {
                if (y < 0 || y >= height || x < 0 || x >= width) continue;
                window.push_back(offset(in_, image, c, y * width + x));
              }
            }
            visit(offset(out, image, c, row * out.extent.width + column), window);
          }
        }
      }
    }
  }
  static std::size_t offset(const Layout& layout, std::int64_t image, std::int64_t channel,
                            std::int64_t pixel) {
    return static_cast<std::size_t>(image * layout.elements() + layout.offset(channel, pixel));
  }

  Case case_;
  Graph graph_;
  Layout in_;
};

TEST(UnitMaxPool, values_and_gradients_are_those_of_the_definition_nan_included) {
  for (const std::int64_t kernel : {1, 2, 3, 4}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      // Blocks of all widths in which channels are handled: 16, 4 and 1.
      for (const auto& [channels, block] :
           {std::pair{3, 1}, {4, 4}, {16, 16}, {21, 21}, {32, 16}}) {
        for (const std::uint32_t nan_of_64 : {0U, 1U, 24U, 64U}) {
          for (const bool relu_before : {false, true}) {
            const Pooling pooling(
                {kernel, stride, kernel / 3, channels, block, nan_of_64, relu_before});
            pooling.check<float>();
            pooling.check<Bf16>();
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedrate::trainer::cpu
