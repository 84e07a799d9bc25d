#!/usr/bin/env python3
"""TensorFlow: tf.data over TFRecords with a thread pool of its own, our graph as one tf.function.

Values are NHWC, the only layout of TensorFlow's CPU convolutions."""

import math
import os

import common

with common.imports():
    import datasets
    from start_values import start_values

SHUFFLED = 10_000  # images from which the next one is drawn


def load():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    class Trainer:
        def __init__(self, options, graph):
            self.graph = graph
            self.values = {name: tf.Variable(to_theirs(value))
                           for name, value in start_values(graph, options.seed).items()}
            self.learned = [one for one in graph["parameters"] if one["learned"]]
            self.parameters = sum(math.prod(self.values[one["name"]].shape)
                                  for one in self.learned)
            self.states = [[tf.Variable(tf.zeros_like(self.values[one["name"]]))
                            for _ in range(2)] for one in self.learned]
            if graph["recipe"]["optimizer"] not in ("sgd", "rmsprop"):
                raise common.Problem("tensorflow's adapter knows no optimizer "
                                     + graph["recipe"]["optimizer"])
            self.compiled = tf.function(self.train_step)
            self.losses = common.Recent()

        def step(self, batch):
            self.losses.add(self.compiled(*batch))

        def wait(self):
            self.losses.losses[-1].numpy()

        def loss(self):
            return self.losses.mean()

        def train_step(self, pixels, labels):
            variables = [self.values[one["name"]] for one in self.learned]
            with tf.GradientTape() as tape:
                loss = self.forward(pixels, labels)
            for one, weight, states, gradient in zip(self.learned, variables, self.states,
                                                     tape.gradient(loss, variables)):
                self.update(one, weight, states, gradient)
            return loss

        def update(self, parameter, weight, states, gradient):
            recipe = self.graph["recipe"]
            rate = recipe["rate"] * parameter["rate_scale"]
            decay = recipe["decay"] * parameter["decay_scale"]
            if decay:
                gradient += decay * weight
            if recipe["optimizer"] == "sgd":
                tf.raw_ops.ResourceApplyMomentum(
                    var=weight.handle, accum=states[0].handle, lr=rate, grad=gradient,
                    momentum=recipe["momentum"])
            else:
                square = states[0].assign(recipe["beta2"] * states[0]
                                          + (1 - recipe["beta2"]) * gradient * gradient)
                velocity = states[1].assign(recipe["momentum"] * states[1] + gradient
                                            / (tf.sqrt(square) + recipe["epsilon"]))
                weight.assign_sub(rate * velocity)

        def forward(self, pixels, labels):
            """The sum of all losses."""
            values, total = [], 0.0
            for node in self.graph["nodes"]:
                inputs = [values[i] for i in node["inputs"]]
                a = node["attributes"]
                if node["op"] == "input":
                    channels = range(node["extent"][0])
                    mean, scale = ([float(a.get(f"{key}{k}" if k else key, a.get(key, 0)))
                                    for k in channels] for key in ("mean", "scale"))
                    values.append((tf.cast(pixels, tf.float32) - mean) * scale)
                elif node["op"] == "softmax_loss":
                    logits = tf.reshape(inputs[0], [-1, self.graph["classes"]])
                    if a.get("smoothing"):
                        raise common.Problem("tensorflow's adapter has no label smoothing")
                    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                        labels=labels, logits=logits))
                    total += (a["weight"] if a.get("auxiliary") else 1.0) * loss
                    values.append(None)
                else:
                    values.append(self.value(node, inputs))
            return total

        def value(self, node, inputs):
            op, a, x = node["op"], node["attributes"], inputs[0]
            own = lambda name: self.values[f"{node['name']}.{name}"]
            whole = lambda name, absent=0: int(a.get(name, absent))
            if op == "conv":
                x = convolution(x, own("weight"), whole("stride"), whole("pad"),
                                whole("groups", 1))
                return x if whole("no_bias") else tf.nn.bias_add(x, own("bias"))
            if op == "dense":
                return tf.nn.bias_add(tf.matmul(flat(x), own("weight"), transpose_b=True),
                                      own("bias"))
            if op == "batch_norm":
                y, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
                    x=x, scale=own("weight"), offset=own("bias"), mean=own("running_mean"),
                    variance=own("running_var"), epsilon=a["epsilon"], is_training=True,
                    exponential_avg_factor=a["momentum"])
                own("running_mean").assign(mean)
                own("running_var").assign(variance)
                return y
            if op == "lstm":
                return self.lstm(node, x)
            if op in ("max_pool", "avg_pool"):
                return pool(op, x, node)
            if op == "lrn":  # TensorFlow's alpha is for each value, ours for the window
                return tf.nn.lrn(x, whole("size") // 2, a["k"], a["alpha"] / a["size"], a["beta"])
            if op == "shortcut":
                stride, missing = whole("stride"), whole("filters") - x.shape[3]
                return tf.pad(x[:, ::stride, ::stride], [[0, 0]] * 3 + [[0, missing]])
            functions = {"relu": lambda: tf.nn.relu(x), "tanh": lambda: tf.tanh(x),
                         "add": lambda: x + inputs[1], "concat": lambda: tf.concat(inputs, -1),
                         "dropout": lambda: tf.nn.dropout(x, a["share"])}
            if op not in functions:
                raise common.Problem(f"tensorflow's adapter knows no {op}")
            return functions[op]()

        def lstm(self, node, x):
            """One step for each row; gates in the order in, forget, cell, out."""
            weight, recurrent, bias = (self.values[f"{node['name']}.{name}"]
                                       for name in ("weight", "recurrent", "bias"))
            height, width, channels = x.shape[1:]
            rows = tf.reshape(tf.transpose(x, [0, 1, 3, 2]), [-1, height, channels * width])
            gates = tf.tensordot(rows, weight, [[2], [1]]) + bias
            hidden = cell = tf.zeros([tf.shape(x)[0], int(node["attributes"]["units"])])
            for row in range(height):
                i, f, g, o = tf.split(gates[:, row] + tf.matmul(hidden, recurrent,
                                                                transpose_b=True), 4, 1)
                cell = tf.sigmoid(f) * cell + tf.sigmoid(i) * tf.tanh(g)
                hidden = tf.sigmoid(o) * tf.tanh(cell)
            return hidden

    def to_theirs(value):
        return value.transpose(2, 3, 1, 0) if value.ndim == 4 else value

    def flat(x):
        """Values in the order channels, height, width, as our dense layers expect."""
        if len(x.shape) == 4:
            if x.shape[1] * x.shape[2] > 1:
                x = tf.transpose(x, [0, 3, 1, 2])
            x = tf.reshape(x, [-1, math.prod(x.shape[1:])])
        return x

    def convolution(x, weight, stride, pad, groups):
        padding = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
        parts = [tf.nn.conv2d(part, filters, stride, padding) for part, filters in
                 zip(tf.split(x, groups, 3), tf.split(weight, groups, 3))]
        return parts[0] if groups == 1 else tf.concat(parts, 3)

    def pool(op, x, node):
        a, (_, height, width) = node["attributes"], node["extent"]
        if "bins" in a:
            if x.shape[1] % height or x.shape[2] % width:
                return shared_means(shared_means(x, height, 1), width, 2)
            size = [x.shape[1] // height, x.shape[2] // width]
            return tf.nn.avg_pool2d(x, size, size, "VALID")
        kernel, stride, pad = (int(a[key]) if key in a else 0 for key in
                               ("kernel", "stride", "pad"))
        ends = [max(0, (count - 1) * stride + kernel - side - pad)
                for count, side in zip((height, width), x.shape[1:3])]
        if op == "max_pool":
            if pad or any(ends):
                x = tf.pad(x, [[0, 0], [pad, ends[0]], [pad, ends[1]], [0, 0]],
                           constant_values=-math.inf)
            return tf.nn.max_pool2d(x, kernel, stride, "VALID")
        if pad or any(ends):
            raise common.Problem("tensorflow's adapter does not average windows that overlap the border")
        return tf.nn.avg_pool2d(x, kernel, stride, "VALID")

    def shared_means(x, bins, axis):
        """Means along a side whose values are split into bins as evenly as possible."""
        side = x.shape[axis]
        ends = [(k * side // bins, -(-(k + 1) * side // bins)) for k in range(bins)]
        return tf.stack([tf.reduce_mean(tf.gather(x, range(*end), axis=axis), axis)
                         for end in ends], axis)

    class TensorFlow:
        name, version = "tensorflow", tf.__version__
        formats, recipes, least_threads = ["tfrecord"], list(RECIPES), 0

        def prepare(self, options):
            tf.random.set_seed(options.seed)
            tf.config.threading.set_intra_op_parallelism_threads(options.compute_threads)

        def ready(self, options):
            return 2 if options.threads else 0  # batches that prefetch holds

        def batches(self, options, graph):
            files = [str(file) for file in datasets.tfrecord_files(options.dataset)]
            kind = "GZIP" if files[0].endswith(".gz") else None
            first = next(iter(tf.data.TFRecordDataset(files, kind).take(1))).numpy()
            features = datasets.example(first)
            base = 1 if "image/class/synset" in features else 0
            shape = tuple(tf.io.decode_image(features["image/encoded"][0],
                                             expand_animations=False).shape)
            wanted = {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                      "image/class/label": tf.io.FixedLenFeature([], tf.int64)}

            def sample(record):
                told = tf.io.parse_single_example(record, wanted)
                image = RECIPES[options.recipe](tf, told["image/encoded"], shape)
                return image, told["image/class/label"] - base

            records = tf.data.TFRecordDataset(files, kind).shuffle(SHUFFLED, options.seed).repeat()
            images = records.map(sample, options.threads or None, deterministic=False)
            batched = images.batch(options.batch, drop_remainder=True)
            chosen = tf.data.Options()
            if options.threads:
                chosen.threading.private_threadpool_size = options.threads
                batched = batched.prefetch(2)
            for pixels, labels in batched.with_options(chosen):
                yield (pixels, labels), options.batch, None

        def trainer(self, options, graph):
            return Trainer(options, graph)

    return TensorFlow()


def whole(tf, encoded, shape):
    image = tf.io.decode_image(encoded, channels=shape[2], expand_animations=False)
    return tf.ensure_shape(image, shape)


def cifar_train(tf, encoded, shape):
    image = tf.image.resize_with_crop_or_pad(whole(tf, encoded, shape), shape[0] + 8,
                                             shape[1] + 8)
    return tf.image.random_flip_left_right(tf.image.random_crop(image, shape))


def imagenet_train(tf, encoded, _):
    """As in TensorFlow's ImageNet scripts: draws the crop first and decodes only that."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(encoded), tf.zeros([1, 0, 4]), min_object_covered=0,
        aspect_ratio_range=(3 / 4, 4 / 3), area_range=(0.08, 1.0), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    window = tf.concat([begin[:2], size[:2]], 0)
    image = tf.image.decode_and_crop_jpeg(encoded, window, channels=3)
    image = tf.image.random_flip_left_right(tf.image.resize(image, [224, 224]))
    return tf.cast(tf.round(image), tf.uint8)


RECIPES = {"none": whole, "mnist": whole, "cifar-train": cifar_train,
           "imagenet-train": imagenet_train}

if __name__ == "__main__":
    common.main(load)
