"""What each fusion brings, and whether it keeps the bits: ResNet-50 with one turned off at a time."""

from budget import Failed
from prove import resident

NAMES = ["norm-sum", "sum-gradient", "relu-gradient", "weight-branch", "early-kernels"]
# These only change when a kernel runs. The others may round otherwise: in 16 bits a value that stays
# in a kernel is not rounded, and a compiler contracts products and sums where it sees both.
KEEP_BITS = ["weight-branch", "early-kernels"]
STEPS = {256: 40, 8: 200}  # a second or two


def step_name(batch, name=None):
    return f"without {name} {batch}" if name else f"fused {batch}"


def rate(check, batch, unfused=None):
    """Images/s, and all bits of the mean loss of the last steps."""
    environment = {"FEEDRATE_UNFUSED": unfused} if unfused else {}
    said = resident(check, "resnet50", "imagenet", batch, "bf16", "--steps", STEPS[batch],
                    **environment)
    return {key: said[key] for key in ("images_per_second", "loss", "loss_bits")}


def fused(check, batch):
    """With all of them. Measured once in a call: another call may run on another machine."""
    if batch not in check.fused:
        check.fused[batch] = rate(check, batch)
    return check.fused[batch]


def again(check, batch):
    """Nothing turned off a second time: the same call must give the same bits."""
    before, now = fused(check, batch), rate(check, batch)
    facts = compared(before, now)
    if not facts["same bits"]:
        raise Failed(f"two equal calls gave different losses over {STEPS[batch]} steps at batch {batch}: loss "
                     f"{before['loss']} and {now['loss']}", facts)
    return facts


def without(check, batch, name):
    before, now = fused(check, batch), rate(check, batch, name)
    facts = compared(before, now)
    if name in KEEP_BITS and not facts["same bits"]:
        raise Failed(f"{name} changes the bits of the loss over {STEPS[batch]} steps at batch {batch}: loss "
                     f"{before['loss']} with it, {now['loss']} without", facts)
    return facts


def compared(before, now):
    faster = before["images_per_second"] / now["images_per_second"]
    return {"images_per_second": now["images_per_second"], "it brings": f"{100 * (faster - 1):+.1f} %",
            "loss": now["loss"], "same bits": now["loss_bits"] == before["loss_bits"]}
