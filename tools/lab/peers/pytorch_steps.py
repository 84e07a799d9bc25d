"""How PyTorch runs a training step: the device, the precision, and who launches the kernels.

On a GPU everything is set that makes PyTorch fast: channels_last, cudnn.benchmark, TF32 in every
precision but fp32, autocast, a fused SGD, copies from pinned memory that nobody waits for."""

import collections

PRECISIONS = {"cpu": ["fp32", "bf16"], "cuda": ["fp32", "tf32", "bf16", "fp16"]}
WAYS = {"cpu": ["compile"], "cuda": ["compile", "cuda-graph"]}
AHEAD = 2  # steps that the host may queue before it waits: enough to keep the device busy
WARM_UP = 3  # steps before one is recorded, in which libraries initialise themselves


def trains(torch):
    """Precisions by the devices that can be used here."""
    return {device: names for device, names in PRECISIONS.items()
            if device == "cpu" or torch.cuda.is_available()}


def prepare(torch, options):
    torch.backends.cuda.matmul.allow_tf32 = options.precision != "fp32"
    torch.backends.cudnn.allow_tf32 = options.precision != "fp32"
    torch.backends.cudnn.benchmark = True


def make_steps(torch, options, network, make_optimizer):
    kind = RecordedSteps if options.cuda_graph else Steps
    return kind(torch, options, network, make_optimizer)


class Steps:
    """Kernel by kernel, or, with --compile, what torch.compile makes of the network."""

    def __init__(self, torch, options, network, make_optimizer):
        self.torch, self.device = torch, options.device
        self.on_gpu = self.device == "cuda"
        self.type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.precision)
        if self.on_gpu:
            network.to(self.device, memory_format=torch.channels_last)
        self.network = network
        if options.compile:
            mode = "reduce-overhead" if self.on_gpu else "default"
            self.network = torch.compile(network, mode=mode)
        self.optimizer = make_optimizer(fused=self.on_gpu)
        self.scaler = torch.amp.GradScaler(self.device) if options.precision == "fp16" else None
        self.ends = collections.deque()

    def placed(self, batch):
        """The batch where the network reads it."""
        if not self.on_gpu:
            return batch
        pixels, labels = (values.to(self.device, non_blocking=True) for values in batch)
        return pixels.contiguous(memory_format=self.torch.channels_last), labels

    def step(self, batch):
        """Returns the loss, which may not be known yet."""
        if not self.on_gpu:
            return self.run(*batch)
        if len(self.ends) == AHEAD:
            self.ends.popleft().synchronize()
        loss = self.run(*self.placed(batch)).clone()  # a recorded step overwrites its own
        self.ends.append(self.torch.cuda.Event())
        self.ends[-1].record()
        return loss

    def run(self, pixels, labels):
        self.optimizer.zero_grad()
        with self.torch.autocast(self.device, self.type, enabled=self.type is not None):
            loss = self.network(pixels, labels)
        if self.scaler is None:
            loss.backward()
            self.optimizer.step()
        else:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        return loss.detach()

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()


class RecordedSteps(Steps):
    """The whole step as one CUDA graph."""

    graph = None

    def run(self, pixels, labels):
        if self.graph is None:
            self.record(pixels, labels)
        self.pixels.copy_(pixels)
        self.labels.copy_(labels)
        self.graph.replay()
        return self.loss

    def record(self, pixels, labels):
        cuda = self.torch.cuda
        self.pixels, self.labels = pixels.clone(), labels.clone()
        beside = cuda.Stream()
        beside.wait_stream(cuda.current_stream())
        with cuda.stream(beside):
            for _ in range(WARM_UP):
                super().run(self.pixels, self.labels)
        cuda.current_stream().wait_stream(beside)
        self.graph = cuda.CUDAGraph()
        with cuda.graph(self.graph):
            self.loss = super().run(self.pixels, self.labels)
