#!/usr/bin/env python3
"""Trains LeNet and an MLP for ten steps with PyTorch, in double, and writes the results.

    apt-get install python3-torch && /usr/bin/python3 tests/trainer/parity/make_parity.py

Pixels, labels and initial values are the pure functions of formats/base/random.h, trainer/graph/memory_plan.cpp
and tests/trainer/batches.h, repeated here, so that only the results are stored."""

import json
import math
import pathlib

import numpy
import torch
import torch.nn.functional as F

SEED, STEPS, BATCH, CLASSES = 1, 10, 64, 10
GOLDEN, M1, M2, COUNTER = (
    numpy.uint64(x)
    for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD1342543DE82EF95)
)


def mix64(x):
    with numpy.errstate(over="ignore"):
        x = numpy.asarray(x, numpy.uint64) + GOLDEN
        x = (x ^ (x >> numpy.uint64(30))) * M1
        x = (x ^ (x >> numpy.uint64(27))) * M2
        return x ^ (x >> numpy.uint64(31))


def random_bits(key, counters):
    with numpy.errstate(over="ignore"):
        return mix64(mix64(key) ^ (numpy.asarray(counters, numpy.uint64) * COUNTER))


def uniform(shape, number, bound):
    with numpy.errstate(over="ignore"):
        key = mix64(mix64(SEED) + numpy.uint64(number))
    bits = random_bits(key, numpy.arange(math.prod(shape))) >> numpy.uint64(40)
    values = (2 * (bits.astype(numpy.float64) / 2**24) - 1) * bound
    return torch.from_numpy(values.astype(numpy.float32).astype(numpy.float64).reshape(shape))


def xavier(shape, number):
    return uniform(shape, number, math.sqrt(3 / math.prod(shape[1:])))


def glorot(shape, number):
    return uniform(shape, number, math.sqrt(6 / (shape[0] + shape[1])))


def batches():
    for step in range(STEPS):
        first = step * BATCH * 784
        bits = random_bits(mix64(SEED), first + numpy.arange(BATCH * 784))
        pixels = (bits >> numpy.uint64(56)).astype(numpy.int64).reshape(BATCH, 1, 28, 28)
        yield torch.from_numpy(pixels).double(), torch.from_numpy(pixels[:, 0, 0, 0] % CLASSES)


def lenet(pixels, p):
    x = F.max_pool2d(F.conv2d(pixels / 256, p["conv1.weight"], p["conv1.bias"]), 2)
    x = F.max_pool2d(F.conv2d(x, p["conv2.weight"], p["conv2.bias"]), 2)
    x = F.relu(F.linear(x.flatten(1), p["dense1.weight"], p["dense1.bias"]))
    return F.linear(x, p["dense2.weight"], p["dense2.bias"])


def mlp(pixels, p):
    x = pixels.flatten(1) * float(numpy.float32(1 / 255))
    x = F.relu(F.linear(x, p["dense1.weight"], p["dense1.bias"]))
    x = F.relu(F.linear(x, p["dense2.weight"], p["dense2.bias"]))
    return F.linear(x, p["dense3.weight"], p["dense3.bias"])


NETWORKS = {
    "lenet": {
        "forward": lenet,
        "init": xavier,
        "shapes": {"conv1": (20, 1, 5, 5), "conv2": (50, 20, 5, 5), "dense1": (500, 800),
                   "dense2": (10, 500)},
        "rate": lambda step: 0.01 * (1 + 1e-4 * step) ** -0.75,
        "bias_rate": 2,
        "decay": 5e-4,
    },
    "mlp_without_dropout": {
        "forward": mlp,
        "init": glorot,
        "shapes": {"dense1": (512, 784), "dense2": (512, 512), "dense3": (10, 512)},
        "rate": lambda step: 0.05,
        "bias_rate": 1,
        "decay": 0,
    },
}


def train(network):
    parameters, number = {}, 0
    for name, shape in network["shapes"].items():
        parameters[name + ".weight"] = network["init"](shape, number).requires_grad_()
        parameters[name + ".bias"] = torch.zeros(shape[0]).double().requires_grad_()
        number += 2
    velocity = {name: torch.zeros_like(value) for name, value in parameters.items()}
    losses = []
    for step, (pixels, labels) in enumerate(batches()):
        loss = F.cross_entropy(network["forward"](pixels, parameters), labels)
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        losses.append(loss.item())
        with torch.no_grad():
            for (name, value), gradient in zip(parameters.items(), gradients):
                rate = network["rate"](step) * (network["bias_rate"] if "bias" in name else 1)
                velocity[name] = 0.9 * velocity[name] + rate * (gradient + network["decay"] * value)
                value -= velocity[name]
    return {
        "torch": torch.__version__,
        "losses": losses,
        "parameters": {
            name: {"sum": value.sum().item(), "norm": value.norm().item()}
            for name, value in parameters.items()
        },
    }


if __name__ == "__main__":
    for name, network in NETWORKS.items():
        target = pathlib.Path(__file__).with_name(name + ".json")
        target.write_text(json.dumps(train(network), indent=1) + "\n")
        print(target)
