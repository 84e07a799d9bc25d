#!/usr/bin/env python3
"""Writes tests/support/pickles.h: pickles of every protocol as Python and numpy make them.

usage: make_pickles.py > pickles.h      (Python 3.8 or newer with numpy 2; last run with 3.11, 2.4.6)
"""
import pickle
import sys

import numpy as np

PROTOCOLS = (2, 3, 4, 5)
IMAGES, IMAGE_BYTES = 3, 3072


def values():
    """Every kind of value that the reader knows."""
    shared = (1, 'shared')
    return {
        'none': None,
        'bools': [True, False],
        'integers': [0, 255, 256, 65535, 65536, -1, -2**31, 2**31 - 1],
        'bytes': b'\x00\x7f\x80\xff',
        'long bytes': bytes(257),
        'text': 'h\u00e9',
        'tuples': [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        'shared': [shared, shared],
        'pixels': np.arange(6, dtype='u1').reshape(2, 3),
        'labels': np.array([3, -1, 300], dtype='<i8'),
    }


def around(data, pixels):
    """What stands before and behind the pixels."""
    at = data.index(pixels)
    return data[:at], data[at + len(pixels):]


def cifar(protocol, **labels):
    """A batch of CIFAR's layout, pickled again by Python 3. The pixels are below 0x80, because
    protocol 2 writes them as text."""
    pixels = bytes(range(128)) * (IMAGES * IMAGE_BYTES // 128)
    batch = {'batch_label': 'training batch 1 of 5', **labels,
             'data': np.frombuffer(pixels, 'u1').reshape(IMAGES, IMAGE_BYTES).copy(),
             'filenames': ['a_s_%06d.png' % i for i in range(IMAGES)]}
    return around(pickle.dumps(batch, protocol), pixels)


def print_hex(data, end):
    text = data.hex()
    rows = [text[i:i + 88] for i in range(0, len(text), 88)] or ['']
    for row in rows:
        print('     "%s"%s' % (row, end if row is rows[-1] else ''))


def main():
    print('''#pragma once
// Pickles of every protocol, in hex. Made by make_pickles.py; do not edit.

#include <string_view>

namespace feedrate::testing {

struct PickledValues {
  int protocol;
  std::string_view hex;
};

/// The dict of make_pickles.py: every kind of value.
inline constexpr PickledValues pickled_values[] = {''')
    for protocol in PROTOCOLS:
        print('    {%d,' % protocol)
        print_hex(pickle.dumps(values(), protocol), '},')
    print('''};

/// A batch of CIFAR's layout without its pixels, 3 * 3072 bytes that belong between the two.
struct PickledBatch {
  int protocol;
  std::string_view head;
  std::string_view tail;
};
''')
    for name, labels in (('cifar10', {'labels': [6, 9, 4]}),
                         ('cifar10_arrays', {'labels': np.array([6, 9, 4])}),
                         ('cifar100', {'fine_labels': [19, 29, 99], 'coarse_labels': [11, 15, 4]})):
        print('inline constexpr PickledBatch pickled_%s[] = {' % name)
        for protocol in PROTOCOLS:
            head, tail = cifar(protocol, **labels)
            print('    {%d,' % protocol)
            print_hex(head, ',')
            print_hex(tail, '},')
        print('};\n')
    print('}  // namespace feedrate::testing')


if __name__ == '__main__':
    if int(np.__version__.split('.')[0]) < 2:
        sys.exit('numpy 2 is needed: older ones write other module names')
    main()
