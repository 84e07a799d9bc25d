#!/usr/bin/env python3
"""TensorFlow beside us in a bench, by tools/peers/tensorflow.py.

    peer_tensorflow.py FEEDRATE        needs tensorflow (or tensorflow-cpu) and numpy"""
import sys

sys.path[0] += "/support"  # in place of this directory, whose names are those of packages

from peer import check

check("tensorflow", ["tfrecord"])
