#include "loader/recipe.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "loader/recipes/parameters.h"

namespace feedrate::loader {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Recipe& name##_recipe;
#include "loader/recipes/list.inc"
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

/// Recipes with other values than usual, by name. They live as long as the program, as all kinds.
class Made {
 public:
  static Made& of_process() {
    static Made& made = *new Made;  // never destroyed: threads may outlive main()
    return made;
  }
  const Recipe& get(const AdjustableRecipe& adjustable, const ParameterValues& values) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] =
        recipes_.try_emplace(join(adjustable.recipe, ":", values.text()), nullptr);
    try {
      if (is_new) at->second = adjustable.make(at->first, values);
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
    return values.text().empty() ? usual : Made::of_process().get(*adjustable, values);
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

const Recipe& recipe(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Recipe& usual = find_kind("recipe", text.substr(0, colon), recipes());
  return colon == std::string_view::npos ? usual : adjusted(usual, text.substr(colon + 1));
}

}  // namespace feedrate::loader
