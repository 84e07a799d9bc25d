# The second part of the probe: what makes a batch.

# Images.


def _hook_pillow(module):
    def make(load):
        # Every method of an image calls load(); only the first call has something to decode.
        return lambda self: _timed("decode", load, self) if getattr(self, "tile", None) else load(self)

    _replace(module.ImageFile, "load", make)


def _hook_webp(module):
    _span(module.WebPImageFile, "load", "decode")


def _hook_cv2(module):
    for name in ("imdecode", "imread"):
        _span(module, name, "decode")


def _hook_torchvision_io(module):
    for name in dir(module):
        if name.startswith("decode_") and callable(getattr(module, name)):
            _span(module, name, "decode")


# Transforms.


class _Transform:
    """A transform of a Compose, timed. Whatever else is asked of it, the transform answers."""

    def __init__(self, transform):
        self._transform = transform
        kind = transform if hasattr(transform, "__code__") else type(transform)
        module = getattr(kind, "__module__", None) or ""
        name = getattr(kind, "__name__", "transform")
        self._span = "transform:" + name
        if not module.startswith(("torchvision.", "timm.")):
            code = getattr(kind, "__code__", None)
            for method in ("forward", "__call__"):
                code = code or getattr(getattr(kind, method, None), "__code__", None)
            where = code.co_filename + ":" + str(code.co_firstlineno) if code else module
            self._span = "own:" + name + ":" + where

    def __call__(self, *args, **kwargs):
        return _timed(self._span, self._transform, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._transform, name)


class _Transforms(list):
    pass


_composed = {}  # of each Compose: its list, what was in it, and that timed


def _timed_list(compose, there):
    known = _composed.get(id(compose))
    if known is None or known[0] is not there or known[1] != there:
        known = _composed[id(compose)] = (there, list(there), _Transforms(map(_Transform, there)))
    return known[2]


def _compose(call):
    def composed(self, *args, **kwargs):
        there = self.__dict__.get("transforms")
        if _state.sums is None or type(there) is not list:
            return call(self, *args, **kwargs)
        self.__dict__["transforms"] = _timed_list(self, there)
        try:
            return call(self, *args, **kwargs)
        finally:
            self.__dict__["transforms"] = there

    return composed


def _hook_transforms(module):
    _replace(module.Compose, "__call__", _compose)


def _hook_transforms_v2(module):
    _replace(module.Compose, "forward", _compose)


def _hook_albumentations(module):
    def make(call):
        return lambda self, *args, **kwargs: _timed("transform:" + type(self).__name__, call, self, *args, **kwargs)

    _replace(module.BasicTransform, "__call__", make)


# What makes a batch: in a worker, or in the main process where there are none.


class _Samples:
    def __init__(self, dataset):
        self.dataset = dataset

    def __getitem__(self, index):
        return _timed("getitem", _getitem, self.dataset, index)

    @property
    def __getitems__(self):
        many = self.dataset.__getitems__  # an AttributeError: there is none
        return many and (lambda indices: _timed("getitem", many, indices))


class _Items:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        return _timed("getitem", next, self.items)


def _leaves(data, found, depth=0):
    """Counts the tensors of a batch, their bytes, and those of float32 images."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (list, tuple)) and depth < 5:
        for one in data:
            _leaves(one, found, depth + 1)
    elif hasattr(data, "element_size") and hasattr(data, "numel"):
        size = data.element_size() * data.numel()
        found[0] += 1
        found[1] += size
        if str(data.dtype) == "torch.float32" and data.dim() >= 3:
            found[2] += size


_simple = (int, float, str, bytes)


def _parts(data, arrays, lengths, depth=0):
    """Collects the shapes of an item's arrays and the lengths of its lists; of a number or a text, None."""
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple) and shape:
        arrays.append(shape)
    elif depth > 4:
        return
    elif hasattr(data, "keys") and hasattr(data, "values"):
        for one in data.values():
            _parts(one, arrays, lengths, depth + 1)
    elif isinstance(data, tuple) or isinstance(data, list) and depth == 0 and not _are_samples(data):
        for one in data:
            _parts(one, arrays, lengths, depth + 1)
    elif isinstance(data, list):
        lengths.append(len(data))
    elif shape == () or isinstance(data, _simple):
        lengths.append(None)


def _is_picture(shape):
    return len(shape) == 3 and shape[0] in (1, 3, 4)


def _are_samples(items):
    """Of a list: whether it holds numbers, texts or pictures, one of each sample; not the columns of a batch."""
    first = items[:8]
    return all(isinstance(one, _simple) for one in first) or all(_is_picture(getattr(one, "shape", ())) for one in first)


def _samples_in(data):
    """Of an item that the dataset may have batched itself: as many samples as its largest array has along its first
    dimension, or as its longest list. One, where that array may be a picture, or has a number or a text beside it
    that is of one sample. None, where there is neither array nor list."""
    arrays, lengths = [], []
    _parts(data, arrays, lengths)
    known = [length for length in lengths if length is not None]
    if not arrays:
        return max(known) if known else None
    largest = max(arrays, key=lambda shape: (_product(shape), len(shape)))
    if len(known) < len(lengths) and len(largest) < 4:
        return 1
    firsts = [shape[0] for shape in arrays if shape is not largest] + known
    if _is_picture(largest) and not (firsts and set(firsts) == {largest[0]}):
        return 1
    return int(largest[0])


def _product(shape):
    product = 1
    for one in shape:
        product *= one
    return product


def _planned_samples(fetcher, index):
    """How many samples were asked for; None, where only the batch tells."""
    if getattr(fetcher, "auto_collation", True) or isinstance(index, list):
        try:
            return len(index)
        except TypeError:
            pass
    return None


_call_costs = 4000  # ns, of timing one call
_parts_share = 0.004  # of the time, at most for that


