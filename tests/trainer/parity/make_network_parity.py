#!/usr/bin/env python3
"""Trains the networks for small images for some steps with PyTorch, in double, and writes
networks.json: the losses and the final parameters, the largest relative difference of the losses
in PyTorch's own fp32 (fp32_differs) and in its autocast to bf16 (bf16_differs).

    apt-get install python3-torch && /usr/bin/python3 tests/trainer/parity/make_network_parity.py [--bf16] [NETWORK...]

--bf16 replaces only bf16_differs.

Each network is repeated here, in the order of its nodes in trainer/networks/; pixels, labels,
initial values and dropout's masks are the pure functions that make_parity.py repeats."""

import json
import math
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F

from make_parity import mix64, random_bits
from starts import (SEED, constant, glorot, he_fan_out, he_normal, normal, orthogonal_columns,
                    second_quarter, single, xavier)

CLASSES = 10
MOMENTUM, DECAY = 0.9, 5e-4


class Net:
    """Like Builder of trainer/graph/graph.h, but computes immediately."""

    def __init__(self, precision, zero_gamma, nudge):
        self.nudge = nudge
        self.bf16 = precision == torch.bfloat16
        self.precision = torch.float32 if self.bf16 else precision
        self.zero_gamma = zero_gamma
        self.values, self.rate_scales, self.decay_scales = {}, {}, {}

    def begin(self, pixels, labels, step, training):
        self.pixels, self.labels = pixels.to(self.precision), labels
        self.step, self.training = step, training
        self.nodes, self.parameters, self.counts, self.loss = 0, 0, {}, 0

    def node(self, op):
        self.nodes += 1
        self.counts[op] = self.counts.get(op, 0) + 1
        return f"{op}{self.counts[op]}"

    def parameter(self, name, shape, init, learned=True, rate_scale=1, decay_scale=1):
        if name not in self.values:
            value = self.nudged(init(shape, self.parameters).to(self.precision))
            self.values[name] = value.requires_grad_(learned)
            self.rate_scales[name], self.decay_scales[name] = rate_scale, decay_scale
        self.parameters += 1
        return self.values[name]

    def nudged(self, values):
        """Moves each value by half a step of bf16, up or down."""
        if not self.nudge:
            return values
        key = mix64(self.nudge * 1000 + self.parameters)
        up = random_bits(key, numpy.arange(values.numel())) >> numpy.uint64(63)
        signs = torch.from_numpy(up.astype(numpy.float32) * 2 - 1).reshape(values.shape)
        return values * (1 + signs / 512)

    def input(self, scale, mean=0):
        self.node("input")
        return (self.pixels - single(mean)) * single(scale)

    def weight_and_bias(self, name, shape, weight, bias, rate_scale, decay_scale):
        w = self.parameter(name + ".weight", shape, weight)
        if bias is None:
            return w, None
        return w, self.parameter(name + ".bias", shape[:1], bias, True, rate_scale, decay_scale)

    def conv(self, x, filters, kernel, stride=1, pad=0, weight=xavier, bias=constant(0), groups=1,
             rate_scale=1, decay_scale=1):
        shape = (filters, x.shape[1] // groups, kernel, kernel)
        w, b = self.weight_and_bias(self.node("conv"), shape, weight, bias, rate_scale, decay_scale)
        return F.conv2d(x, w, b, stride, pad, 1, groups)

    def dense(self, x, units, weight=xavier, bias=constant(0), rate_scale=1, decay_scale=1):
        x = x.flatten(1)
        shape = (units, x.shape[1])
        w, b = self.weight_and_bias(self.node("dense"), shape, weight, bias, rate_scale, decay_scale)
        return F.linear(x, w, b)

    def batch_norm(self, x, epsilon=1e-5, ends_branch=False):
        name, shape = self.node("batch_norm"), (x.shape[1],)
        w = self.parameter(name + ".weight", shape,
                           constant(0 if ends_branch and self.zero_gamma else 1))
        b = self.parameter(name + ".bias", shape, constant(0))
        mean = self.parameter(name + ".running_mean", shape, constant(0), False)
        variance = self.parameter(name + ".running_var", shape, constant(1), False)
        return F.batch_norm(x, mean, variance, w, b, self.training, 0.1, epsilon)

    def lstm(self, x, units, weight):
        name, rows = self.node("lstm"), x.transpose(1, 2).flatten(2)  # image, row, values
        weights = [self.parameter(name + ".weight", (4 * units, rows.shape[2]), weight),
                   self.parameter(name + ".recurrent", (4 * units, units), orthogonal_columns),
                   self.parameter(name + ".bias", (4 * units,), second_quarter(1))]
        start = torch.zeros((1, x.shape[0], units), dtype=self.precision)
        weights.append(torch.zeros(4 * units, dtype=self.precision))  # the second bias
        states = torch.lstm(rows, (start, start), weights, True, 1, 0.0, self.training, False, True)
        return states[0][:, -1]

    def relu(self, x):
        self.node("relu")
        return F.relu(x)

    def max_pool(self, x, kernel, stride, pad=0, ceil=False):
        self.node("max_pool")
        return F.max_pool2d(x, kernel, stride, pad, ceil_mode=ceil)

    def avg_pool(self, x, kernel, stride):
        self.node("avg_pool")
        return F.avg_pool2d(x, kernel, stride)

    def global_avg_pool(self, x):
        self.node("avg_pool")
        return F.adaptive_avg_pool2d(x, 1)

    def sum(self, a, b):
        self.node("add")
        return a + b

    def shortcut(self, x, filters, stride):
        self.node("shortcut")
        return F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, 0, filters - x.shape[1]))

    def concat(self, values):
        self.node("concat")
        return torch.cat(values, 1)

    def lrn(self, x, size, alpha, beta, k=1.0):
        self.node("lrn")
        return F.local_response_norm(x, size, alpha, beta, k)

    def dropout(self, x, share):
        number = self.nodes
        self.node("dropout")
        if not self.training:
            return x
        with numpy.errstate(over="ignore"):
            key = mix64(SEED ^ 0xD209) + numpy.uint64(self.step)
            key = mix64(mix64(key) + numpy.uint64(number))
        bits = random_bits(key, numpy.arange(x.numel())) >> numpy.uint64(40)
        dropped = bits < int(numpy.float32(share) * numpy.float32(2**24))
        scale = float(numpy.float32(1) / (numpy.float32(1) - numpy.float32(share)))
        mask = torch.from_numpy(numpy.where(dropped, 0.0, scale).reshape(x.shape))
        return x * mask.to(self.precision)

    def softmax_loss(self, logits, weight=1):
        self.node("softmax_loss")
        if self.training or weight == 1:
            self.loss = self.loss + weight * F.cross_entropy(logits.to(self.precision), self.labels)


