// The nine cases of the comparison of 2018 (Piccione, "Introduction to Deep Learning: a practical
// point of view", fig. 4.5) with its batch sizes, numbers of steps and constant rates. It states
// neither momentum nor decay; here the momentum is 0.9 and the decay that of the published network.

#include "trainer/presets/preset.h"

namespace feedrate::trainer {
namespace {

TrainRecipe recipe_2018(std::uint32_t batch, std::uint64_t steps, double rate, double decay) {
  return {.batch = batch,
          .update = {.decay = decay},
          .schedule = {.rate = rate},
          .length = {.steps = steps}};
}

const Preset lenet("2018-lenet", "the comparison of 2018: LeNet on MNIST, one epoch", "lenet",
                   "none", recipe_2018(64, 938, 0.01, 5e-4));
const Preset cifar_alexnet("2018-cifar-alexnet", "the same: AlexNet on CIFAR-10, one epoch",
                           "alexnet:cifar", "none", recipe_2018(128, 390, 0.01, 5e-4));
const Preset cifar_resnet("2018-cifar-resnet50", "the same: ResNet-50 (6n+2) on CIFAR-10",
                          "resnet50:cifar", "none", recipe_2018(128, 390, 0.1, 1e-4));
const Preset cifar_googlenet("2018-cifar-googlenet", "the same: GoogLeNet on CIFAR-10",
                             "googlenet:cifar", "none", recipe_2018(128, 390, 0.1, 2e-4));
const Preset cifar_vgg("2018-cifar-vgg16", "the same: VGG16 on CIFAR-10", "vgg16:cifar", "none",
                       recipe_2018(128, 390, 0.01, 5e-4));
const Preset alexnet("2018-alexnet", "the same: AlexNet on ImageNet, 300 steps", "alexnet:caffe",
                     "caffe", recipe_2018(128, 300, 0.01, 5e-4));
const Preset resnet("2018-resnet50", "the same: ResNet-50 on ImageNet, 8 images a step", "resnet50",
                    "imagenet-train", recipe_2018(8, 300, 0.1, 1e-4));
const Preset googlenet("2018-googlenet", "the same: GoogLeNet on ImageNet, 8 images a step",
                       "googlenet:caffe", "imagenet-train", recipe_2018(8, 300, 0.1, 2e-4));
const Preset vgg("2018-vgg16", "the same: VGG16 on ImageNet, 8 images a step", "vgg16",
                 "imagenet-train", recipe_2018(8, 300, 0.01, 5e-4));

}  // namespace

extern const Preset &lenet_2018_preset, &cifar_alexnet_2018_preset, &cifar_resnet_2018_preset,
    &cifar_googlenet_2018_preset, &cifar_vgg_2018_preset, &alexnet_2018_preset, &resnet_2018_preset,
    &googlenet_2018_preset, &vgg_2018_preset;
const Preset& lenet_2018_preset = lenet;
const Preset& cifar_alexnet_2018_preset = cifar_alexnet;
const Preset& cifar_resnet_2018_preset = cifar_resnet;
const Preset& cifar_googlenet_2018_preset = cifar_googlenet;
const Preset& cifar_vgg_2018_preset = cifar_vgg;
const Preset& alexnet_2018_preset = alexnet;
const Preset& resnet_2018_preset = resnet;
const Preset& googlenet_2018_preset = googlenet;
const Preset& vgg_2018_preset = vgg;

}  // namespace feedrate::trainer
