#include "loader/recipes/composed.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace feedrate::loader {
using namespace formats;

namespace {

// The draws of step k of a view, from 1, begin at k times this; those of the base come before.
constexpr std::uint32_t draws_of_a_step = 256;

class Composed final : public Recipe {
 public:
  /// One pass; the first has the base, and the evaluation and the mixers of all.
  Composed(std::string_view name, const Recipe* base, std::vector<Part> parts,
           std::unique_ptr<Composed> then)
      : Recipe(name, "Composed of the parts in its name"), base_(base), then_(std::move(then)) {
    for (Part& part : parts) {
      if (part.operation) {
        evaluate(part.operation->evaluation(), false);
        operations_.push_back(std::move(part.operation));
      }
      if (part.mixer) mixers_.push_back(std::move(part.mixer));
      if (!part.step) continue;
      evaluate(part.step->evaluation(), part.step->begins_evaluation());
      steps_.push_back(std::move(part.step));
    }
    if (!then_) return;
    evaluate(then_->evaluation_, then_->evaluates_alone_);
    mixers_ = std::move(then_->mixers_);
  }

  Shape shape(Shape stored) const override {
    const Shape shape = made(stored);
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

  const Recipe* then() const override { return then_.get(); }

  std::uint32_t channels(Shape stored) const override { return seen(stored).channels; }

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
    if (base_ == nullptr || evaluates_alone_)
      return recipe(evaluation_.empty() ? "none" : evaluation_);
    const std::string_view base = base_->evaluation().name();
    // A step may be evaluated by a whole recipe, which stands behind nothing.
    if (base == "none" && !evaluation_.empty()) return recipe(evaluation_);
    return recipe(join(base, evaluation_.empty() ? "" : "+", evaluation_));
  }

 private:
  void evaluate(const std::string& text, bool alone) {
    if (alone) evaluation_.clear();
    evaluates_alone_ = evaluates_alone_ || alone;
    if (!text.empty()) evaluation_ += join(evaluation_.empty() ? "" : "+", text);
  }

  // What the view makes.
  Shape seen(Shape stored) const {
    Shape shape = base_ == nullptr ? stored : base_->shape(stored);
    for (const auto& step : steps_) shape = step->shape(shape);
    return shape;
  }

  // What all passes from this one on make; not plausible where nothing states a size.
  Shape made(Shape stored) const {
    Shape shape = seen(stored);
    for (const auto& operation : operations_) shape = operation->shape(shape);
    if (!then_) return shape;
    if (shape.plausible()) static_cast<void>(then_->view(shape, SampleRandom(0, 0, 0)));
    return then_->made(shape);
  }

  const Recipe* base_;
  std::vector<std::unique_ptr<const ViewStep>> steps_;
  std::vector<std::unique_ptr<const Operation>> operations_;
  std::vector<std::unique_ptr<const Mixer>> mixers_;
  std::unique_ptr<Composed> then_;
  std::string evaluation_;  // of the parts
  bool evaluates_alone_ = false;
};

const PartKind* find_part(std::string_view name) {
  const auto parts = recipe_parts();
  const auto at = std::ranges::find(parts, name, [](const PartKind* kind) { return kind->name(); });
  return at == parts.end() ? nullptr : *at;
}

// The parts behind a gatherer, until they are as many as it takes.
class Gathering {
 public:
  // The part itself, or the one that it completes; nothing where more belong to it.
  std::optional<Part> take(std::string_view name, Part part) {
    if (part.gatherer != nullptr) {
      if (gatherer_ != nullptr)
        throw Error(join("recipe ", name, ": cannot stand among the parts of another ", name_));
      gatherer_ = std::move(part.gatherer);
      name_ = name;
      return std::nullopt;
    }
    if (gatherer_ == nullptr) return part;
    if (part.operation == nullptr)
      throw Error(
          join("recipe ", name_, ": ", name, " changes no pixels, and cannot be one of its parts"));
    operations_.push_back(std::move(part.operation));
    if (operations_.size() < gatherer_->parts()) return std::nullopt;
    const auto gatherer = std::move(gatherer_);
    return Part{.operation = gatherer->gathered(std::exchange(operations_, {}))};
  }
  void expect_done() const {
    if (gatherer_ == nullptr) return;
    throw Error(join("recipe ", name_, ": expected ", gatherer_->parts(),
                     " parts behind it, found ", operations_.size()));
  }

 private:
  std::unique_ptr<const Gatherer> gatherer_;
  std::vector<std::unique_ptr<const Operation>> operations_;
  std::string_view name_;
};

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
  Gathering gathering;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find('+'));
    const std::string_view name = word.substr(0, word.find(':'));
    const PartKind* const kind = find_part(name);
    if (kind != nullptr) {
      const bool resizes = kind->stage() == PartStage::resize;
      if (stage == PartStage::batch && kind->stage() != stage) {
        throw Error(join("recipe '", text, "': ", name, " cannot stand behind ", before,
                         ", which mixes whole batches"));
      }
      // A crop of what was mirrored is part of the same view.
      const bool crops = kind->stage() == PartStage::crop && stage == PartStage::flip;
      if ((kind->stage() < stage && !crops) || (resizes && resized)) {
        made.passes.emplace_back();
        resized = false;
      }
      const ParameterValues values(name, kind->parameters(),
                                   word.substr(std::min(word.size(), name.size() + 1)));
      if (auto part = gathering.take(name, kind->make(values)))
        made.passes.back().push_back(std::move(*part));
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
    if (word.size() == rest.size()) {
      gathering.expect_done();
      return made;
    }
    rest.remove_prefix(word.size() + 1);
  }
}

std::unique_ptr<const Recipe> compose(std::string_view name, Composition composition) {
  std::unique_ptr<Composed> made;
  for (std::size_t pass = composition.passes.size(); pass-- > 0;) {
    made = std::make_unique<Composed>(name, pass == 0 ? composition.base : nullptr,
                                      std::move(composition.passes[pass]), std::move(made));
  }
  return made;
}

}  // namespace feedrate::loader
