// Keras' examples as Keras trains them: RMSprop with rho 0.9 and epsilon 1e-7. The decay of the
// rate by 1e-6 a step in cifar10_cnn, 4 % over 25 epochs, is left out.

#include "trainer/presets/preset.h"

namespace feedrate::trainer {
namespace {

TrainRecipe keras_recipe(std::uint32_t batch, double rate, std::uint64_t epochs) {
  return {.batch = batch,
          .update = {.optimizer = "rmsprop", .momentum = 0, .beta2 = 0.9, .epsilon = 1e-7},
          .schedule = {.rate = rate},
          .length = {.epochs = epochs}};
}

const Preset keras_mlp("keras-mlp", "mnist_mlp by its RMSprop: 98.4 % on MNIST after 20 epochs",
                       "mlp", "none", keras_recipe(128, 0.001, 20));
const Preset keras_cnn("keras-cnn", "cifar10_cnn by its RMSprop: 75 % on CIFAR-10 after 25 epochs",
                       "cnn", "none", keras_recipe(32, 1e-4, 25));

}  // namespace

extern const Preset &keras_mlp_preset, &keras_cnn_preset;
const Preset& keras_mlp_preset = keras_mlp;
const Preset& keras_cnn_preset = keras_cnn;

}  // namespace feedrate::trainer
