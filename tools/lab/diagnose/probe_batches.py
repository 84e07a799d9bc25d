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


# What makes a batch: in a worker, or in the main process where there are none.


class _Samples:
    def __init__(self, dataset):
        self.dataset, self.slowest = dataset, 0

    def __getitem__(self, index):
        begin = _now()
        try:
            return _timed("getitem", _getitem, self.dataset, index)
        finally:
            self.slowest = max(self.slowest, _now() - begin)

    @property
    def __getitems__(self):
        many = self.dataset.__getitems__  # an AttributeError: there is none
        return many and (lambda indices: _timed("getitem", many, indices))


class _Items:
    def __init__(self, items):
        self.items, self.slowest = items, 0

    def __iter__(self):
        return self

    def __next__(self):
        begin = _now()
        try:
            return _timed("getitem", next, self.items)
        finally:
            self.slowest = max(self.slowest, _now() - begin)


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


_call_costs = 4000  # ns, of timing one call


def _hook_fetch(module):
    def make(attribute, proxy):
        def make_fetch(fetch):
            def fetched(self, index):
                if _state.sums is not None or not (_worker or _state.loader is not None):
                    return fetch(self, index)
                if _counts["plain"] > 0:
                    return _plainly(fetch, self, index)
                source, collate = getattr(self, attribute), self.collate_fn
                samples = proxy(source)
                setattr(self, attribute, samples)
                self.collate_fn = lambda data: _timed("collate", collate, data)
                sums = _state.sums = {}
                delay, read, begin, used = _delay(), _read_bytes(), _now(), _cpu()
                try:
                    data = fetch(self, index)
                finally:
                    end, cpu = _now(), _cpu() - used
                    _state.sums = None
                    setattr(self, attribute, source)
                    self.collate_fn = collate
                # Many short calls: time their parts in some batches only, and keep below half a percent.
                cost = sum(one[2] for one in sums.values()) * _call_costs
                _counts["plain"] = int(min(1000, cost / (0.005 * max(1, end - begin))))
                _batch(index, data, begin, end, cpu, delay, samples.slowest, sums, read)
                return data

            return fetched

        return make_fetch

    _replace(module._MapDatasetFetcher, "fetch", make("dataset", _Samples))
    _replace(module._IterableDatasetFetcher, "fetch", make("dataset_iter", _Items))


def _plainly(fetch, fetcher, index):
    """Times a batch as a whole."""
    _counts["plain"] -= 1
    delay, begin, used = _delay(), _now(), _cpu()
    data = fetch(fetcher, index)
    end, cpu = _now(), _cpu() - used
    _batch(index, data, begin, end, cpu, delay)
    return data


def _batch(index, data, begin, end, cpu, delay, slowest=0, spans=None, read=None):
    if delay is not None:
        delay = _delay() - delay
    after = read and _read_bytes()
    number = _counts["batches"]
    _counts["batches"] += 1
    leaves = None
    if number < 2 or number % 32 == 0:
        leaves = [0, 0, 0]
        _leaves(data, leaves)
    # Commonly there are neither bytes nor tensors nor parts to tell.
    more = ',"read":[%d,%d]' % (after[0] - read[0], after[1] - read[1]) if after else ""
    if leaves:
        more += ',"leaves":[%d,%d,%d]' % tuple(leaves)
    if spans:
        more += ',"spans":{' + ",".join(_quoted(name) + ":[%d,%d,%d]" % tuple(spans[name]) for name in spans) + "}"
    _record('{"event":"batch","pid":%d,%s,"samples":%d,"begin":%d,"end":%d,"cpu":%d,"put":%d,"put_cpu":%d,"slowest":%d,'
            '"delay":%s%s}' % (os.getpid(), _worker.get("text") or '"loader":%d' % _state.loader,
                               len(index) if isinstance(index, (list, tuple)) else 1, begin, end, cpu,
                               _counts["put"], _counts["put_cpu"], slowest, _whole(delay), more))  # fmt: skip
    _counts["put"] = _counts["put_cpu"] = 0


def _hook_worker(module):
    def make(loop):
        code = loop.__code__

        def worker_loop(*args, **kwargs):
            given = dict(zip(code.co_varnames[: code.co_argcount], args), **kwargs)
            from multiprocessing import parent_process  # not os.getppid(): that may be a forkserver

            parent = parent_process()
            parent = parent.pid if parent is not None else os.getppid()
            known = {"seed": given.get("base_seed"), "worker": given.get("worker_id"), "parent": parent}
            _worker["text"] = _text(known)[1:-1]  # what each of its batches says, too
            _counts.update(put=0, put_cpu=0, batches=0, plain=0)
            _send("worker", begin=_now(), **known)
            _time_pickling()
            try:
                return loop(*args, **kwargs)
            finally:
                _channel.flush()

        return worker_loop

    _replace(module, "_worker_loop", make)


def _time_pickling():
    """A queue pickles in a thread of its own: times that, in this worker."""
    from multiprocessing import queues

    pickler = getattr(queues, "_ForkingPickler", None)
    if pickler is None:
        return

    class Pickler(pickler):
        @classmethod
        def dumps(cls, *args, **kwargs):
            begin, used = _now(), _cpu()
            try:
                return pickler.dumps(*args, **kwargs)
            finally:
                _counts["put"] += _now() - begin
                _counts["put_cpu"] += _cpu() - used

    queues._ForkingPickler = Pickler
