"""Initial values by the rules of Init (trainer/graph/graph.h), as functions of (shape, number), in double."""

import math

import numpy
import torch

from make_parity import mix64, random_bits, uniform

SEED = 1


def single(value):
    return float(numpy.float32(value))


def gaussian(shape, number, deviation):
    with numpy.errstate(over="ignore"):
        key = mix64(mix64(SEED) + numpy.uint64(number))
    bits = random_bits(key, numpy.arange(2 * math.prod(shape))) >> numpy.uint64(40)
    units = bits.astype(numpy.float64) / 2**24
    values = deviation * numpy.sqrt(-2 * numpy.log(1 - units[0::2])) * numpy.cos(
        2 * numpy.pi * units[1::2])
    return torch.from_numpy(values.astype(numpy.float32).astype(numpy.float64).reshape(shape))


def normal(deviation):
    return lambda shape, number: gaussian(shape, number, deviation)


def he_normal(shape, number):
    return gaussian(shape, number, math.sqrt(2 / math.prod(shape[1:])))


def he_fan_out(shape, number):
    return gaussian(shape, number, math.sqrt(2 * shape[1] / math.prod(shape)))


def xavier(shape, number):
    return uniform(shape, number, math.sqrt(3 / math.prod(shape[1:])))


def glorot(shape, number):
    fan_in, fan_out = math.prod(shape[1:]), math.prod(shape) / shape[1]
    return uniform(shape, number, math.sqrt(6 / (fan_in + fan_out)))


def constant(value):
    return lambda shape, number: torch.full(shape, single(value), dtype=torch.float64)


def orthogonal_columns(shape, number):
    # A column can have either sign; choose that of Gram-Schmidt.
    q, r = numpy.linalg.qr(gaussian(shape, number, 1).numpy())
    values = q * numpy.sign(numpy.diag(r))
    return torch.from_numpy(values.astype(numpy.float32).astype(numpy.float64))


def second_quarter(value):
    def init(shape, number):
        values = torch.zeros(shape, dtype=torch.float64)
        values[shape[0] // 4:shape[0] // 2] = value
        return values

    return init
