#pragma once
// The rows of recipe.cpp.

#include "loader/recipe.h"

namespace feedrate::loader {

extern const Recipe& none_recipe;
extern const Recipe& mnist_recipe;
extern const Recipe& cifar_train_recipe;
extern const Recipe& cifar_eval_recipe;
extern const Recipe& imagenet_train_recipe;
extern const Recipe& imagenet_eval_recipe;
extern const Recipe& caffe_recipe;
extern const Recipe& caffe_eval_recipe;

}  // namespace feedrate::loader
