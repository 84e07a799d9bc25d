#!/usr/bin/env python3
"""Prints the images/s of one other loader: the median of three runs, random resized crop to 224 and flip.

    jpeg_peer.py tf.data|dali FOLDER    JPEGs, a folder for each class; 2 threads

Batches of 128 are 8-bit pixels on the CPU, as Feedrate gives them. tf.data decodes only the crop and
resizes it without antialiasing, as its input pipelines do; DALI decodes only the crop, too.
"""
import json
import pathlib
import statistics
import sys
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


def rate(batches):
    for _ in range(WARM_UP):
        next(batches)
    start, images = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        next(batches)
        images += BATCH
    return images / (time.perf_counter() - start)


def main():
    loader, folder = sys.argv[1:]
    batches = {"tf.data": tf_data, "dali": dali}[loader](folder)
    print(json.dumps(round(statistics.median(rate(batches) for _ in range(ROUNDS)))))


if __name__ == "__main__":
    main()
