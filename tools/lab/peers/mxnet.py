#!/usr/bin/env python3
"""MXNet 1.x: ImageRecordIter over .rec files, our graph as a Symbol, MXNet's fused updates."""

import importlib.util
import json
import warnings

import common

with common.imports():
    from start_values import start_values


def load():
    warnings.simplefilter("ignore")  # MXNet is older than the installed NumPy
    import numpy
    if importlib.util.find_spec("mxnet") and not hasattr(numpy, "bool"):
        raise ImportError("MXNet 1.x needs a NumPy before 1.24")
    import mxnet as mx

    class Trainer:
        def __init__(self, options, graph):
            self.graph = graph
            height, width, channels = graph["input"]
            self.symbol = symbol(mx, graph, options.batch)
            self.executor = self.symbol.simple_bind(
                mx.cpu(), grad_req="write", pixels=(options.batch, channels, height, width),
                labels=(options.batch,), type_dict={"pixels": "uint8", "labels": "float32"})
            held = self.executor.arg_dict | self.executor.aux_dict
            for name, value in start_values(graph, options.seed).items():
                if name not in held or held[name].shape != value.shape:
                    raise common.Problem(f"mxnet has no {name} of {value.shape}")
                held[name][:] = value
            self.learned = learned(graph)
            self.parameters = sum(held[name].size for name, _, _ in self.learned)
            self.states = {name: [mx.nd.zeros(held[name].shape) for _ in range(2)]
                           for name, _, _ in self.learned}
            if graph["recipe"]["optimizer"] not in ("sgd", "rmsprop"):
                raise common.Problem("mxnet's adapter knows no optimizer "
                                     + graph["recipe"]["optimizer"])
            self.scale = 1 / options.batch  # gradients are sums over the batch
            self.labels, self.losses = None, common.Recent()

        def step(self, batch):
            pixels, self.labels = batch
            outputs = self.executor.forward(is_train=True, pixels=pixels, labels=self.labels)
            self.executor.backward()
            for name, rate, decay in self.learned:
                self.update(self.executor.arg_dict[name], self.executor.grad_dict[name],
                            self.states[name], rate, decay)
            chosen = mx.nd.pick(outputs[-1], self.labels)
            self.losses.add(Loss(-mx.nd.log(mx.nd.maximum(chosen, 1e-30)).mean()))
            # MXNet queues work without limit, so each step waits for the one before it.
            outputs[-1].wait_to_read()

        def update(self, weight, gradient, states, rate, decay):
            recipe = self.graph["recipe"]
            rate, decay = recipe["rate"] * rate, recipe["decay"] * decay
            if recipe["optimizer"] == "sgd":
                mx.nd.sgd_mom_update(weight, gradient, states[0], out=weight, lr=rate, wd=decay,
                                     momentum=recipe["momentum"], rescale_grad=self.scale)
            else:
                mx.nd.rmsprop_update(weight, gradient, states[0], out=weight, lr=rate, wd=decay,
                                     gamma1=recipe["beta2"], epsilon=recipe["epsilon"],
                                     rescale_grad=self.scale)

        def wait(self):
            mx.nd.waitall()

        def loss(self):
            return self.losses.mean()

    class Loss:
        def __init__(self, value):
            self.value = value

        def __float__(self):
            return float(self.value.asscalar())

    class MXNet:
        name, version = "mxnet", mx.__version__
        formats, recipes, least_threads = ["recordio"], list(RECIPES), 1

        def prepare(self, options):
            mx.random.seed(options.seed)
            mx.base._LIB.MXSetNumOMPThreads(options.compute_threads)

        def ready(self, options):
            return 4  # prefetch_buffer

        def batches(self, options, graph):
            path = options.dataset
            records = [path] if path.is_file() else sorted(path.glob("*.rec"))
            if len(records) != 1:
                raise common.Problem(f"{path}: ImageRecordIter reads one .rec, not {len(records)}")
            shape = image_shape(mx, records[0], options.recipe)
            reader = mx.io.ImageRecordUInt8Iter(
                path_imgrec=str(records[0]), path_imgidx=str(records[0].with_suffix(".idx")),
                data_shape=shape, batch_size=options.batch, shuffle=True, seed=options.seed,
                preprocess_threads=options.threads, prefetch_buffer=4, round_batch=True,
                verbose=False, **RECIPES[options.recipe])
            while True:
                for batch in reader:
                    pair = batch.data[0], batch.label[0]
                    if options.kind == "demand":  # copied, since the iterator reuses its buffers
                        pair = tuple(array.copy() for array in pair)
                    yield pair, options.batch, None
                reader.reset()

        def trainer(self, options, graph):
            return Trainer(options, graph)

    return MXNet()