class _Maker(_Rows):
    """The batches that one process makes for one loader."""

    def __init__(self, facts):
        _Rows.__init__(self, '{"event":"batches","pid":%d,%s' % (os.getpid(), facts))
        self.facts, self.whole, self.number = facts, 0, 0
        self.begun()

    def begun(self):
        self.spans = self.read = self.samples = self.fetcher = None

    def make(self, fetch, fetcher, index):
        """What fetch(fetcher, index) makes, and as many facts about it as its turn asks for."""
        self.fetcher, self.samples = fetcher, _planned_samples(fetcher, index)
        if self.whole > 0:
            self.whole -= 1
            return fetch(fetcher, index)
        iterates = hasattr(fetcher, "dataset_iter")
        attribute, proxy = ("dataset_iter", _Items) if iterates else ("dataset", _Samples)
        source, collate = getattr(fetcher, attribute), fetcher.collate_fn
        setattr(fetcher, attribute, proxy(source))
        fetcher.collate_fn = lambda data: _timed("collate", collate, data)
        read = _read_bytes()
        self.spans = _state.sums = {}
        try:
            return fetch(fetcher, index)
        finally:
            _state.sums = None
            setattr(fetcher, attribute, source)
            fetcher.collate_fn = collate
            self.read = read, _read_bytes()

    def made(self, data, begin, end, cpu, before, after):
        """Keeps the facts, with the time that it took in all."""
        if self.samples is None:
            self.samples = _samples_in(data) or 1
        elif getattr(self.fetcher, "ended", False):  # the last batch of a dataset without indices may be smaller
            self.samples = min(self.samples, _samples_in(data) or 1)
        leaves = ()
        if self.number < 2 or self.number % 32 == 0:
            leaves = [0, 0, 0]
            _leaves(data, leaves)
        self.number += 1
        put = _counts["puts"], _counts["put_cpu"]
        _counts["puts"] = _counts["put_cpu"] = 0
        if self.spans is None:
            self.full.append([begin, end, before, after, self.samples, cpu, *put, *leaves])
        else:
            self.tell_parts(begin, end, cpu, before, after, put, leaves)
        self.begun()

    def tell_parts(self, begin, end, cpu, before, after, put, leaves):
        # Many short calls: time their parts in some batches only.
        cost = sum(one[2] for one in self.spans.values()) * _call_costs
        if self.number > 1:
            self.whole = int(min(1000, cost / (_parts_share * max(1, end - begin))))
        before, after = _number_in(before, 1), _number_in(after, 1)
        read = [[_number_in(text, at) for at in (1, 9)] for text in self.read]
        more = {"read": [now - then for then, now in zip(*read)]} if None not in read[0] + read[1] else {}
        if leaves:
            more["leaves"] = leaves
        if self.number == 1:  # which imports and opens what all use
            more["first"] = True
        delay = None if before is None or after is None else after - before
        told = _text({"samples": self.samples, "begin": begin, "end": end, "cpu": cpu, "puts": put[0], "put_cpu": put[1],
                      "delay": delay, "spans": self.spans, **more})  # fmt: skip
        _channel.lines.append('{"event":"batch","pid":%d,%s,%s' % (os.getpid(), self.facts, told[1:]))


_worker = []  # of a worker process: its _Maker


def _hook_fetch(module):
    def make_fetch(fetch):
        def fetched(self, index):
            if _worker:
                return _made_by_worker(_worker[0], fetch, self, index)
            making = _state.making
            if making is None or _state.sums is not None:
                return fetch(self, index)
            return making.make(fetch, self, index)

        return fetched

    _replace(module._MapDatasetFetcher, "fetch", make_fetch)
    _replace(module._IterableDatasetFetcher, "fetch", make_fetch)


def _made_by_worker(maker, fetch, fetcher, index):
    if _state.sums is not None:  # a dataset with a loader of its own
        return fetch(fetcher, index)
    if maker.skip > 0:
        maker.skip -= 1
        begin = _now()
        data = fetch(fetcher, index)
        maker.light += (begin, _now())
        return data
    before, begin, used = _delay(), _now(), _cpu()
    data = maker.make(fetch, fetcher, index)
    end, cpu = _now(), _cpu() - used
    maker.made(data, begin, end, cpu, before, _delay())
    if maker.number > 1:
        maker.plan(end - begin)
    if end - _channel.sent > _collected_for:
        _channel.flush()
    return data


def _hook_worker(module):
    def make(loop):
        def worker_loop(*args, **kwargs):
            from multiprocessing import parent_process  # not os.getppid(): that may be a forkserver

            parent = parent_process()
            parent = parent.pid if parent is not None else os.getppid()
            importer, torch = _counts.get("torch", (0, 0))
            _send("worker", begin=_now(), torch=torch if importer == os.getpid() else 0, parent=parent)
            _worker[:] = (_Maker('"parent":%d' % parent),)
            _counts.update(puts=0, put_cpu=0)
            _time_pickling()
            try:
                return loop(*args, **kwargs)
            finally:
                _channel.flush()

        return worker_loop

    _replace(module, "_worker_loop", make)


def _time_pickling():
    """A queue pickles in a thread of its own: times that, in this worker, when its next batch is timed in full."""
    from multiprocessing import queues

    pickler = getattr(queues, "_ForkingPickler", None)
    if pickler is None:
        return

    class Pickler(pickler):
        @classmethod
        def dumps(cls, *args, **kwargs):
            if _worker[0].skip > 0:
                return pickler.dumps(*args, **kwargs)
            used = _cpu()
            try:
                return pickler.dumps(*args, **kwargs)
            finally:
                _counts["put_cpu"] += _cpu() - used
                _counts["puts"] += 1

    queues._ForkingPickler = Pickler
