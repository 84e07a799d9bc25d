// A residual block's way past itself: every stride-th value, then channels of zeros.

#include <numeric>

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::trainer::cuda {
namespace {

struct Sides {
  ImageLayout in;
  ImageLayout out;
  std::uint32_t width;
  std::uint32_t out_width;
  std::uint32_t stride;
};

template <class T, unsigned lanes>
struct Forward {
  Sides s;
  const T* x;
  T* y;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = s.out.channel(e), pixel = s.out.pixel(e);
    const std::uint32_t row = pixel / s.out_width, column = pixel % s.out_width;
    Lanes<T, lanes> values{};
    if (channel < s.in.channels) {
      const std::uint32_t from = row * s.stride * s.width + column * s.stride;
      values = load<T, lanes>(x + image * s.in.elements() + s.in.offset(channel, from));
    }
    store(y + image * s.out.elements() + e, values);
  }
};

template <class T, unsigned lanes>
struct Backward {
  Sides s;
  const T* dy;
  T* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = s.in.channel(e), pixel = s.in.pixel(e);
    const std::uint32_t row = pixel / s.width, column = pixel % s.width;
    Lanes<T, lanes> values{};
    if (row % s.stride == 0 && column % s.stride == 0) {
      const std::uint32_t from = row / s.stride * s.out_width + column / s.stride;
      values = load<T, lanes>(dy + image * s.out.elements() + s.out.offset(channel, from));
    }
    store(dx + image * s.in.elements() + e, values);
  }
};

template <class T>
class ShortcutOp final : public CudaOpOf<T> {
 public:
  explicit ShortcutOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        sides_{layout(site.in), layout(site.node.extent), static_cast<std::uint32_t>(site.in.width),
               static_cast<std::uint32_t>(site.node.extent.width),
               static_cast<std::uint32_t>(site.node.attributes.integer("stride"))} {}

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    with_lanes<T>(common_channels(), [&](auto lanes) {
      each_of_images(context_, "shortcut forward", batch_, sides_.out.elements(),
                     Forward<T, lanes>{sides_, place.x, place.y}, lanes);
    });
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    if (place.dx == nullptr) return;
    with_lanes<T>(common_channels(), [&](auto lanes) {
      each_of_images(context_, "shortcut backward", batch_, sides_.in.elements(),
                     Backward<T, lanes>{sides_, place.dy, place.dx}, lanes);
    });
  }

 private:
  std::int64_t common_channels() const { return std::gcd(sides_.in.channels, sides_.out.channels); }

  const Context& context_;
  std::int64_t batch_;
  Sides sides_;
};

}  // namespace

std::unique_ptr<CudaOp> shortcut_cuda(const OpSite& site) { return make_typed<ShortcutOp>(site); }

}  // namespace feedrate::trainer::cuda
