#!/usr/bin/env python3
"""Runs tools/lab/peers/mxnet.py with MXNet itself in a bench.

    peer_mxnet.py FEEDRATE        needs mxnet 1.9.1 and a numpy before 1.24"""
import sys

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

from peer import check

check("mxnet", ["recordio"])
