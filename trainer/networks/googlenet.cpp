// GoogLeNet (Szegedy et al. 2014) in three forms: Caffe's (bvlc_googlenet: LRN, biases), the same
// for CIFAR's images, and torchvision's (batch norms, 3x3 where the paper has 5x5). All have the
// two auxiliary heads, which are used in training only.

#include "trainer/networks/common.h"
#include "trainer/networks/inception.h"

namespace feedrate::trainer {
namespace {

using Value = Builder::Value;

constexpr double auxiliary_weight = 0.3;

// What differs between the forms.
struct Form {
  bool norms;
  std::int64_t kernel5;  // kernel of the branch that is 5x5 in the paper
  std::int64_t pool4;    // kernel of the pooling before 5a
  double dropout;
  Value (*auxiliary_pool)(Builder& b, Value x);
};

Builder::Layer googlenet_layer(const Form& form, double bias) {
  if (form.norms) return {.weight = {Init::Rule::gaussian, 0.01}};
  return {.bias = {Init::Rule::constant, bias}, .bias_rate_scale = 2, .bias_decay_scale = 0};
}

Value googlenet_conv(Builder& b, const Form& form, Value x, std::int64_t filters,
                     std::int64_t kernel, std::int64_t stride = 1) {
  Builder::Layer with = googlenet_layer(form, 0.2);
  with.no_bias = form.norms;
  x = b.conv(x, filters, kernel, stride, kernel / 2, with);
  return b.relu(form.norms ? b.batch_norm(x, {.epsilon = 1e-3}) : x);
}

void auxiliary_head(Builder& b, const Form& form, Value x, std::uint32_t classes) {
  x = googlenet_conv(b, form, form.auxiliary_pool(b, x), 128, 1);
  x = b.dropout(b.relu(b.dense(x, 1024, googlenet_layer(form, 0.2))), 0.7);
  b.auxiliary_loss(b.dense(x, classes, googlenet_layer(form, 0)), auxiliary_weight);
}

Graph googlenet(Builder& b, const Form& form, std::uint32_t classes) {
  Value x = form.norms ? b.input(1.0 / 58, 115) : b.input(1, 118);
  x = b.max_pool_ceil(googlenet_conv(b, form, x, 64, 7, 2), 3, 2);
  if (!form.norms) x = b.lrn(x, {});
  x = googlenet_conv(b, form, googlenet_conv(b, form, x, 64, 1), 192, 3);
  if (!form.norms) x = b.lrn(x, {});
  x = b.max_pool_ceil(x, 3, 2);
  const auto plain_conv = [&](Value from, std::int64_t filters, std::int64_t kernel) {
    return googlenet_conv(b, form, from, filters, kernel);
  };
  for (std::size_t i = 0; i < std::size(inceptions); ++i) {
    if (i == 2) x = b.max_pool_ceil(x, 3, 2);
    if (i == 7) x = b.max_pool_ceil(x, form.pool4, 2);
    x = inception(b, x, inceptions[i], form.kernel5, plain_conv);
    if (i == 2 || i == 5) auxiliary_head(b, form, x, classes);
  }
  x = b.dropout(b.global_avg_pool(x), form.dropout);
  return b.softmax_loss(b.dense(x, classes, googlenet_layer(form, 0)));
}

Graph caffe_googlenet(Builder& b, std::uint32_t classes) {
  const auto pool = [](Builder& to, Value x) { return to.avg_pool(x, 5, 3); };
  return googlenet(b, {false, 5, 3, 0.4, pool}, classes);
}
Graph cifar_googlenet(Builder& b, std::uint32_t classes) {
  const auto pool = [](Builder& to, Value x) { return to.avg_pool(x, 2, 2); };
  return googlenet(b, {false, 5, 3, 0.4, pool}, classes);
}
Graph torchvision_googlenet(Builder& b, std::uint32_t classes) {
  const auto pool = [](Builder& to, Value x) { return to.avg_pool_bins(x, 4); };
  return googlenet(b, {true, 3, 2, 0.2, pool}, classes);
}

// Caffe's quick solver: 60 epochs of ImageNet.
TrainRecipe googlenet_recipe(std::uint32_t batch, std::uint64_t steps) {
  return {.batch = batch,
          .update = {.momentum = 0.9, .decay = 2e-4},
          .schedule = {.policy = "poly", .rate = 0.01, .power = 0.5, .max_steps = steps}};
}

const Network googlenet_row("googlenet", "torchvision's: inception with norms, auxiliary heads",
                            {imagenet_image, 1000, googlenet_recipe(32, 2400000),
                             torchvision_googlenet, "imagenet-train"});
const Network googlenet_caffe_row("googlenet:caffe", "Caffe's: inception with LRN, auxiliary heads",
                                  {imagenet_image, 1000, googlenet_recipe(32, 2400000),
                                   caffe_googlenet, "imagenet-train"});
const Network googlenet_cifar_row("googlenet:cifar", "Caffe's on small images, auxiliary heads",
                                  {cifar_image, 10, googlenet_recipe(128, 64000), cifar_googlenet,
                                   "none"});

}  // namespace

extern const Network &googlenet_network, &googlenet_caffe_network, &googlenet_cifar_network;
const Network& googlenet_network = googlenet_row;
const Network& googlenet_caffe_network = googlenet_caffe_row;
const Network& googlenet_cifar_network = googlenet_cifar_row;

}  // namespace feedrate::trainer
