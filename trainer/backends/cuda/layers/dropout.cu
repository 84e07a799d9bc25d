// Dropout: the mask is drawn again in backward, so nothing is kept.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

// The mask is of the step that runs, whose number lies on the device.
struct DrawnMask {
  const UpdateSettings* settings;
  std::uint64_t seed;
  std::uint64_t node;
  float share;
  DropoutMask mask{0, 0, 0, 0};
  __device__ void prepare() { mask = DropoutMask(seed, settings->step, node, share); }
};

struct Drop : DrawnMask {
  __device__ float operator()(std::int64_t i, float value) const {
    return value * mask.factor(static_cast<std::uint64_t>(i));
  }
};

// The same where values do not lie in the order in which the mask counts.
template <class T>
struct DropInterleaved : DrawnMask {
  ImageLayout layout;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * layout.elements();
    const std::int64_t counted =
        start + std::int64_t{layout.channel(e)} * layout.plane + layout.pixel(e);
    out[start + e] = static_cast<T>(static_cast<float>(in[start + e]) *
                                    this->mask.factor(static_cast<std::uint64_t>(counted)));
  }
};

template <class T>
class DropoutOp final : public CudaOpOf<T> {
 public:
  explicit DropoutOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        layout_(layout(site.in)),
        seed_(site.seed),
        node_(site.number),
        share_(static_cast<float>(site.node.attributes.number("share"))) {}

 protected:
  void run(const PlaceOf<T>& place, const Step& step) override {
    if (step.training) {
      drop("dropout forward", step, place.x, place.y);
    } else if (place.y != place.x) {
      check(cudaMemcpyAsync(place.y, place.x, static_cast<std::size_t>(count()) * sizeof(T),
                            cudaMemcpyDeviceToDevice, context_.compute()),
            "cudaMemcpyAsync");
    }
  }
  void run_back(const PlaceOf<T>& place, const Step& step) override {
    if (place.dx != nullptr) drop("dropout backward", step, place.dy, place.dx);
  }

 private:
  std::int64_t count() const { return batch_ * layout_.elements(); }
  void drop(const char* name, const Step& step, const T* in, T* out) const {
    const DrawnMask mask{step.settings, seed_, node_, share_};
    if (layout_.plane == 1) {
      map(context_, name, count(), out, Drop{mask}, in);
    } else {
      each_of_images(context_, name, batch_, layout_.elements(),
                     DropInterleaved<T>{mask, layout_, in, out});
    }
  }

  const Context& context_;
  std::int64_t batch_;
  ImageLayout layout_;
  std::uint64_t seed_;
  std::uint64_t node_;
  float share_;
};

}  // namespace

std::unique_ptr<CudaOp> dropout_cuda(const OpSite& site) { return make_typed<DropoutOp>(site); }

}  // namespace feedrate::trainer::cuda
