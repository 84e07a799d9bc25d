"""What it would cost if convolutions found the sums of norms, and whether these sums keep their bits: cuDNN's
graphs of ResNet-50's products in bf16 (trainer/backends/cuda/products/README.md).

    fused_sums.py BATCH SECONDS     at most so many seconds

Prints a JSON object: by kind of graph, how many engines ran, how many gave the same bits in all runs, and the
milliseconds of a step that the fastest take longer than the product alone and a pass over its values at the
rate of a copy. Exits with 3 and a sentence where PyTorch's GPU or nvidia-cudnn-frontend cannot be used."""

import importlib
import json
import sys
import time

ABSENT = 3
RUNS = 6  # whose bits are compared
PLAIN_ENGINES, FUSED_ENGINES = 6, 3  # at most, of one graph
FORWARD, BACKWARD = "convolution", "data gradient"
OF_OUTPUT, OF_FP32 = "statistics of its output", "statistics of its fp32 output"
SUMS = "data gradient, relu's gradient, sums"


def shapes():
    """(input channels, its side, output channels, kernel, stride): [how many there are, how many of them read
    a norm's relu that nothing else reads]."""
    found = {}

    def add(channels, side, filters, kernel, stride, count, behind_norm):
        counts = found.setdefault((channels, side, filters, kernel, stride), [0, 0])
        counts[0] += count
        counts[1] += behind_norm

    for side, before, middle, stride, blocks in ((56, 64, 64, 1, 3), (56, 256, 128, 2, 4),
                                                 (28, 512, 256, 2, 6), (14, 1024, 512, 2, 3)):
        out, after = side // stride, 4 * middle
        add(before, side, middle, 1, 1, 1, 0)
        add(middle, side, middle, 3, stride, 1, 1)
        add(middle, out, after, 1, 1, blocks, blocks)
        add(before, side, after, 1, stride, 1, 0)
        add(after, out, middle, 1, 1, blocks - 1, 0)
        add(middle, out, middle, 3, 1, blocks - 1, blocks - 1)
    return found


