#!/usr/bin/env python3
"""The energy of a GPU in the rows of other frameworks, asked of made-up libraries.

    gpu_energy_test.py SOURCE_DIRECTORY LIBRARY LIBRARY_OF_AN_OLDER_DRIVER"""

import os
import sys
import unittest

SOURCE, LIBRARY, OLDER = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, f"{SOURCE}/tools/lab/peers")

from gpu_energy import GpuEnergy

UNKNOWN = {"gpu_power_w": None, "gpu_energy_j": None}


class UnitGpuEnergy(unittest.TestCase):
    def setUp(self):
        os.environ["FEEDRATE_NVML"] = LIBRARY
        os.environ.pop("FEEDRATE_FAKE_NVML_FAILS", None)

    def test_it_is_a_difference_and_gives_the_power_of_a_long_run(self):
        # Each answer of the made-up library is 50 J more than the last.
        self.assertEqual(GpuEnergy("GPU-0123").result(4),
                         {"gpu_power_w": 12.5, "gpu_energy_j": 50.0})

    def test_the_power_of_a_short_run_is_the_drivers(self):
        self.assertEqual(GpuEnergy("GPU-0123").result(0.5),
                         {"gpu_power_w": 123.456, "gpu_energy_j": 50.0})

    def test_an_older_driver_knows_the_power_alone(self):
        os.environ["FEEDRATE_NVML"] = OLDER
        self.assertEqual(GpuEnergy("GPU-0123").result(4),
                         {"gpu_power_w": 123.456, "gpu_energy_j": None})

    def test_what_is_unknown_is_none(self):
        self.assertEqual(GpuEnergy("GPU-4567").result(4), UNKNOWN)
        os.environ["FEEDRATE_FAKE_NVML_FAILS"] = "1"
        self.assertEqual(GpuEnergy("GPU-0123").result(4), UNKNOWN)
        os.environ["FEEDRATE_NVML"] = "/no/such/library"
        self.assertEqual(GpuEnergy("GPU-0123").result(4), UNKNOWN)


unittest.main()
