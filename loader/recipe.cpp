#include "loader/recipe.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "loader/recipes/composed.h"
#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Recipe& name##_recipe;
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW

#define FEEDRATE_ROW(name) extern const PartKind& name##_part;
#include "loader/augment/list.inc"
#undef FEEDRATE_ROW

extern const AdjustableRecipe cifar_train_adjustable;
extern const AdjustableRecipe imagenet_train_adjustable;
extern const AdjustableRecipe imagenet_eval_adjustable;
extern const AdjustableRecipe caffe_adjustable;
extern const AdjustableRecipe caffe_eval_adjustable;

namespace {

const AdjustableRecipe* const adjustables[] = {&cifar_train_adjustable, &imagenet_train_adjustable,
                                               &imagenet_eval_adjustable, &caffe_adjustable,
                                               &caffe_eval_adjustable};

/// Recipes with other values than usual, and composed ones, by name. They live as long as the program, as all kinds.
class Made {
 public:
  static Made& of_process() {
    static Made& made = *new Made;  // never destroyed: threads may outlive main()
    return made;
  }
  /// Calls `make(name)` for a name that is new; the name lives as long as what it makes.
  template <class Make>
  const Recipe& get(std::string name, Make make) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = recipes_.try_emplace(std::move(name), nullptr);
    try {
      if (is_new) at->second = make(at->first);
    } catch (...) {
      recipes_.erase(at);
      throw;
    }
    return *at->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const Recipe>, std::less<>> recipes_;
};

const Recipe& adjusted(const Recipe& usual, std::string_view settings) {
  for (const AdjustableRecipe* adjustable : adjustables) {
    if (adjustable->recipe != usual.name()) continue;
    const ParameterValues values(usual.name(), adjustable->parameters, settings);
    if (values.text().empty()) return usual;
    return Made::of_process().get(
        join(adjustable->recipe, ":", values.text()),
        [&](std::string_view name) { return adjustable->make(name, values); });
  }
  throw Error(join("recipe ", usual.name(), " has no parameters, found '", settings, "'"));
}

}  // namespace

std::span<const Recipe* const> recipes() {
  static const Recipe* const rows[] = {
#define FEEDRATE_ROW(name) &name##_recipe,
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

std::span<const PartKind* const> recipe_parts() {
  static const PartKind* const rows[] = {
#define FEEDRATE_ROW(name) &name##_part,
#include "loader/augment/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

namespace {

const Recipe& plain_recipe(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto all = recipes();
  const auto usual = std::ranges::find(all, name, [](const Recipe* row) { return row->name(); });
  if (usual == all.end()) {
    std::vector<std::string_view> names = kind_names(all);
    for (const PartKind* part : recipe_parts()) names.push_back(part->name());
    throw Error(unknown_kind("recipe", name, names));
  }
  return colon == std::string_view::npos ? **usual : adjusted(**usual, text.substr(colon + 1));
}

}  // namespace

const Recipe& recipe(std::string_view text) {
  Composition composition = read_composition(text, plain_recipe);
  if (composition.parts.empty()) return *composition.base;
  // Copied, because the composition moves on.
  return Made::of_process().get(std::string(composition.name), [&](std::string_view name) {
    return compose(name, std::move(composition));
  });
}

}  // namespace feedrate::loader