def cifar_resnet(n):
    def build(b):
        def conv_norm(x, filters, stride, ends_branch=False):
            x = b.conv(x, filters, 3, stride, 1, he_normal, None)
            return b.batch_norm(x, ends_branch=ends_branch)

        x = b.relu(conv_norm(b.input(1 / 64, 120), 16, 1))
        for filters in (16, 32, 64):
            for i in range(n):
                stride = 2 if i == 0 and filters != 16 else 1
                y = conv_norm(b.relu(conv_norm(x, filters, stride)), filters, 1, True)
                x = b.relu(b.sum(y, b.shortcut(x, filters, stride) if stride == 2 else x))
        b.softmax_loss(b.dense(b.global_avg_pool(x), CLASSES, he_normal))

    return build


def vgg16(norms):
    def build(b):
        x = b.input(1 / 64, 120)
        for convolutions, filters in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
            for _ in range(convolutions):
                x = b.conv(x, filters, 3, 1, 1, he_fan_out)
                x = b.relu(b.batch_norm(x) if norms else x)
            x = b.max_pool(x, 2, 2)
        for units in () if norms else (4096, 4096):
            x = b.dropout(b.relu(b.dense(x, units, normal(0.01))), 0.5)
        b.softmax_loss(b.dense(x, CLASSES, normal(0.01)))

    return build


