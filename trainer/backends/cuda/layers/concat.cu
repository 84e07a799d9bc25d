// The channels of several inputs behind one another: of each image, or of each of its pixels, a run
// for each input.

#include <numeric>

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::trainer::cuda {
namespace {

// Between images that hold one input alone and those that hold all, from `first` on.
template <class T, unsigned lanes>
struct CopyRuns {
  ImageLayout from;
  ImageLayout to;
  std::uint32_t from_first;
  std::uint32_t to_first;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    // What is copied counts in the one of fewer channels.
    const ImageLayout& fewer = from.channels < to.channels ? from : to;
    const std::uint32_t channel = fewer.channel(e), pixel = fewer.pixel(e);
    store(out + image * to.elements() + to.offset(to_first + channel, pixel),
          load<T, lanes>(in + image * from.elements() + from.offset(from_first + channel, pixel)));
  }
};

template <class T>
class ConcatOp final : public CudaOpOf<T> {
 public:
  explicit ConcatOp(const OpSite& site)
      : context_(site.context), batch_(site.batch), all_(layout(site.node.extent)) {
    for (const Extent& in : site.ins) {
      parts_.push_back(layout(in));
      common_channels_ = std::gcd(common_channels_, in.channels);
    }
  }

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    std::uint32_t first = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      copy("concat forward", parts_[k], 0, place.input(k), all_, first, place.y);
      first += parts_[k].channels;
    }
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    std::uint32_t first = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      T* to = place.input_gradient(k);
      if (to != nullptr) copy("concat backward", all_, first, place.dy, parts_[k], 0, to);
      first += parts_[k].channels;
    }
  }

 private:
  void copy(const char* name, const ImageLayout& from, std::uint32_t from_first, const T* in,
            const ImageLayout& to, std::uint32_t to_first, T* out) const {
    with_lanes<T>(common_channels_, [&](auto lanes) {
      each_of_images(context_, name, batch_, std::min(from.elements(), to.elements()),
                     CopyRuns<T, lanes>{from, to, from_first, to_first, in, out}, lanes);
    });
  }

  const Context& context_;
  std::int64_t batch_;
  ImageLayout all_;
  std::vector<ImageLayout> parts_;  // the inputs
  std::int64_t common_channels_ = 0;
};

}  // namespace

std::unique_ptr<CudaOp> concat_cuda(const OpSite& site) { return make_typed<ConcatOp>(site); }

}  // namespace feedrate::trainer::cuda
