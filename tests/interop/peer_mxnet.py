#!/usr/bin/env python3
"""MXNet beside us in a bench, by tools/peers/mxnet.py.

    peer_mxnet.py FEEDRATE        needs mxnet 1.9.1 and a numpy before 1.24"""
import sys

sys.path[0] += "/support"  # in place of this directory, whose names are those of packages

from peer import check

check("mxnet", ["recordio"])
