"""Start values of a graph's parameters, by the rules of trainer/graph/graph.h, drawn with NumPy."""

import math

import numpy


def start_values(graph, seed):
    """Arrays by name, in the shapes that the graph states: O,I/groups,H,W and O,I."""
    random = numpy.random.default_rng(seed)
    return {parameter["name"]: start_value(parameter, random).astype(numpy.float32)
            for parameter in graph["parameters"]}


def start_value(parameter, random):
    shape, rule = parameter["shape"], parameter["init"]["rule"]
    value = parameter["init"]["value"]
    fan_in = math.prod(shape[1:])
    fan_out = math.prod(shape) / shape[1] if len(shape) > 1 else shape[0]
    uniform = lambda limit: random.uniform(-limit, limit, shape)
    rules = {
        "constant": lambda: numpy.full(shape, value),
        "xavier": lambda: uniform(math.sqrt(3 / fan_in)),
        "glorot_uniform": lambda: uniform(math.sqrt(6 / (fan_in + fan_out))),
        "gaussian": lambda: random.normal(0, value, shape),
        "he_normal": lambda: random.normal(0, math.sqrt(2 / fan_in), shape),
        "he_fan_out": lambda: random.normal(0, math.sqrt(2 / fan_out), shape),
        "uniform": lambda: uniform(value),
        "uniform_fan_in": lambda: uniform(math.sqrt(1 / fan_in)),
        "orthogonal_columns": lambda: orthogonal_columns(shape, random),
        "second_quarter": lambda: second_quarter(shape, value),
    }
    return rules[rule]()


def orthogonal_columns(shape, random):
    q, r = numpy.linalg.qr(random.normal(0, 1, shape))
    return q * numpy.sign(numpy.diag(r))


def second_quarter(shape, value):
    values = numpy.zeros(shape)
    values[shape[0] // 4:shape[0] // 2] = value
    return values
