#include "loader/recipes/composed.h"

#include <algorithm>
#include <utility>

namespace feedrate::loader {
using namespace formats;

namespace {

// The draws of step k of a view, from 1, begin at k times this; those of the base come before.
constexpr std::uint32_t draws_of_a_step = 256;

class Composed final : public Recipe {
 public:
  Composed(std::string_view name, Composition composition)
      : Recipe(name, "Composed of the parts in its name"), base_(composition.base) {
    for (Part& part : composition.parts) {
      if (part.operation) operations_.push_back(std::move(part.operation));
      if (part.mixer) mixers_.push_back(std::move(part.mixer));
      if (!part.step) continue;
      const std::string text = part.step->evaluation();
      if (!text.empty()) evaluation_ += join(evaluation_.empty() ? "" : "+", text);
      steps_.push_back(std::move(part.step));
    }
  }

  Shape shape(Shape stored) const override {
    Shape shape = base_ == nullptr ? stored : base_->shape(stored);
    for (const auto& step : steps_) shape = step->shape(shape);
    if (!shape.plausible()) {
      throw Error(join("recipe ", name(),
                       stored.plausible() ? join(": images of ", shape.height, " x ", shape.width,
                                                 " pixels are more than Feedrate holds")
                                          : ": the dataset does not state the size of its images"));
    }
    if (stored.plausible())
      static_cast<void>(view(stored, SampleRandom(0, 0, 0)));  // refuses what does not fit
    return shape;
  }

  View view(Shape stored, const SampleRandom& random) const override {
    View view = base_ == nullptr ? whole_view(stored) : base_->view(stored, random);
    std::uint32_t first = 0;
    for (const auto& step : steps_) {
      Draws draws(random, first += draws_of_a_step);
      step->change(view, stored, draws);
    }
    return view;
  }

  bool makes_grey() const override {
    return std::ranges::any_of(steps_, [](const auto& step) { return step->makes_grey(); });
  }

  std::span<const std::unique_ptr<const Operation>> operations() const override {
    return operations_;
  }
  std::span<const std::unique_ptr<const Mixer>> mixers() const override { return mixers_; }
  const Recipe& evaluation() const override {
    if (base_ == nullptr) return recipe(evaluation_.empty() ? "none" : evaluation_);
    const std::string_view base = base_->evaluation().name();
    // A step may be evaluated by a whole recipe, which stands behind nothing.
    if (base == "none" && !evaluation_.empty()) return recipe(evaluation_);
    return recipe(join(base, evaluation_.empty() ? "" : "+", evaluation_));
  }

 private:
  const Recipe* base_;
  std::vector<std::unique_ptr<const ViewStep>> steps_;
  std::vector<std::unique_ptr<const Operation>> operations_;
  std::vector<std::unique_ptr<const Mixer>> mixers_;
  std::string evaluation_;  // of the steps
};

const PartKind* find_part(std::string_view name) {
  const auto parts = recipe_parts();
  const auto at = std::ranges::find(parts, name, [](const PartKind* kind) { return kind->name(); });
  return at == parts.end() ? nullptr : *at;
}

// What stands first, as far as order goes: a recipe brings its own crop.
PartStage stage_behind(const Recipe* base) {
  return base == nullptr || base->name() == "none" ? PartStage::resize : PartStage::crop;
}

}  // namespace

Composition read_composition(std::string_view text, const Recipe& (*base)(std::string_view)) {
  Composition made;
  PartStage stage = PartStage::resize;
  bool resized = false;
  std::string_view before;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find('+'));
    const std::string_view name = word.substr(0, word.find(':'));
    const PartKind* const kind = find_part(name);
    if (kind != nullptr) {
      const bool resizes = kind->stage() == PartStage::resize;
      if (kind->stage() < stage || (resizes && resized)) {
        throw Error(
            join("recipe '", text, "': ", name, " cannot stand behind ", before,
                 "; the order is resize, crop, flip, rgb or grey, colours, mixes of batches"));
      }
      const ParameterValues values(name, kind->parameters(),
                                   word.substr(std::min(word.size(), name.size() + 1)));
      made.parts.push_back(kind->make(values));
      made.name +=
          join(made.name.empty() ? "" : "+", name, values.text().empty() ? "" : ":", values.text());
      stage = kind->stage();
      resized = resized || resizes;
    } else if (before.empty()) {
      made.base = &base(word);
      made.name = made.base->name();
      stage = stage_behind(made.base);
    } else {
      throw Error(unknown_kind("part of recipes", name, kind_names(recipe_parts())));
    }
    before = name;
    if (word.size() == rest.size()) return made;
    rest.remove_prefix(word.size() + 1);
  }
}

std::unique_ptr<const Recipe> compose(std::string_view name, Composition composition) {
  return std::make_unique<Composed>(name, std::move(composition));
}

}  // namespace feedrate::loader
