#!/usr/bin/env python3
"""Trains a small network for ten steps with each optimizer, in double, and writes the results.

    apt-get install python3-torch && /usr/bin/python3 tests/trainer/parity/make_optimizer_parity.py

The steps are those of PyTorch's classes. PyTorch has no LARS; here it is algorithm 1 of its paper,
with plain steps for biases and norms."""

import json
import pathlib

import torch
import torch.nn.functional as F
from make_parity import batches, uniform

SHAPES = {"conv1.weight": (4, 1, 5, 5), "dense1.weight": (10, 4 * 6 * 6)}


def fan_in_uniform(shape, number):
    return uniform(shape, number, (3 / (shape[1] * (25 if len(shape) == 4 else 1))) ** 0.5)


def forward(pixels, p):
    x = F.conv2d(pixels / 256, p["conv1.weight"], p["conv1.bias"], stride=2)
    x = F.max_pool2d(F.relu(x), 2)
    return F.linear(x.flatten(1), p["dense1.weight"], p["dense1.bias"])


class Lars(torch.optim.Optimizer):
    def __init__(self, parameters, lr, momentum, weight_decay, trust):
        defaults = dict(lr=lr, momentum=momentum, weight_decay=weight_decay, trust=trust)
        super().__init__(parameters, defaults)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                g, local = w.grad, 1.0
                if w.dim() > 1:
                    decay = group["weight_decay"]
                    local = group["trust"] * w.norm() / (g.norm() + decay * w.norm())
                    g = g + decay * w
                v = self.state[w].setdefault("v", torch.zeros_like(w))
                v.mul_(group["momentum"]).add_(group["lr"] * local * g)
                w.sub_(v)


# The settings of the test: rate, decay, and others that differ from the defaults.
CASES = {
    "nesterov": lambda p: torch.optim.SGD(
        p, lr=0.02, momentum=0.9, weight_decay=0.01, nesterov=True),
    "rmsprop": lambda p: torch.optim.RMSprop(
        p, lr=0.002, alpha=0.95, eps=1e-6, momentum=0.5, weight_decay=0.01),
    "adam": lambda p: torch.optim.Adam(
        p, lr=0.003, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.01),
    "adamw": lambda p: torch.optim.AdamW(
        p, lr=0.003, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
    "lars": lambda p: Lars(p, lr=2, momentum=0.9, weight_decay=0.01, trust=0.02),
}


def train(make):
    p, number = {}, 0
    for name, shape in SHAPES.items():
        p[name] = fan_in_uniform(shape, number).requires_grad_()
        p[name.replace("weight", "bias")] = torch.zeros(shape[0]).double().requires_grad_()
        number += 2
    optimizer, losses = make(list(p.values())), []
    for pixels, labels in batches():
        loss = F.cross_entropy(forward(pixels, p), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    norms = {name: value.norm().item() for name, value in p.items()}
    return {"losses": losses, "norms": norms}


if __name__ == "__main__":
    target = pathlib.Path(__file__).with_name("optimizers.json")
    results = {"torch": torch.__version__} | {name: train(make) for name, make in CASES.items()}
    target.write_text(json.dumps(results, indent=1) + "\n")
    print(target)
