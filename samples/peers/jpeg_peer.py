#!/usr/bin/env python3
"""Prints the images/s of one other loader: the median of three runs, random resized crop to 224 and flip.

    jpeg_peer.py tf.data|dali|turboloader|spdl FOLDER    JPEGs, a folder for each class; 2 threads

Batches of 128 are 8-bit pixels on the CPU, as Feedrate gives them; TurboLoader's are f32, since it has
no others of JPEGs. tf.data decodes only the crop and resizes it without antialiasing, as its input
pipelines do; DALI and TurboLoader, which reads a tar of FOLDER, decode only the crop, too. SPDL decodes
all of an image by FFmpeg.
"""
import itertools
import json
import math
import pathlib
import random
import statistics
import sys
import tarfile
import tempfile
import time

BATCH, SIDE, THREADS = 128, 224, 2
ROUNDS, WARM_UP, SECONDS = 3, 5, 4.0  # WARM_UP is in batches


def tf_data(folder):
    import tensorflow as tf

    def image(path):
        encoded = tf.io.read_file(path)
        shape = tf.image.extract_jpeg_shape(encoded)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.zeros([0, 0, 4]), area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3),
            max_attempts=10, use_image_if_no_bounding_boxes=True)
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        crop = tf.image.decode_and_crop_jpeg(encoded, window, channels=3)
        crop = tf.image.resize(crop, (SIDE, SIDE))
        return tf.cast(tf.image.random_flip_left_right(crop), tf.uint8)

    files = [str(path) for path in sorted(pathlib.Path(folder).glob("*/*"))]
    data = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat()
    data = data.map(image, num_parallel_calls=THREADS).batch(BATCH).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = THREADS
    options.deterministic = False
    return iter(data.with_options(options))


def dali(folder):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, device_id=None, prefetch_queue_depth=2)
    def pipeline():
        encoded, _ = fn.readers.file(file_root=str(folder), random_shuffle=True)
        crop = fn.decoders.image_random_crop(encoded, device="cpu", output_type=types.RGB,
                                             random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        crop = fn.resize(crop, size=[SIDE, SIDE], interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.flip(crop, horizontal=fn.random.coin_flip())

    built = pipeline()
    built.build()
    while True:
        yield built.run()


def turboloader(folder):
    import turboloader as turbo

    with tempfile.NamedTemporaryFile(suffix=".tar") as tar:
        with tarfile.open(tar.name, "w") as images:
            for copy, path in itertools.product(range(10), sorted(pathlib.Path(folder).glob("*/*"))):
                images.add(path, f"{copy}/{path.name}")  # so that epochs are longer than their set-up
        loader = turbo.DataLoader(tar.name, batch_size=BATCH, num_workers=THREADS, image_size=SIDE, train_aug=True,
                                  antialias=True, output_format="numpy", shuffle=True)
        for epoch in itertools.count():
            loader.set_epoch(epoch)
            for batch in loader:
                yield len(batch[0] if isinstance(batch, tuple) else batch)


def random_crop(width, height):
    """torchvision's RandomResizedCrop: width, height, x, y."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return w, h, random.randint(0, width - w), random.randint(0, height - h)
    side = min(width, height)
    return side, side, (width - side) // 2, (height - side) // 2


def spdl(folder):
    import spdl.io
    from spdl.pipeline import PipelineBuilder

    files = [str(path) for path in sorted(pathlib.Path(folder).glob("*/*"))]

    def endless():
        while True:
            yield from random.sample(files, len(files))

    def image(path):
        packets = spdl.io.demux_image(path)
        crop = ":".join(map(str, random_crop(packets.width, packets.height)))
        flip = ",hflip" if random.random() < 0.5 else ""
        how = f"crop={crop},scale={SIDE}:{SIDE}:flags=bilinear{flip},format=pix_fmts=rgb24"
        return spdl.io.decode_packets(packets, filter_desc=how)

    def batch(frames):
        return spdl.io.to_numpy(spdl.io.convert_frames(frames))

    built = PipelineBuilder().add_source(endless()).pipe(image, concurrency=THREADS).aggregate(BATCH).pipe(batch)
    pipeline = built.add_sink(2).build(num_threads=THREADS)
    with pipeline.auto_stop():
        for images in pipeline:
            yield len(images)


def rate(batches):
    for _ in range(WARM_UP):
        next(batches)
    start, images = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        batch = next(batches)
        images += batch if isinstance(batch, int) else BATCH
    return images / (time.perf_counter() - start)


def main():
    loader, folder = sys.argv[1:]
    batches = {"tf.data": tf_data, "dali": dali, "turboloader": turboloader, "spdl": spdl}[loader](folder)
    print(json.dumps(round(statistics.median(rate(batches) for _ in range(ROUNDS)))))


if __name__ == "__main__":
    main()
