#!/usr/bin/env python3
"""Runs tools/lab/peers/tensorflow.py with TensorFlow itself in a bench.

    peer_tensorflow.py FEEDRATE        needs tensorflow (or tensorflow-cpu) and numpy"""
import sys

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

from peer import check

check("tensorflow", ["tfrecord"])
