#!/usr/bin/env python3
"""PyTorch: its DataLoader with a process for each loader thread, its modules, its optimizers.

The loader passes images as u8 and the trainer converts them to floats, the faster of the two usual
ways."""

import math

import common

with common.imports():
    import numpy
    import datasets
    import pytorch_steps
    from start_values import start_values


def load():
    import torch

    class Images(torch.utils.data.Dataset):
        """One augmented image, its label and the worker that made it."""

        def __init__(self, options):
            self.stored = datasets.open_dataset(options.dataset, options.format)
            self.augment = RECIPES[options.recipe]

        def __len__(self):
            return len(self.stored)

        def __getitem__(self, i):
            sample = self.stored.read(i)
            pixels = self.augment(sample)
            worker = torch.utils.data.get_worker_info()
            planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
            return (torch.from_numpy(numpy.array(planes)), sample.label,
                    0 if worker is None else worker.id)

    class Network(torch.nn.Module):
        """Our graph, node by node."""

        def __init__(self, graph):
            super().__init__()
            self.graph = graph
            self.layers = torch.nn.ModuleDict()
            for node in graph["nodes"]:
                sources = [graph["nodes"][i]["extent"] for i in node["inputs"]]
                layer = layer_of(torch.nn, node, sources)
                if layer is not None:
                    self.layers[node["name"]] = layer
            first = graph["nodes"][0]
            channels = first["extent"][0]
            self.register_buffer("mean", torch.tensor(per_channel(first, "mean", channels)))
            self.register_buffer("scale", torch.tensor(per_channel(first, "scale", channels)))

        def forward(self, pixels, labels):
            """The sum of all losses."""
            values, total = [], 0
            for node in self.graph["nodes"]:
                inputs = [values[i] for i in node["inputs"]]
                if node["op"] == "input":
                    values.append((pixels.float() - self.mean) * self.scale)
                elif node["op"] == "softmax_loss":
                    a = node["attributes"]
                    loss = torch.nn.functional.cross_entropy(
                        inputs[0].flatten(1), labels, label_smoothing=a.get("smoothing", 0.0))
                    total = total + (a["weight"] if a.get("auxiliary") else 1) * loss
                    values.append(None)
                else:
                    values.append(self.value(node, inputs))
            return total

        def value(self, node, inputs):
            op, a, x = node["op"], node["attributes"], inputs[0]
            if op == "add":
                return x + inputs[1]
            if op == "concat":
                return torch.cat(inputs, 1)
            if op == "relu":
                return torch.relu(x)
            if op == "tanh":
                return torch.tanh(x)
            layer = self.layers[node["name"]] if node["name"] in self.layers else None
            if op == "dense":
                return layer(x.flatten(1))
            if op == "shortcut":
                stride, missing = int(a["stride"]), int(a["filters"]) - x.shape[1]
                return torch.nn.functional.pad(x[:, :, ::stride, ::stride],
                                               (0, 0, 0, 0, 0, missing))
            if op == "lstm":
                rows = x.transpose(1, 2).flatten(2)  # image, row, values
                return layer(rows)[0][:, -1]
            return layer(x)

    class Trainer:
        def __init__(self, options, graph):
            network = Network(graph)
            set_values(network, graph, start_values(graph, options.seed))
            learned = {our_name(name): value
                       for name, value in network.layers.named_parameters()
                       if value.requires_grad}
            self.parameters = sum(value.numel() for value in learned.values())
            self.steps = pytorch_steps.make_steps(
                torch, options, network,
                lambda fused: optimizer_of(torch.optim, graph, learned, fused))
            self.placed, self.wait = self.steps.placed, self.steps.wait
            self.losses = common.Recent()

        def step(self, batch):
            self.losses.add(self.steps.step(batch))

        def loss(self):
            return self.losses.mean()

    def set_values(network, graph, values):
        """Copies our parameters into the modules, matching them by name and shape."""
        theirs = {our_name(name): value for name, value in network.layers.state_dict().items()}
        for parameter in graph["parameters"]:
            name = parameter["name"]
            if name not in theirs or list(theirs[name].shape) != parameter["shape"]:
                raise common.Problem(f"pytorch has no {name} of {parameter['shape']}")
            with torch.no_grad():
                theirs[name].copy_(torch.from_numpy(values[name]))

    class PyTorch:
        name, version = "pytorch", torch.__version__
        formats, recipes, least_threads = list(datasets.DATASETS), list(RECIPES), 0
        kinds, ways, trains = ["compute"], pytorch_steps.WAYS, pytorch_steps.trains(torch)

        def prepare(self, options):
            torch.manual_seed(options.seed)
            torch.set_num_threads(options.compute_threads)
            pytorch_steps.prepare(torch, options)

        def gpu(self):
            return f"GPU-{torch.cuda.get_device_properties(0).uuid}"

        def ready(self, options):
            return 2 * options.threads  # DataLoader's prefetch_factor for each worker

        def batches(self, options, graph):
            loader = torch.utils.data.DataLoader(
                Images(options), batch_size=options.batch, shuffle=True, drop_last=True,
                num_workers=options.threads, persistent_workers=options.threads > 0,
                pin_memory=options.device == "cuda",
                worker_init_fn=lambda worker: numpy.random.seed(options.seed + worker))
            if len(loader) == 0:
                raise common.Problem(f"{options.dataset} has no whole batch of {options.batch}")
            while True:
                for pixels, labels, workers in loader:
                    yield (pixels, labels), len(labels), set(workers.tolist())

        def trainer(self, options, graph):
            return Trainer(options, graph)

    return PyTorch()