def alexnet(b):
    x = b.input(1 / 64, 120)
    for filters, kernel, pooled in ((24, 7, True), (64, 5, True), (96, 3, False), (96, 3, False),
                                    (64, 3, True)):
        x = b.relu(b.conv(x, filters, kernel, 1, kernel // 2, rate_scale=2))
        x = b.max_pool(x, 3, 2, ceil=True) if pooled else x
    x = b.dropout(b.relu(b.dense(x, 512, rate_scale=2)), 0.5)
    b.softmax_loss(b.dense(x, CLASSES, rate_scale=2))


def googlenet(b, pool=(2, 2)):
    scales = {"rate_scale": 2, "decay_scale": 0}

    def conv(x, filters, kernel, stride=1):
        return b.relu(b.conv(x, filters, kernel, stride, kernel // 2, bias=constant(0.2), **scales))

    def inception(x, filters):
        one, reduced3, three, reduced5, five, pooled = filters
        branches = [conv(x, one, 1), conv(conv(x, reduced3, 1), three, 3),
                    conv(conv(x, reduced5, 1), five, 5)]
        return b.concat(branches + [conv(b.max_pool(x, 3, 1, 1), pooled, 1)])

    x = b.max_pool(conv(b.input(1, 118), 64, 7, 2), 3, 2, ceil=True)
    x = conv(conv(b.lrn(x, 5, 1e-4, 0.75), 64, 1), 192, 3)
    x = b.max_pool(b.lrn(x, 5, 1e-4, 0.75), 3, 2, ceil=True)
    modules = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), (192, 96, 208, 16, 48, 64),
               (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
               (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128),
               (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))
    for i, filters in enumerate(modules):
        if i in (2, 7):
            x = b.max_pool(x, 3, 2, ceil=True)
        x = inception(x, filters)
        if i in (2, 5):
            y = conv(b.avg_pool(x, *pool), 128, 1)
            y = b.dropout(b.relu(b.dense(y, 1024, bias=constant(0.2), **scales)), 0.7)
            b.softmax_loss(b.dense(y, CLASSES, **scales), 0.3)
    b.softmax_loss(b.dense(b.dropout(b.global_avg_pool(x), 0.4), CLASSES, **scales))


def cnn(b):
    x = b.input(1 / 255)
    for filters in (32, 64):
        x = b.relu(b.conv(x, filters, 3, 1, 1, glorot))
        x = b.relu(b.conv(x, filters, 3, 1, 0, glorot))
        x = b.dropout(b.max_pool(x, 2, 2), 0.25)
    x = b.dropout(b.relu(b.dense(x, 512, glorot)), 0.5)
    b.softmax_loss(b.dense(x, CLASSES, glorot))


def cnn_mnist(b):
    x = b.relu(b.conv(b.input(1 / 255), 32, 3, weight=glorot))
    x = b.relu(b.conv(x, 64, 3, weight=glorot))
    x = b.dropout(b.max_pool(x, 2, 2), 0.25)
    x = b.dropout(b.relu(b.dense(x, 128, glorot)), 0.5)
    b.softmax_loss(b.dense(x, CLASSES, glorot))


def mlp(b):
    x = b.input(1 / 255)
    for _ in range(2):
        x = b.dropout(b.relu(b.dense(x, 512, glorot)), 0.2)
    b.softmax_loss(b.dense(x, CLASSES, glorot))


def lstm(b):
    b.softmax_loss(b.dense(b.lstm(b.input(1 / 255), 128, glorot), CLASSES, glorot))


class Run:
    """A network and how it is trained. With batch norms, each step at a usual rate multiplies rounding
    errors by a hundred. Such networks run ten steps with branches that start at zero, which keeps
    the errors small, and four steps as published at a low rate. VGG16 with norms and torchvision's
    GoogLeNet have no such branches, so their ten steps use a low rate."""

    def __init__(self, network, shape, rate, build, steps=10, zero_gamma=False, batch=8):
        self.network, self.shape, self.rate, self.build = network, shape, rate, build
        self.steps, self.zero_gamma, self.batch = steps, zero_gamma, batch

    def title(self):
        start = " from branches of zero" if self.zero_gamma else ""
        return f"{self.network}, {self.shape[1]} pixels, {self.steps} steps{start}"


small, tiny = (32, 32, 3), (28, 28, 1)
RUNS = [
    Run("mlp", tiny, 0.05, mlp),
    Run("cnn", small, 0.001, cnn),
    Run("cnn", small, 0.01, cnn, 4),
    Run("cnn:mnist", tiny, 0.05, cnn_mnist),
    Run("lstm", tiny, 0.05, lstm),
    Run("alexnet:cifar", small, 0.001, alexnet),
    Run("alexnet:cifar", small, 0.01, alexnet, 4),
    Run("googlenet:cifar", small, 0.00001, googlenet),
    Run("googlenet:cifar", small, 0.001, googlenet, 4),
    Run("resnet50:cifar", small, 0.05, cifar_resnet(8), zero_gamma=True),
    Run("resnet50:cifar", small, 0.00005, cifar_resnet(8), 4),
    Run("resnet56", small, 0.05, cifar_resnet(9), zero_gamma=True),
    Run("resnet56", small, 0.00005, cifar_resnet(9), 4),
    Run("vgg16:cifar", small, 0.01, vgg16(False)),
    Run("vgg16:cifar-bn", small, 0.00001, vgg16(True)),
    Run("vgg16:cifar-bn", small, 0.01, vgg16(True), 4),
]


def batch(run, step):
    height, width, channels = run.shape
    # The last batch of an epoch is smaller.
    count = run.batch if step + 1 < run.steps else max(1, run.batch - 3)
    size = math.prod(run.shape)
    bits = random_bits(mix64(SEED), step * run.batch * size + numpy.arange(count * size))
    pixels = (bits >> numpy.uint64(56)).astype(numpy.int64).reshape(count, size)
    labels = torch.from_numpy(pixels[:, 0] % CLASSES)
    images = pixels.reshape(count, height, width, channels).transpose(0, 3, 1, 2)
    return torch.from_numpy(images.astype(numpy.float64)), labels


def norm(values):
    return math.sqrt(sum(value.square().sum().item() for value in values))


def train(run, precision, nudge=0):
    net, losses, velocity, first = Net(precision, run.zero_gamma, nudge), [], {}, 0
    for step in range(run.steps):
        net.begin(*batch(run, step), step, True)
        with torch.autocast("cpu", torch.bfloat16, enabled=net.bf16):
            run.build(net)
        losses.append(net.loss.item())
        learned = {name: value for name, value in net.values.items() if value.requires_grad}
        gradients = torch.autograd.grad(net.loss, list(learned.values()))
        first = norm(gradients) if step == 0 else first
        with torch.no_grad():
            for (name, value), gradient in zip(learned.items(), gradients):
                rate = run.rate * net.rate_scales[name]
                change = rate * (gradient + DECAY * net.decay_scales[name] * value)
                velocity[name] = MOMENTUM * velocity.get(name, 0) + change
                value -= velocity[name]
    with torch.no_grad():
        net.begin(*batch(run, 0), 0, False)
        run.build(net)
    return {
        "losses": losses,
        "gradient": first,
        "evaluation": net.loss.item(),
        "learned": norm(value for value in net.values.values() if value.requires_grad),
        "statistics": norm(value for value in net.values.values() if not value.requires_grad),
    }


def result(run):
    exact = train(run, torch.float64)
    single_losses = train(run, torch.float32)["losses"]
    return {
        "network": run.network,
        "side": run.shape[0],
        "batch": run.batch,
        "zero_gamma": run.zero_gamma,
        "rate": run.rate,
        "fp32_differs": max(abs(a - b) / b for a, b in zip(single_losses, exact["losses"])),
        **exact,
        "bf16_differs": bf16_differs(run, exact["losses"]),
    }


def bf16_differs(run, exact):
    """Of one training or, at rates that multiply what rounding does, the largest of five."""
    most = 0
    for nudge in range(1 if run.steps == 10 else 5):
        losses = train(run, torch.bfloat16, nudge)["losses"]
        most = max([most] + [abs(a / b - 1) for a, b in zip(losses, exact)])
    return most


def write(file, runs, arguments):
    """All runs, or those of the wanted networks."""
    target = pathlib.Path(__file__).with_name(file)
    only_bf16, wanted = "--bf16" in arguments, [word for word in arguments if word != "--bf16"]
    results = json.loads(target.read_text()) if arguments else {"runs": {}}
    results["torch"] = torch.__version__
    for run in runs:
        if wanted and run.network not in wanted:
            continue
        if only_bf16:
            stored = results["runs"][run.title()]
            stored["bf16_differs"] = bf16_differs(run, stored["losses"])
        else:
            results["runs"][run.title()] = result(run)
        print(run.title(), results["runs"][run.title()], flush=True)
    target.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    write("networks.json", RUNS, sys.argv[1:])
