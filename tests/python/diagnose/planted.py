"""A training with one planted cause of waiting: planted.py CAUSE [fork|spawn|forkserver].

Work is processor time, so that it is the same on a busy machine; the model is a sleep, as the device of others is.
`nothing` has a little of many causes, and a model that needs longer than all of them.
"""

import contextlib
import io
import sys
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

CAUSE = sys.argv[1]
START = sys.argv[2] if len(sys.argv) > 2 else "fork"
if CAUSE == "slow-spawn" and __name__ != "__main__":
    time.sleep(1.5)  # imports, in a worker


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Grain:
    """A transform of the user's own."""

    def __init__(self, takes=0.003):
        self.takes = takes

    def __call__(self, image):
        work(self.takes)
        return image


KEPT = []  # files that last as long as the training


class Samples(Dataset):
    """512 samples, each with the work that the cause asks for."""

    transform = None

    def __init__(self):
        self.image = torch.zeros(3, 32, 32, dtype=torch.uint8)
        if CAUSE in ("decoding", "nothing"):
            from PIL import Image
            from torchvision import transforms

            pixels = torch.randint(0, 255, (400, 500, 3), dtype=torch.uint8)
            made = io.BytesIO()
            Image.fromarray(pixels.numpy()).save(made, "JPEG", quality=90)
            self.jpeg = made.getvalue()
            self.transform = transforms.Compose([transforms.CenterCrop(32), transforms.ToTensor()])
            if CAUSE == "nothing":
                self.transform.transforms.insert(0, Grain(0.0005))
        elif CAUSE == "transform":
            from torchvision import transforms

            self.transform = transforms.Compose([Grain(), transforms.ConvertImageDtype(torch.float32)])
        elif CAUSE == "float32":
            self.image = torch.zeros(3, 448, 448)
        elif CAUSE == "slow-storage":
            KEPT.append(tempfile.NamedTemporaryFile())  # not of the dataset, which spawned workers get by pickle
            KEPT[-1].write(bytes(1 << 17))
            KEPT[-1].flush()
            self.file = KEPT[-1].name

    def __len__(self):
        return 512

    def __getitem__(self, index):
        if CAUSE in ("decoding", "nothing"):
            from PIL import Image

            return self.transform(Image.open(io.BytesIO(self.jpeg)).convert("RGB")), index
        if CAUSE == "many-small-tensors":
            return {str(i): torch.tensor([index]) for i in range(120)}
        if CAUSE == "slow-storage":
            time.sleep(0.005)  # as a disk over the network
            with open(self.file, "rb") as file:
                file.read()
        if CAUSE == "slow-sample" and index % 128 == 77:
            time.sleep(0.6)
        work({"your-code": 0.003, "too-few-workers": 0.002, "more-workers-than-cores": 0.003}.get(CAUSE, 0))
        return (self.transform(self.image) if self.transform else self.image), index


class Model(torch.nn.Module):
    def __init__(self, takes):
        super().__init__()
        self.takes = takes
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, batch):
        time.sleep(self.takes)
        return self.weight.sum()


def slow(samples):
    work(0.03)
    return torch.utils.data.default_collate(samples)


def prepare(worker):
    time.sleep(0.5)  # opens what the dataset needs


def as_if_pinning():
    """Without a GPU nothing is pinned: this takes as long as a large batch would."""
    from types import SimpleNamespace

    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *_: SimpleNamespace(type="cuda")
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.set_device_index = lambda *_: None
    torch.Tensor.pin_memory = lambda self, *_: time.sleep(0.02) or self


WORKERS = {"more-workers-than-cores": 8, "too-few-workers": 1, "float32": 1}
MODEL = {"model": 0.06, "nothing": 0.08, "float32": 0.0005, "slow-sample": 0.01, "too-few-workers": 0.008}  # s of a step
EPOCHS = {"workers-restarted": 6, "slow-spawn": 3, "slow-sample": 4}


def main():
    traceml = sys.modules.get("traceml_ai")  # which has to be told of itself and of steps
    if traceml:
        traceml.init(mode="auto")
    if CAUSE == "pinning":
        as_if_pinning()
    few = CAUSE in ("workers-restarted", "slow-spawn")
    loader = DataLoader(
        Samples(), batch_size=32 if few else 8, shuffle=True, num_workers=WORKERS.get(CAUSE, 2),
        multiprocessing_context=START, collate_fn=slow if CAUSE == "slow-collate" else None,
        worker_init_fn=prepare if CAUSE == "workers-restarted" else None, pin_memory=CAUSE == "pinning",
        persistent_workers=CAUSE == "slow-sample",
    )  # fmt: skip
    # One epoch where workers are spawned for another cause: their start is not to be the cause.
    epochs = EPOCHS.get(CAUSE, 2 if START == "fork" else 1)
    torch.set_num_threads(1)
    model = Model(MODEL.get(CAUSE, 0.002))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(epochs):
        for batch in loader:
            with traceml.trace_step(model) if traceml else contextlib.nullcontext():
                optimizer.zero_grad()
                model(batch).backward()
                optimizer.step()
    print("trained")


if __name__ == "__main__":
    main()
