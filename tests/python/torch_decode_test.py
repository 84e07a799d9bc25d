"""decode="device": packed JPEGs decoded by the plug-in, on a GPU that is emulated: its memory is the
process's own, so that PyTorch for processors can hold its tensors."""

import array
import contextlib
import os
import pickle
import shutil
import unittest
import unittest.mock

import feedrate
from feedrate import _native
from feedrate._program import program
from support import content, mnist, photographs, place, shell

try:
    import torch
except ImportError:
    torch = None

EMULATED = os.path.join(os.path.dirname(os.path.realpath(program())), "libfeedrate_cuda_emulated.so")
RECIPES = "imagenet-train:size=24", "imagenet-eval:size=24", "cifar-train"


def packed():
    """23 small images: the emulated device takes its time."""
    if not os.path.exists(place("packed")):
        shell("synth", "cifar10", "--images", "23", "--out", place("cifar10"))
        feedrate.convert("cifar10", place("cifar10"), to="recordio", split="train", encode="packed", out=place("packed"))
    return place("packed")


def damaged():
    """The same with one sample's blocks spoilt, which its sums tell."""
    if not os.path.exists(place("damaged-packed")):
        shutil.copytree(packed(), place("damaged-packed"))
        dataset = feedrate.open(place("damaged-packed"))
        file, begin = dataset._native.place(7)
        end = dataset._native.place(8)[1]
        with open(file, "r+b") as records:
            records.seek((begin + end) // 2)
            records.write(bytes(64))
    return place("damaged-packed")


def shown(encode):
    """The same images, otherwise encoded."""
    packed()
    if not os.path.exists(place(encode)):
        feedrate.convert("cifar10", place("cifar10"), to="recordio", split="train", encode=encode, out=place(encode))
    return place(encode)


def decoded(loader):
    """What a device makes of a loader's batches, as `content` has them."""
    decoder = _native.DeviceDecoder(_native.DevicePlugin("cuda", [EMULATED]), 0, loader._arguments["batch"])
    loader._packed = True
    made = []
    for batch in loader:
        size = len(batch.images._native)
        for side in loader.image_shape:
            size *= side
        memory = array.array("B", bytes(size))
        decoder.decode(batch.images._native, memory.buffer_info()[0], 0)
        made.append((bytes(memory), batch.labels.tobytes(), batch.indices.tobytes()))
    decoder.wait()
    return made


class ConformancePlaces(unittest.TestCase):
    def test_without_a_plug_in_a_sentence_says_what_to_install(self):
        for places in [], [place("none/libfeedrate_cuda.so")], ["libfeedrate_no_such.so"]:
            with self.assertRaisesRegex(RuntimeError, r"needs the package feedrate-cuda: 'pip install feedrate-cuda=="):
                _native.DevicePlugin("cuda", places)

    def test_what_is_no_plug_in_is_told(self):
        with open(place("libfeedrate_cuda.so"), "w") as file:
            file.write("no library")
        with self.assertRaisesRegex(RuntimeError, "feedrate-cuda cannot be loaded: .*; 'pip install feedrate-cuda=="):
            _native.DevicePlugin("cuda", [place("libfeedrate_cuda.so")])
        other = os.path.join(os.path.dirname(EMULATED), "libfeedrate_cpu.so")
        if os.path.exists(other):
            with self.assertRaisesRegex(RuntimeError, "decodes nothing for this feedrate: .*' mends it"):
                _native.DevicePlugin("cuda", [other])


@unittest.skipUnless(os.path.exists(EMULATED), "this build has no emulated device")
class ConformanceDecoder(unittest.TestCase):
    def both(self, recipe, **options):
        options = {"batch": 5, "threads": 2, **options}
        expected = [content(batch) for batch in feedrate.Loader(packed(), recipe, **options)]
        self.assertEqual(decoded(feedrate.Loader(packed(), recipe, **options)), expected)
        return expected

    def test_it_gives_the_bits_of_the_threads(self):
        for recipe in RECIPES:
            for threads in 0, 1, 3:
                self.assertEqual(len(self.both(recipe, threads=threads)), 5)
        self.both("none", order=[3, 3, 0], batch=2)

    def test_ranks_share_an_epoch(self):
        whole = self.both(RECIPES[0], batch=6)
        shares = [self.both(RECIPES[0], batch=2, rank=rank, ranks=3) for rank in range(3)]
        for batch, parts in zip(whole, zip(*shares)):
            self.assertEqual(batch, tuple(b"".join(part) for part in zip(*parts)))

    def test_it_resumes(self):
        expected = [content(batch) for batch in feedrate.Loader(packed(), RECIPES[0], batch=5, epochs=2)]
        loader = feedrate.Loader(packed(), RECIPES[0], batch=5, epochs=2)
        loader.load_state_dict({"seed": 1, "epoch": 1, "position": 10})
        self.assertEqual(decoded(loader), expected[7:])

    def test_damage_is_an_error_that_names_the_sample(self):
        for threads in 0, 2:
            with self.assertRaises(feedrate.DataError) as raised:
                decoded(feedrate.Loader(damaged(), "imagenet-eval:size=24", batch=5, threads=threads))
            self.assertEqual(raised.exception.sample, 7)
        rest = feedrate.Loader(damaged(), "imagenet-eval:size=24", batch=5, on_bad="skip")
        expected = feedrate.Loader(damaged(), "imagenet-eval:size=24", batch=5, on_bad="skip")
        self.assertEqual(decoded(rest), [content(batch) for batch in expected])

    def test_a_device_that_is_not_there_is_told(self):
        loader = feedrate.Loader(packed(), RECIPES[0], batch=5)
        loader._packed = True
        decoder = _native.DeviceDecoder(_native.DevicePlugin("cuda", [EMULATED]), 5, 5)
        batch = next(iter(loader))
        with self.assertRaisesRegex(RuntimeError, "^cuda:5: CUDA: cudaSetDevice: "):
            decoder.decode(batch.images._native, 0, 0)


class Stream:
    """A stream of a GPU that does all work at once."""

    cuda_stream = 0

    def __init__(self, device=None):
        pass

    def record_event(self):
        return self

    def wait_event(self, event):
        pass

    def synchronize(self):
        pass


@contextlib.contextmanager
def emulated_gpu():
    """PyTorch finds a GPU, whose tensors are the processor's."""
    to, empty, tensor_of, cuda = torch.Tensor.to, torch.empty, torch.tensor, torch.device("cuda")

    def moved(tensor, device, **options):
        is_there = not isinstance(device, torch.dtype) and torch.device(device).type == "cuda"
        return tensor if is_there else to(tensor, device, **options)

    from feedrate import _torch_decoder

    patches = {
        "torch.cuda.is_available": lambda: True,
        "torch.cuda.current_device": lambda: 0,
        "torch.cuda.Stream": Stream,
        "torch.cuda.stream": lambda stream: contextlib.nullcontext(),
        "torch.cuda.current_stream": Stream,
        "torch.Tensor.to": moved,
        "torch.Tensor.record_stream": lambda tensor, stream: None,
        "torch.empty": lambda *sides, device, **more: empty(*sides, **more),
        "torch.tensor": lambda values, device=None, **more: tensor_of(values, **more),
        "feedrate._torch_decoder.places": lambda: [EMULATED],
    }
    with contextlib.ExitStack() as stack:
        stack.callback(_torch_decoder.plugin.cache_clear)
        _torch_decoder.plugin.cache_clear()
        for name, made in patches.items():
            stack.enter_context(unittest.mock.patch(name, made))
        yield cuda


@unittest.skipUnless(torch, "PyTorch is not installed")
class InteropDataLoader(unittest.TestCase):
    def loader(self, dataset=None, recipe=RECIPES[0], **options):
        from feedrate.torch import DataLoader

        return DataLoader(dataset or packed(), recipe, **{"batch_size": 5, "threads": 2, "pin_memory": False, "seed": 1, **options})

    def values(self, loader):
        return [(images.numpy().tobytes(), labels.tolist()) for images, labels in loader]

    @unittest.skipUnless(os.path.exists(EMULATED), "this build has no emulated device")
    def test_epochs_are_those_of_the_threads(self):
        usual = self.loader()
        expected = [self.values(usual) for _ in range(3)]
        with emulated_gpu() as device:
            loader = self.loader(device=device, decode="device")
            self.assertEqual([self.values(loader) for _ in range(2)], expected[:2])
            again = pickle.loads(pickle.dumps(loader))
            kept = [images for images, _ in again]
            loader.close()
            self.assertEqual([images.numpy().tobytes() for images in kept], [images for images, _ in expected[2]])
            self.assertTrue(kept[0].is_contiguous(memory_format=torch.channels_last))
            loader.load_state_dict({"seed": 1, "epoch": 1, "position": 15})
            self.assertEqual(self.values(loader), expected[1][3:])
            for _ in loader:
                break
            with unittest.mock.patch("feedrate.torch._share", return_value=(1, 2)):
                self.assertEqual(len(self.values(loader)), 3)

    @unittest.skipUnless(os.path.exists(EMULATED), "this build has no emulated device")
    def test_types_and_layouts_are_those_of_the_threads(self):
        scales = {"mean": [123.7, 116.3, 103.5], "deviation": [58.4, 57.1, 57.4]}
        for options in (
            {"layout": "nchw"},
            {"pixels": "f32"},
            {"pixels": "f32", **scales},
            {"pixels": "f32", "layout": "nhwc", **scales},
            {"pixels": "f16", **scales},
            {"pixels": "f16", "mean": 127.5},
        ):
            with self.subTest(options):
                expected = list(self.loader(**options))
                with emulated_gpu() as device:
                    found = list(self.loader(**options, device=device, decode="device"))
                self.assertEqual(len(found), len(expected))
                for (own, labels), (images, of_images) in zip(found, expected):
                    self.assertEqual((own.dtype, own.stride()), (images.dtype, images.stride()))
                    self.assertTrue(torch.equal(own, images) and torch.equal(labels, of_images))

    @unittest.skipUnless(os.path.exists(EMULATED), "this build has no emulated device")
    def test_damage_is_an_error_that_names_the_sample(self):
        with emulated_gpu() as device:
            with self.assertRaises(feedrate.DataError) as raised:
                list(self.loader(damaged(), device=device, decode="device"))
            self.assertEqual(raised.exception.sample, 7)

    def test_what_a_device_does_not_do_is_refused(self):
        for options, expected in (
            ({}, "decode='device' needs device='cuda', found None"),
            ({"device": "cpu"}, "decode='device' needs device='cuda', found cpu"),
            ({"recipe": feedrate.random_resized_crop(24) | feedrate.color_jitter(0.4)}, "works on pixels, .*decode='full'"),
            ({"recipe": feedrate.random_resized_crop(24) | feedrate.grey()}, "makes colours grey, .*: decode='full'"),
            (
                {"dataset": feedrate.mix({packed(): 1, shown("jpeg"): 1})},
                f"^{shown('jpeg')}: holds jpeg, .*dataset {shown('jpeg')} --encode",
            ),
            ({"dataset": photographs()}, "holds jpeg, but decode='device' is for packed JPEGs"),
            ({"dataset": mnist(), "recipe": "none"}, "holds raw, but decode='device'"),
        ):
            with self.assertRaisesRegex(ValueError, expected):
                self.loader(**options, decode="device")
        with self.assertRaisesRegex(ValueError, "^decode: expected 'full', 'scaled' or 'device', found 'gpu'$"):
            self.loader(decode="gpu")

    def test_without_the_plug_in_the_loader_says_so_at_once(self):
        with emulated_gpu() as device, unittest.mock.patch("feedrate._torch_decoder.places", lambda: []):
            with self.assertRaisesRegex(RuntimeError, "needs the package feedrate-cuda: 'pip install"):
                self.loader(device=device, decode="device")


if __name__ == "__main__":
    unittest.main()