def layer_of(nn, node, sources):
    """The module of a node with parameters or settings; None for a plain function."""
    op, a = node["op"], node["attributes"]
    whole = lambda name, absent=0: int(a.get(name, absent))
    if op == "conv":
        return nn.Conv2d(sources[0][0], whole("filters"), whole("kernel"), whole("stride"),
                         whole("pad"), groups=whole("groups", 1), bias=not whole("no_bias"))
    if op == "dense":
        return nn.Linear(math.prod(sources[0]), whole("units"))
    if op == "batch_norm":
        return nn.BatchNorm2d(sources[0][0], a["epsilon"], a["momentum"])
    if op == "lstm":
        layer = nn.LSTM(sources[0][0] * sources[0][2], whole("units"), batch_first=True)
        nn.init.zeros_(layer.bias_hh_l0).requires_grad_(False)  # ours has one bias
        return layer
    if op == "max_pool":
        return nn.MaxPool2d(whole("kernel"), whole("stride"), whole("pad"),
                            ceil_mode=bool(whole("ceil")))
    if op == "avg_pool":
        if "bins" in a:
            return nn.AdaptiveAvgPool2d(whole("bins"))
        return nn.AvgPool2d(whole("kernel"), whole("stride"), whole("pad"),
                            ceil_mode=bool(whole("ceil")), count_include_pad=False)
    if op == "lrn":
        return nn.LocalResponseNorm(whole("size"), a["alpha"], a["beta"], a["k"])
    if op == "dropout":
        return nn.Dropout(a["share"])
    if op not in ("input", "softmax_loss", "add", "concat", "relu", "tanh", "shortcut"):
        raise common.Problem(f"pytorch's adapter knows no {op}")
    return None


def our_name(name):
    """Our name for a module's parameter."""
    lstm = {"weight_ih_l0": "weight", "weight_hh_l0": "recurrent", "bias_ih_l0": "bias"}
    node, _, own = name.rpartition(".")
    return f"{node}.{lstm.get(own, own)}"


def per_channel(node, key, channels):
    """[channels, 1, 1]: "scale" for all channels, "scale1" … for single ones."""
    a = node["attributes"]
    return [[[float(a.get(f"{key}{k}" if k else key, a.get(key, 0)))]] for k in range(channels)]


def optimizer_of(optim, graph, learned, fused):
    recipe, groups = graph["recipe"], {}
    for parameter in graph["parameters"]:
        if parameter["learned"]:
            scales = parameter["rate_scale"], parameter["decay_scale"]
            groups.setdefault(scales, []).append(learned[parameter["name"]])
    parameters = [{"params": values, "lr": recipe["rate"] * rate,
                   "weight_decay": recipe["decay"] * decay}
                  for (rate, decay), values in groups.items()]
    if recipe["optimizer"] == "sgd":
        return optim.SGD(parameters, lr=recipe["rate"], momentum=recipe["momentum"],
                         **({"fused": True} if fused else {}))
    if recipe["optimizer"] == "rmsprop":
        return optim.RMSprop(parameters, lr=recipe["rate"], alpha=recipe["beta2"],
                             eps=recipe["epsilon"], momentum=recipe["momentum"])
    raise common.Problem(f"pytorch's adapter knows no optimizer {recipe['optimizer']}")


def whole(sample):
    return datasets.decode(sample)


def cifar_train(sample):
    pixels, pad = datasets.decode(sample), 4
    height, width = pixels.shape[:2]
    y, x, mirrored = (numpy.random.randint(n) for n in (2 * pad + 1, 2 * pad + 1, 2))
    padded = numpy.pad(pixels, [(pad, pad), (pad, pad)] + [(0, 0)] * (pixels.ndim - 2))
    crop = padded[y:y + height, x:x + width]
    return crop[:, ::-1] if mirrored else crop


def imagenet_train(sample):
    """torchvision's RandomResizedCrop(224) and flip, with Pillow."""
    image = datasets.decode_pillow(sample).convert("RGB")
    pixels = numpy.asarray(image.resize((224, 224), resample=2, box=random_crop(*image.size)))
    return pixels[:, ::-1] if numpy.random.randint(2) else pixels


def random_crop(width, height):
    for _ in range(10):
        area = width * height * numpy.random.uniform(0.08, 1)
        ratio = math.exp(numpy.random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            x, y = numpy.random.randint(width - w + 1), numpy.random.randint(height - h + 1)
            return x, y, x + w, y + h
    w, h = min(width, round(height * 4 / 3)), min(height, round(width * 4 / 3))
    x, y = (width - w) // 2, (height - h) // 2
    return x, y, x + w, y + h


RECIPES = {"none": whole, "mnist": whole, "cifar-train": cifar_train,
           "imagenet-train": imagenet_train}

if __name__ == "__main__":
    common.main(load)
