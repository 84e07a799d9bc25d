// Concatenates the channels of several inputs: each pixel of the output holds a run of channels
// from each input.

#include <numeric>

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"

namespace feedrate::trainer::cuda {
namespace {

// Copies between images of one input and images of all, from channel `from_first` to `to_first`.
template <class T, unsigned lanes>
struct CopyRuns {
  ImageLayout from;
  ImageLayout to;
  std::uint32_t from_first;
  std::uint32_t to_first;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    // `e` counts the elements of the side with fewer channels.
    const ImageLayout& fewer = from.channels < to.channels ? from : to;
    const std::uint32_t channel = fewer.channel(e), pixel = fewer.pixel(e);
    store(out + image * to.elements() + to.offset(to_first + channel, pixel),
          load<T, lanes>(in + image * from.elements() + from.offset(from_first + channel, pixel)));
  }
};

template <class T>
class ConcatLayer final : public LayerOf<T> {
 public:
  explicit ConcatLayer(const LayerSite& site)
      : context_(site.context), batch_(site.batch), all_(image_layout(site.node().extent)) {
    for (const Extent& in : site.inputs) {
      parts_.push_back(image_layout(in));
      common_channels_ = std::gcd(common_channels_, in.channels);
    }
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    std::uint32_t first = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      copy("concat forward", parts_[k], 0, buffers.inputs(k), all_, first, buffers.output);
      first += parts_[k].channels;
    }
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    std::uint32_t first = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      T* to = buffers.input_gradients(k);
      if (to != nullptr) {
        copy("concat backward", all_, first, buffers.output_gradient, parts_[k], 0, to);
      }
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

std::unique_ptr<Layer> make_concat_layer(const LayerSite& site) {
  return make_typed<ConcatLayer>(site);
}

}  // namespace feedrate::trainer::cuda
