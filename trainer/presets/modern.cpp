// How the same networks are trained today: Nesterov momentum, warm-up and a cosine schedule,
// smoothed labels, He's initial values, residual branches that start at zero.

#include "trainer/presets/preset.h"

namespace feedrate::trainer {
namespace {

struct ModernSettings {
  std::uint32_t batch;
  double rate, decay;
  double warmup_epochs;
  std::uint64_t epochs;
  Changes changes{};
};

TrainRecipe modern_recipe(const ModernSettings& settings) {
  return {.batch = settings.batch,
          .update = {.optimizer = "nesterov", .decay = settings.decay},
          .schedule = {.policy = "cosine", .rate = settings.rate},
          .warmup_epochs = settings.warmup_epochs,
          .length = {.epochs = settings.epochs},
          .changes = settings.changes};
}

// NVIDIA's settings for 256 images a step (DeepLearningExamples, ConvNets).
TrainRecipe nvidias() {
  TrainRecipe r = modern_recipe({.batch = 256,
                                 .rate = 0.256,
                                 .decay = 1.0 / 32768,
                                 .warmup_epochs = 8,
                                 .epochs = 90,
                                 .changes = {.init = "he-fan-out",
                                             .smoothing = 0.1,
                                             .zero_gamma = true,
                                             .decay_vectors = false,
                                             .means = {123.675, 116.28, 103.53},
                                             .deviations = {58.395, 57.12, 57.375}}});
  r.update.optimizer = "sgd";
  r.update.momentum = 0.875;
  return r;
}

const Preset lenet_modern("lenet-modern", "LeNet on MNIST: cosine, He's start, 10 epochs", "lenet",
                          "none",
                          modern_recipe({.batch = 64,
                                         .rate = 0.02,
                                         .decay = 5e-4,
                                         .warmup_epochs = 0.5,
                                         .epochs = 10,
                                         .changes = {.init = "he"}}));
const Preset cnn_modern("cnn-modern",
                        "Keras' CNN on CIFAR-10: warm-up, cosine, He's start, 12 epochs", "cnn",
                        "none",
                        modern_recipe({.batch = 64,
                                       .rate = 0.02,
                                       .decay = 5e-4,
                                       .warmup_epochs = 0.5,
                                       .epochs = 12,
                                       .changes = {.init = "he", .decay_vectors = false}}));
const Preset resnet56_modern(
    "resnet56-modern", "ResNet-56 on CIFAR-10: warm-up, cosine, branches from zero, 200 epochs",
    "resnet56", "cifar-train",
    modern_recipe({.batch = 128,
                   .rate = 0.1,
                   .decay = 5e-4,
                   .warmup_epochs = 5,
                   .epochs = 200,
                   .changes = {.zero_gamma = true, .decay_vectors = false}}));
const Preset vgg_modern("vgg16-bn-modern",
                        "VGG16 with norms on CIFAR-10: warm-up, cosine, 150 epochs",
                        "vgg16:cifar-bn", "cifar-train",
                        modern_recipe({.batch = 128,
                                       .rate = 0.1,
                                       .decay = 5e-4,
                                       .warmup_epochs = 5,
                                       .epochs = 150,
                                       .changes = {.init = "he", .decay_vectors = false}}));
const Preset resnet50_modern("resnet50-modern",
                             "ResNet-50 on ImageNet as NVIDIA trains it: cosine, smoothed labels",
                             "resnet50", "imagenet-train", nvidias());

}  // namespace

extern const Preset &lenet_modern_preset, &cnn_modern_preset, &resnet56_modern_preset,
    &vgg_modern_preset, &resnet50_modern_preset;
const Preset& lenet_modern_preset = lenet_modern;
const Preset& cnn_modern_preset = cnn_modern;
const Preset& resnet56_modern_preset = resnet56_modern;
const Preset& vgg_modern_preset = vgg_modern;
const Preset& resnet50_modern_preset = resnet50_modern;

}  // namespace feedrate::trainer