class Asked:
    """One kind of graph for one shape, and its tensors."""

    def __init__(self, torch, cudnn, handle, kind, shape, batch):
        self.torch, self.bf16, self.fp32 = torch, cudnn.data_type.BFLOAT16, cudnn.data_type.FLOAT
        self.graph = cudnn.pygraph(io_data_type=self.bf16, intermediate_data_type=self.fp32,
                                   compute_data_type=self.fp32, handle=handle)
        self.pack, self.outputs = {}, []
        channels, side, filters, kernel, stride = shape
        x, y = [batch, channels, side, side], [batch, filters, side // stride, side // stride]
        window = {"padding": [kernel // 2] * 2, "stride": [stride] * 2, "dilation": [1, 1]}
        weights = self.read([filters, channels, kernel, kernel])
        if kind in (FORWARD, OF_OUTPUT, OF_FP32):
            out = self.graph.conv_fprop(image=self.read(x), weight=weights, **window)
            if kind == OF_FP32:
                out = self.graph.identity(input=self.inside(out, y))
            self.write(out, y)
            if kind != FORWARD:
                for sums in self.graph.genstats(input=out, compute_data_type=self.fp32):
                    self.write(sums, [1, filters, 1, 1], self.fp32)
            return
        gradient = self.graph.conv_dgrad(loss=self.read(y), filter=weights, **window)
        if kind == BACKWARD:
            self.write(gradient, x)
            return
        each = [1, channels, 1, 1]
        values, mean = self.read(x), self.read(each, self.fp32)
        masked = self.inside(self.graph.relu_backward(loss=self.inside(gradient, x), input=self.read(x)), x)
        self.write(self.graph.identity(input=masked), x)
        apart = self.inside(self.graph.sub(a=values, b=mean), x)
        for terms in (masked, self.inside(self.graph.mul(a=masked, b=apart), x)):
            self.write(self.graph.reduction(input=terms, mode=cudnn.reduction_mode.ADD), each, self.fp32)

    def memory(self, sides, values):
        count, channels, height, width = sides
        kind = self.torch.bfloat16 if values == self.bf16 else self.torch.float32
        return self.torch.randn(count, height, width, channels, device="cuda").to(kind).permute(0, 3, 1, 2)

    def strides(self, sides):
        _, channels, height, width = sides
        return [channels * height * width, 1, channels * width, channels]

    def read(self, sides, values=None):
        values = values or self.bf16
        node = self.graph.tensor(dim=sides, stride=self.strides(sides), data_type=values)
        self.pack[node] = self.memory(sides, values)
        return node

    def inside(self, node, sides):
        return node.set_data_type(self.fp32).set_dim(sides).set_stride(self.strides(sides))

    def write(self, node, sides, values=None):
        values = values or self.bf16
        node.set_output(True).set_data_type(values).set_dim(sides).set_stride(self.strides(sides))
        self.pack[node] = self.memory(sides, values)
        self.outputs.append(self.pack[node])


def milliseconds(torch, run, runs=12):
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    least = float("inf")
    for _ in range(3):
        began.record()
        for _ in range(runs):
            run()
        ended.record()
        ended.synchronize()
        least = min(least, began.elapsed_time(ended) / runs)
    return least


def engines(torch, cudnn, handle, asked, count, end):
    """(milliseconds, whether all runs gave the same bits) of the first engines that run."""
    graph = asked.graph
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    found = []
    for plan in range(graph.get_execution_plan_count()):
        if len(found) == count or time.monotonic() > end:
            break
        try:
            graph.build_plan_at_index(plan)
            size = max(1, graph.get_workspace_size_plan_at_index(plan))
            workspace = torch.empty(size, device="cuda", dtype=torch.uint8)

            def run(plan=plan, workspace=workspace):
                graph.execute_plan_at_index(asked.pack, workspace, plan, handle=handle)

            took = milliseconds(torch, run)
        except (RuntimeError, cudnn.cudnnGraphNotSupportedError):
            continue  # cuDNN offers plans that it cannot compile
        first = [one.clone() for one in asked.outputs]
        same = True
        for _ in range(RUNS - 1):
            run()
            same &= all(torch.equal(one, before) for one, before in zip(asked.outputs, first))
        found.append((took, same))
    return found


def main():
    batch, seconds = int(sys.argv[1]), float(sys.argv[2])
    try:
        torch, cudnn = importlib.import_module("torch"), importlib.import_module("cudnn")
        handle = cudnn.create_handle()
        cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
    except Exception as reason:  # of libraries that are not there, each in its own way
        print(reason, file=sys.stderr)
        return ABSENT
    began = time.monotonic()
    ran, kept, longer, without, left = {}, {}, {}, {}, 0
    for shape, (count, behind_norm) in shapes().items():
        if time.monotonic() - began > seconds:
            left += 1
            continue
        channels, side, filters, _, stride = shape
        y = torch.empty(batch * filters * (side // stride) ** 2, device="cuda", dtype=torch.bfloat16)
        to = torch.empty_like(y)
        bytes_a_ms = 2 * 2 * y.numel() / milliseconds(torch, lambda to=to, y=y: to.copy_(y))
        own = {FORWARD: 2 * y.numel() / bytes_a_ms, BACKWARD: 4 * batch * channels * side**2 / bytes_a_ms}
        for plain, fused, times in ((FORWARD, (OF_OUTPUT, OF_FP32), count), (BACKWARD, (SUMS,), behind_norm)):
            if times == 0:
                continue
            least = {}
            for kind in (plain, *fused):
                most = PLAIN_ENGINES if kind == plain else FUSED_ENGINES
                asked = Asked(torch, cudnn, handle, kind, shape, batch)
                found = engines(torch, cudnn, handle, asked, most, began + seconds)
                ran[kind] = ran.get(kind, 0) + len(found)
                kept[kind] = kept.get(kind, 0) + sum(same for _, same in found)
                least[kind] = min((took for took, _ in found), default=None)
                if kind != plain and None in (least[kind], least[plain]):
                    without[kind] = without.get(kind, 0) + 1
                elif kind != plain:
                    more = least[kind] - least[plain] - own[plain]
                    longer[kind] = longer.get(kind, 0) + times * more
    print(json.dumps({"engines": ran, "with the same bits": kept, "shapes left": left,
                      "shapes without an engine": without,
                      "ms a step longer": {kind: round(more, 3) for kind, more in longer.items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
