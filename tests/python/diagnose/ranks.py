"""Ranks that train together, of which the second one has a slow dataset: torchrun --nproc-per-node 2 ranks.py"""

import os
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, takes):
        self.takes = takes

    def __len__(self):
        return 320

    def __getitem__(self, index):
        end = time.thread_time() + self.takes
        while time.thread_time() < end:
            pass
        return torch.zeros(4)


def main():
    torch.distributed.init_process_group("gloo")
    takes = 0.004 if os.environ["RANK"] == "1" else 0
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    for batch in DataLoader(Samples(takes), 8):
        time.sleep(0.005)
        model(batch).sum().backward()
    torch.distributed.barrier()  # or gloo aborts the rank that comes last
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
