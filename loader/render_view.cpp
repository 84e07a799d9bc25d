#include "loader/render_view.h"

#include <memory>

#include "formats/base/error.h"
#include "loader/loader.h"

namespace feedrate::loader {
using namespace formats;

namespace {

class SameViews final : public Recipe {
 public:
  SameViews(std::span<const View> views, std::uint32_t channels)
      : Recipe("view", "The same views of every image"),
        view_(views.front()),
        channels_(channels),
        then_(views.size() == 1 ? nullptr
                                : std::make_unique<SameViews>(views.subspan(1), channels)) {}
  Shape shape(Shape) const override {
    const Rect& last = final_window();
    return {last.height, last.width, channels_};
  }
  const Recipe* then() const override { return then_.get(); }
  View view(Shape, const SampleRandom&) const override { return view_; }
  bool makes_grey() const override { return channels_ == 1; }

 private:
  const Rect& final_window() const { return then_ ? then_->final_window() : view_.window; }

  View view_;
  std::uint32_t channels_;
  std::unique_ptr<const SameViews> then_;
};

}  // namespace

void render_views(const Dataset& dataset, std::uint64_t index, std::span<const View> views,
                  std::uint32_t channels, Buffer& pixels) {
  if (views.empty()) throw Error("there is no view");
  const SameViews recipe(views, channels);
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
