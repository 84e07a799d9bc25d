#include "loader/render_view.h"

#include "loader/loader.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class OneView final : public Recipe {
 public:
  OneView(const View& view, std::uint32_t channels)
      : Recipe("view", "The same view of every image"), view_(view), channels_(channels) {}
  Shape shape(Shape) const override { return {view_.window.height, view_.window.width, channels_}; }
  View view(Shape, const SampleRandom&) const override { return view_; }
  bool makes_grey() const override { return channels_ == 1; }

 private:
  View view_;
  std::uint32_t channels_;
};

}  // namespace

void render_view(const Dataset& dataset, std::uint64_t index, const View& view,
                 std::uint32_t channels, Buffer& pixels) {
  const OneView recipe(view, channels);
  const auto picks = listed({index}, dataset.size());
  LoaderOptions options;
  options.threads = 0;
  options.epochs = 1;
  options.order.shuffle = false;
  options.order.picks = picks.get();
  options.engine.io_threads = 0;
  Loader loader(dataset, recipe, options);
  const std::span<const std::uint8_t> image = loader.next()->pixels;
  const Bytes bytes = std::as_bytes(image);
  pixels.assign(bytes.begin(), bytes.end());
}

}  // namespace feedrate::loader
