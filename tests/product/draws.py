"""The order of epochs and of shuffled conversions, and the digest of a loaded epoch, computed once more
from ARCHITECTURE.md's and FORMATS.md's definitions: splitmix64, a Feistel network, SHA-256."""

import hashlib
import struct

MASK = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def bits(key, counter):
    return mix(mix(key) ^ (counter * 0xD1342543DE82EF95 & MASK))


def converted_order(seed, size):
    """Of `convert --shuffle`: Fisher and Yates."""
    order = list(range(size))
    for i in range(size - 1, 0, -1):
        j = (bits(seed, i) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def fold(half, add, multiply):
    product = (half ^ add) * multiply
    return (product ^ product >> 64) & MASK


def loaded_order(size, seed, epoch, window=0):
    """Of an epoch of the loader."""
    if size < 2 or window == 1:
        return list(range(size))
    window = window if window < size else 0
    width = max(((window or size) - 1).bit_length(), 6)
    low_bits = (width + 1) // 2
    low_mask, high_mask = (1 << low_bits) - 1, (1 << width // 2) - 1
    key = mix((mix(seed) + mix(~epoch & MASK)) & MASK)
    keys = [bits(key, i) | i % 2 for i in range(16)]

    def walk(value, limit, tweak):
        while True:
            low, high = value & low_mask, value >> low_bits
            for k in range(0, 16, 4):
                high ^= fold(low ^ tweak, keys[k], keys[k + 1]) & high_mask
                low ^= fold(high ^ tweak, keys[k + 2], keys[k + 3]) & low_mask
            value = high << low_bits | low
            if value < limit:
                return value

    first = min(size, 1 + mix(key) % window) if window else size
    order = [walk(i, first, 0) for i in range(first)]
    for number, start in enumerate(range(first, size, window or size)):
        limit = min(window, size - start)
        order += [start + walk(i, limit, mix(number)) for i in range(limit)]
    return order


def batches(order, start, batch, last, rank, ranks):
    """The indices in each batch of one rank, from position `start` of the epoch."""
    step = batch * ranks
    for first in range(start, len(order), step):
        left = len(order) - first
        if left >= step or last == "wrap":
            mine = range(first + rank * batch, first + (rank + 1) * batch)
        elif last == "drop":
            return
        else:
            share, more = divmod(left, ranks)
            if last == "pad" and more:
                share, more = share + 1, 0
            begin = first + rank * share + min(rank, more)
            mine = range(begin, begin + share + (rank < more))
        if mine:
            yield [order[i % len(order)] for i in mine]


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def values(image, pixels, layout, means, deviations):
    """An image in a batch, as bytes."""
    height, width, channels, data = image
    if (layout or ("nhwc" if pixels == "u8" else "nchw")) == "nchw":
        data = b"".join(data[c::channels] for c in range(channels))
        channel = [c for c in range(channels) for _ in range(height * width)]
    else:
        channel = list(range(channels)) * (height * width)
    if pixels == "u8":
        return data
    numbers = {}
    for c in range(channels):
        mean, deviation = float32(means[c % len(means)]), float32(deviations[c % len(deviations)])
        for p in range(256):
            numbers[c, p] = struct.pack("<e" if pixels == "f16" else "<f",
                                        float32(float32(p - mean) / deviation))
    return b"".join(numbers[c, p] for c, p in zip(channel, data))


def epoch_digest(chosen, labels, images):
    """SHA-256 of the labels and the bytes of every batch; `chosen` are the indices in each."""
    hasher = hashlib.sha256()
    for indices in chosen:
        hasher.update(b"".join(struct.pack("<i", labels[i]) for i in indices))
        hasher.update(b"".join(images[i] for i in indices))
    return hasher.hexdigest()


def dataset_digests(samples):
    """`digest` and `set_digest` of [(label, image)], by FORMATS.md, section 3."""
    each = [hashlib.sha256(struct.pack("<4I", label & 0xFFFFFFFF, *image[:3]) + image[3]).digest()
            for label, image in samples]
    return tuple(hashlib.sha256(b"".join(hashes)).hexdigest() for hashes in (each, sorted(each)))
