"""Energy and power of a GPU from NVIDIA's management library (NVML), as tools/lab/measure/ takes them for
our own runs. What NVML does not report is None, never 0."""

import ctypes
import os

ENOUGH_SECONDS = 2  # over a shorter run the driver's own mean is more accurate


class GpuEnergy:
    """The energy that a GPU uses from now on. $FEEDRATE_NVML replaces libnvidia-ml.so.1."""

    def __init__(self, uuid):
        self.device, self.before = ctypes.c_void_p(), None
        try:
            self.nvml = ctypes.CDLL(os.environ.get("FEEDRATE_NVML", "libnvidia-ml.so.1"))
            found = self.nvml.nvmlInit_v2() == 0 and self.nvml.nvmlDeviceGetHandleByUUID(
                uuid.encode(), ctypes.byref(self.device)) == 0
        except (OSError, AttributeError):  # no library, or one that lacks a function
            found = False
        if not found:
            self.nvml = None
        self.before = self.ask("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong())

    def ask(self, function, value):
        """In units, of the thousandths that NVML counts."""
        try:
            known = getattr(self.nvml, function)(self.device, ctypes.byref(value)) == 0
        except AttributeError:
            known = False
        return value.value / 1000 if known else None

    def result(self, seconds):
        """The keys of `feedrate train --json`, for a run that took so long."""
        after = self.ask("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong())
        joules = None if self.before is None or after is None else round(after - self.before, 3)
        if joules is not None and seconds >= ENOUGH_SECONDS:
            watts = round(joules / seconds, 3)
        else:
            watts = self.ask("nvmlDeviceGetPowerUsage", ctypes.c_uint())
        return {"gpu_power_w": watts, "gpu_energy_j": joules}