def image_shape(mx, record, recipe):
    """The shape that the iterator shall give: it converts images to grey or to colour."""
    if recipe == "imagenet-train":
        return 3, 224, 224
    _, first = mx.recordio.unpack(mx.recordio.MXRecordIO(str(record), "r").read())
    image = mx.image.imdecode(first).asnumpy()
    sidecar = record.with_name("feedrate.json")
    channels = json.loads(sidecar.read_text())["shape"]["channels"] if sidecar.exists() else 0
    grey = (image == image[:, :, :1]).all()
    return channels or (1 if grey else 3), *image.shape[:2]


def learned(graph):
    """(name, scale of the rate, scale of the decay) of each parameter."""
    return [(one["name"], one["rate_scale"], one["decay_scale"])
            for one in graph["parameters"] if one["learned"]]


def symbol(mx, graph, batch):
    S, nodes, losses = mx.sym, [], []
    labels = S.Variable("labels")
    for node in graph["nodes"]:
        inputs = [nodes[i] for i in node["inputs"]]
        if node["op"] == "input":
            nodes.append(pixels(S, node))
        elif node["op"] == "softmax_loss":
            a = node["attributes"]
            losses.append(S.SoftmaxOutput(
                S.Flatten(inputs[0]), labels, name=node["name"],
                grad_scale=a["weight"] if a.get("auxiliary") else 1.0,
                smooth_alpha=a.get("smoothing", 0.0)))
            nodes.append(None)
        else:
            nodes.append(value(S, graph, node, inputs, batch))
    return S.Group(losses)


def pixels(S, node):
    a, channels = node["attributes"], range(node["extent"][0])
    x = S.Cast(S.Variable("pixels"), dtype="float32")
    parts = [x] if len({(a.get(f"mean{k}"), a.get(f"scale{k}")) for k in channels if k}) < 2 and \
        f"mean1" not in a and "scale1" not in a else list(
            S.SliceChannel(x, num_outputs=len(channels), axis=1))
    scaled = [(part - a.get(f"mean{k}" if k else "mean", a["mean"]))
              * a.get(f"scale{k}" if k else "scale", a["scale"]) for k, part in enumerate(parts)]
    return scaled[0] if len(scaled) == 1 else S.Concat(*scaled, dim=1)


