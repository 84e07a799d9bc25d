#!/usr/bin/env python3
"""Hugging Face's datasets with torch on a Parquet file, or Mosaic's streaming on MDS; see bench_hub.py.

    hub_peer.py datasets|streaming PATH WORKERS BATCH SECONDS

Random resized crop to 224 and mirror by torchvision, as the recipe imagenet-train. Prints {"images_per_second": …,
"cpu_seconds_per_image": …}: the processor time is that of this process and its workers.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

import torch
from torchvision import transforms

CROP = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.PILToTensor()])


def cropped(row):
    return CROP(row["image"].convert("RGB")), row["label"]


def cropped_batch(rows):
    return {"image": [CROP(image.convert("RGB")) for image in rows["image"]], "label": rows["label"]}


def of_datasets(path, place):
    import datasets

    rows = datasets.load_dataset("parquet", data_files=f"{path}/*.parquet", split="train", cache_dir=place)
    return rows.cast_column("image", datasets.Image()).with_transform(cropped_batch)


def of_streaming(path, place):
    from streaming import StreamingDataset

    class Cropped(StreamingDataset):
        def __getitem__(self, index):
            return cropped(super().__getitem__(index))

    return Cropped(local=path, shuffle=True, batch_size=BATCH)


def processor_seconds(processes):
    """Theirs, from the kernel, which adds up all threads of each."""
    stats = [pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split() for number in processes]
    return sum(int(one[11]) + int(one[12]) for one in stats) / os.sysconf("SC_CLK_TCK")


KIND, PATH, WORKERS, BATCH, SECONDS = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5])


def main():
    with tempfile.TemporaryDirectory() as place:
        rows = {"datasets": of_datasets, "streaming": of_streaming}[KIND](PATH, place)
        how = {"shuffle": True} if KIND == "datasets" else {}
        loader = torch.utils.data.DataLoader(rows, batch_size=BATCH, num_workers=WORKERS, persistent_workers=True, **how)
        images, start, spent = 0, None, 0
        while True:
            for batch in loader:  # the first epoch warms up
                now = time.perf_counter()
                if start is None:
                    continue
                images += len(batch["label"] if isinstance(batch, dict) else batch[1])
                if now - start > SECONDS:
                    spent = processor_seconds(processes) - spent
                    found = {"images_per_second": images / (now - start), "cpu_seconds_per_image": spent / images}
                    print(json.dumps(found), flush=True)
                    return
            if start is None:
                processes = [os.getpid(), *(worker.pid for worker in loader._iterator._workers)]
                spent, start = processor_seconds(processes), time.perf_counter()


main()
