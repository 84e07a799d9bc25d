"""Whether it learns: made images whose classes can be learnt, on the CPU and on the GPU, and, where it
is at hand, CIFAR-10."""

from budget import Absent, Failed
from measure import LOADER_THREADS

NETWORK, BATCH, EPOCHS = "lenet", 128, 4
LEARNT = 0.65  # of ten classes: in fp32 and in bf16 the CPU comes to 0.75 or more
APART = 0.06  # two trainings that differ in their rounding alone are nearer


def made(check):
    """The same training in fp32 on the CPU and in bf16 on the GPU."""
    data = check.dataset("cifar10-all")
    found = {}
    for device, precision in (("cuda", "bf16"), ("cpu", "fp32")):
        said = check.feedrate("train", data / "train", "--val", data / "test", "--network", NETWORK,
                              "--batch", BATCH, "--epochs", EPOCHS, "--device", device, "--precision",
                              precision, "--threads", LOADER_THREADS, limit=90)
        found[device] = said["val_accuracy"]
    if found["cuda"] < LEARNT or found["cuda"] < found["cpu"] - APART:
        raise Failed(f"{found['cuda']:.1%} on the GPU, {found['cpu']:.1%} on the CPU; at least "
                     f"{LEARNT:.0%} are wanted, and no more than {100 * APART:.0f} points less", found)
    return found


def cifar10(check):
    """CIFAR-10 to 93 %, which needs the real images."""
    if not check.options.cifar10:
        raise Absent("--cifar10 names no folder with CIFAR-10's archive")
    data = check.out / "data" / "real-cifar10"
    if not data.exists():
        check.run("convert", "cifar10", check.options.cifar10, "--to", "lmdb", "--split", "all",
                  "--out", data)
    said = check.feedrate("train", data / "train", "--val", data / "test", "--preset",
                          "resnet56-modern", "--device", "cuda", "--precision", "bf16", "--threads",
                          LOADER_THREADS, "--log", check.out / "logs" / "cifar10.jsonl", limit=540)
    facts = {key: said[key] for key in ("val_accuracy", "seconds", "images_per_second",
                                        "stall_percent", "gpu_energy_j")}
    if said["val_accuracy"] < 0.93:
        raise Failed(f"{said['val_accuracy']:.2%} after {said['seconds']:.0f} s; 93 % are wanted", facts)
    return facts
