#!/usr/bin/env python3
"""Trains the ImageNet networks on small images, like make_network_parity.py, and writes
imagenet_networks.json.

    apt-get install python3-torch && /usr/bin/python3 tests/trainer/parity/make_imagenet_parity.py [NETWORK...]

Images are as small as each network's windows allow, so that a step takes seconds, not minutes. VGG16
has 15 GMACs and needs 224 pixels for its 7 bins, so its batches are small instead."""

import math
import sys

import torch
import torch.nn.functional as F

from make_network_parity import CLASSES, Run, googlenet, write
from make_parity import uniform
from starts import constant, he_fan_out, normal


def fan_in(shape, number):
    return uniform(shape, number, math.sqrt(1 / math.prod(shape[1:])))


def of_inputs(inputs):
    return lambda shape, number: uniform(shape, number, 1 / math.sqrt(inputs))


def bins(b, x, side):
    b.node("avg_pool")
    return F.adaptive_avg_pool2d(x, side)


def alexnet(b):
    def conv(x, filters, kernel, stride, pad):
        inputs = x.shape[1] * kernel * kernel
        return b.relu(b.conv(x, filters, kernel, stride, pad, fan_in, of_inputs(inputs)))

    def dense(x, units):
        return b.dense(x, units, fan_in, of_inputs(math.prod(x.shape[1:])))

    x = b.max_pool(conv(b.input(1 / 58, 115), 64, 11, 4, 2), 3, 2)
    x = b.max_pool(conv(x, 192, 5, 1, 2), 3, 2)
    x = conv(conv(x, 384, 3, 1, 1), 256, 3, 1, 1)
    x = bins(b, b.max_pool(conv(x, 256, 3, 1, 1), 3, 2), 6)
    x = b.relu(dense(b.dropout(x, 0.5), 4096))
    x = b.relu(dense(b.dropout(x, 0.5), 4096))
    b.softmax_loss(dense(x, CLASSES))


def alexnet_caffe(b):
    scales = {"rate_scale": 2, "decay_scale": 0}

    def conv(x, filters, kernel, stride, pad, bias, groups):
        return b.relu(b.conv(x, filters, kernel, stride, pad, normal(0.01), constant(bias), groups,
                             **scales))

    x = conv(b.input(1, 118), 96, 11, 4, 0, 0, 1)
    x = b.max_pool(b.lrn(x, 5, 1e-4, 0.75), 3, 2, ceil=True)
    x = conv(x, 256, 5, 1, 2, 0.1, 2)
    x = b.max_pool(b.lrn(x, 5, 1e-4, 0.75), 3, 2, ceil=True)
    x = conv(x, 384, 3, 1, 1, 0, 1)
    x = conv(x, 384, 3, 1, 1, 0.1, 2)
    x = b.max_pool(conv(x, 256, 3, 1, 1, 0.1, 2), 3, 2, ceil=True)
    for _ in range(2):
        x = b.dropout(b.relu(b.dense(x, 4096, normal(0.005), constant(0.1), **scales)), 0.5)
    b.softmax_loss(b.dense(x, CLASSES, normal(0.01), **scales))


def resnet50(b):
    def conv_norm(x, filters, kernel, stride, ends_branch=False):
        x = b.conv(x, filters, kernel, stride, kernel // 2, he_fan_out, None)
        return b.batch_norm(x, ends_branch=ends_branch)

    x = b.max_pool(b.relu(conv_norm(b.input(1 / 58, 115), 64, 7, 2)), 3, 2, 1)
    for blocks, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for i in range(blocks):
            stride = 2 if i == 0 and width != 64 else 1
            y = b.relu(conv_norm(x, width, 1, 1))
            y = b.relu(conv_norm(y, width, 3, stride))
            y = conv_norm(y, 4 * width, 1, 1, True)
            x = b.relu(b.sum(y, conv_norm(x, 4 * width, 1, stride) if i == 0 else x))
    b.softmax_loss(b.dense(b.global_avg_pool(x), CLASSES, normal(0.01)))


def googlenet_torchvision(b):
    def conv(x, filters, kernel, stride=1):
        x = b.conv(x, filters, kernel, stride, kernel // 2, normal(0.01), None)
        return b.relu(b.batch_norm(x, 1e-3))

    def inception(x, filters):
        one, reduced3, three, reduced5, five, pooled = filters
        branches = [conv(x, one, 1), conv(conv(x, reduced3, 1), three, 3),
                    conv(conv(x, reduced5, 1), five, 3)]
        return b.concat(branches + [conv(b.max_pool(x, 3, 1, 1), pooled, 1)])

    x = b.max_pool(conv(b.input(1 / 58, 115), 64, 7, 2), 3, 2, ceil=True)
    x = b.max_pool(conv(conv(x, 64, 1), 192, 3), 3, 2, ceil=True)
    modules = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), (192, 96, 208, 16, 48, 64),
               (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
               (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128),
               (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))
    for i, filters in enumerate(modules):
        if i in (2, 7):
            x = b.max_pool(x, 3 if i == 2 else 2, 2, ceil=True)
        x = inception(x, filters)
        if i in (2, 5):
            y = conv(bins(b, x, 4), 128, 1)
            y = b.dropout(b.relu(b.dense(y, 1024, normal(0.01))), 0.7)
            b.softmax_loss(b.dense(y, CLASSES, normal(0.01)), 0.3)
    b.softmax_loss(b.dense(b.dropout(b.global_avg_pool(x), 0.2), CLASSES, normal(0.01)))


def googlenet_caffe(b):
    googlenet(b, pool=(5, 3))


def vgg16(b):
    x = b.input(1 / 64, 120)
    for convolutions, filters in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(convolutions):
            x = b.relu(b.conv(x, filters, 3, 1, 1, he_fan_out))
        x = b.max_pool(x, 2, 2)
    x = bins(b, x, 7)
    for _ in range(2):
        x = b.dropout(b.relu(b.dense(x, 4096, normal(0.01))), 0.5)
    b.softmax_loss(b.dense(x, CLASSES, normal(0.01)))


def side(pixels):
    return (pixels, pixels, 3)


# For the reason in Run, published networks with norms train at low rates: at 5e-5, a step of ResNet-50
# amplifies a relative change of 1e-7 in the pixels to 0.1 in the loss. The norm of the gradients
# after the first step shows that they are right.
RUNS = [
    Run("alexnet", side(224), 0.01, alexnet),
    Run("alexnet:caffe", side(67), 0.001, alexnet_caffe),
    Run("alexnet:caffe", side(99), 0.001, alexnet_caffe, 4),
    Run("resnet50", side(64), 0.001, resnet50, zero_gamma=True),
    Run("resnet50", side(96), 1e-8, resnet50, 4),
    Run("googlenet", side(64), 1e-8, googlenet_torchvision),
    Run("googlenet:caffe", side(96), 1e-5, googlenet_caffe),
    Run("vgg16", side(224), 1e-5, vgg16, batch=2),
]

if __name__ == "__main__":
    write("imagenet_networks.json", RUNS, sys.argv[1:])