def value(S, graph, node, inputs, batch):
    op, a, x, name = node["op"], node["attributes"], inputs[0], node["name"]
    own = lambda part: S.Variable(f"{name}.{part}")
    whole = lambda key, absent=0: int(a.get(key, absent))
    if op == "conv":
        bias = {} if whole("no_bias") else {"bias": own("bias")}
        return S.Convolution(x, own("weight"), kernel=(whole("kernel"),) * 2,
                             stride=(whole("stride"),) * 2, pad=(whole("pad"),) * 2,
                             num_filter=whole("filters"), num_group=whole("groups", 1),
                             no_bias=not bias, name=name, **bias)
    if op == "dense":
        return S.FullyConnected(x, own("weight"), own("bias"), num_hidden=whole("units"),
                                name=name)
    if op == "batch_norm":
        return S.BatchNorm(x, own("weight"), own("bias"), own("running_mean"),
                           own("running_var"), eps=a["epsilon"], momentum=1 - a["momentum"],
                           fix_gamma=False, name=name)
    if op == "lstm":
        return lstm(S, graph["nodes"][node["inputs"][0]]["extent"], x, own, whole("units"), batch)
    if op in ("max_pool", "avg_pool"):
        kind = op[:3]
        height = graph["nodes"][node["inputs"][0]]["extent"][1]
        if kind == "max" and whole("kernel") > height + 2 * whole("pad"):
            return padded_max_pool(S, node, height, x)
        if whole("bins") == 1:
            return S.Pooling(x, global_pool=True, kernel=(1, 1), pool_type=kind, name=name)
        if "bins" in a:
            return S.contrib.AdaptiveAvgPooling2D(x, output_size=whole("bins"), name=name)
        return S.Pooling(x, kernel=(whole("kernel"),) * 2, stride=(whole("stride"),) * 2,
                         pad=(whole("pad"),) * 2, pool_type=kind, count_include_pad=False,
                         pooling_convention="full" if whole("ceil") else "valid", name=name)
    if op == "lrn":
        return S.LRN(x, nsize=whole("size"), alpha=a["alpha"], beta=a["beta"], knorm=a["k"])
    if op == "shortcut":
        stride, (channels, height, width) = whole("stride"), node["extent"]
        missing = channels - graph["nodes"][node["inputs"][0]]["extent"][0]
        kept = S.slice(x, begin=(None,) * 4, end=(None,) * 4, step=(1, 1, stride, stride))
        zeros = S.zeros(shape=(batch, missing, height, width))
        return S.Concat(kept, zeros, dim=1) if missing else kept
    functions = {"relu": lambda: S.relu(x), "tanh": lambda: S.tanh(x),
                 "add": lambda: x + inputs[1], "concat": lambda: S.Concat(*inputs, dim=1),
                 "dropout": lambda: S.Dropout(x, p=a["share"])}
    if op not in functions:
        raise common.Problem(f"mxnet's adapter knows no {op}")
    return functions[op]()


def padded_max_pool(S, node, side, x):
    """For a square image: pads where a window reaches over the border further than MXNet allows."""
    a, count = node["attributes"], node["extent"][1]
    kernel, stride, pad = (int(a.get(key, 0)) for key in ("kernel", "stride", "pad"))
    end = (count - 1) * stride + kernel - side - pad
    padded = S.pad(x, mode="constant", constant_value=-3e38,
                   pad_width=(0, 0, 0, 0, pad, end, pad, end))
    return S.Pooling(padded, kernel=(kernel,) * 2, stride=(stride,) * 2, pool_type="max")


def lstm(S, extent, x, own, units, batch):
    """One step for each row; gates in the order in, forget, cell, out. (MXNet's own RNN has two biases.)"""
    channels, height, width = extent
    rows = S.reshape(S.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, channels * width))
    gates = S.FullyConnected(rows, own("weight"), own("bias"), num_hidden=4 * units, flatten=False)
    hidden = cell = S.zeros(shape=(batch, units))
    recurrent = own("recurrent")
    for row in S.SliceChannel(gates, num_outputs=height, axis=1, squeeze_axis=True):
        past = S.FullyConnected(hidden, recurrent, num_hidden=4 * units, no_bias=True)
        i, f, g, o = S.SliceChannel(row + past, num_outputs=4, axis=1)
        cell = S.sigmoid(f) * cell + S.sigmoid(i) * S.tanh(g)
        hidden = S.sigmoid(o) * S.tanh(cell)
    return hidden


RECIPES = {
    "none": {}, "mnist": {},
    "cifar-train": {"pad": 4, "rand_crop": True, "rand_mirror": True},
    "imagenet-train": {"random_resized_crop": True, "min_random_area": 0.08,
                       "max_random_area": 1.0, "min_aspect_ratio": 3 / 4,
                       "max_aspect_ratio": 4 / 3, "rand_mirror": True},
}

if __name__ == "__main__":
    common.main(load)
