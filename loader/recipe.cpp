#include "loader/recipe.h"

#include "loader/recipes/rows.h"

namespace feedrate::loader {
using namespace formats;

std::span<const Recipe* const> recipes() {
  static const Recipe* const rows[] = {
      &none_recipe,           &mnist_recipe,         &cifar_train_recipe, &cifar_eval_recipe,
      &imagenet_train_recipe, &imagenet_eval_recipe, &caffe_recipe,       &caffe_eval_recipe};
  return rows;
}

const Recipe& recipe(std::string_view name) { return find_kind("recipe", name, recipes()); }

}  // namespace feedrate::loader
