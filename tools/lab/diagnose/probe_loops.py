# The third part of the probe: the process that takes batches.

def _caller():
    """The line of the user's own code that is being run."""
    frame, other = sys._getframe(2), None
    while frame is not None:
        name = frame.f_code.co_filename
        if "-packages" not in name and not name.startswith((_library, "<", __file__)):
            return name + ":" + str(frame.f_lineno)
        other = other or name + ":" + str(frame.f_lineno)
        frame = frame.f_back
    return other


def _number(loader):
    if "_feedrate" not in loader.__dict__:
        _counts["loaders"] += 1
        loader.__dict__["_feedrate"] = {"number": _counts["loaders"], "where": _caller(), "steps": 0, "since": _now(), "used": 0}
    return loader.__dict__["_feedrate"]["number"]


def _describe(loader):
    import multiprocessing

    context = loader.multiprocessing_context or multiprocessing
    dataset, collate = loader.dataset, loader.collate_fn
    try:
        length = len(dataset)
    except Exception:
        length = None
    _send(
        "loader", loader=_number(loader), where=loader.__dict__["_feedrate"]["where"], dataset=type(dataset).__name__,
        length=length, batch=loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
        workers=loader.num_workers, persistent=bool(loader.persistent_workers), pin=bool(loader.pin_memory),
        prefetch=loader.prefetch_factor, start=context.get_start_method() if loader.num_workers else None,
        collate=getattr(collate, "__name__", type(collate).__name__),
        own_collate=not (getattr(collate, "__module__", "") or "").startswith("torch."),
        iterable=getattr(loader, "_dataset_kind", 0) == 1,
    )  # fmt: skip


def _hook_dataloader(module):
    def make_init(init):
        def initialised(self, *args, **kwargs):
            init(self, *args, **kwargs)
            _number(self)

        return initialised

    def make_iter(iterate):
        def iterated(self):
            if _counts["sweep"] is not None or _worker:
                return iterate(self)
            if "described" not in self.__dict__.get("_feedrate", {}):
                _describe(self)
                self.__dict__["_feedrate"]["described"] = True
            ours = _ours_for(self, self.__dict__["_feedrate"])
            if ours is not None:
                return _Ours(ours, self.__dict__["_feedrate"]["number"])
            begin = _now()
            iterator = iterate(self)
            _send("epoch", loader=_number(self), begin=begin, end=_now())
            return iterator

        return iterated

    def make_base(init):
        def initialised(self, loader, *args, **kwargs):
            init(self, loader, *args, **kwargs)
            self._feedrate = loader
            if not _worker:
                sweep = _counts["sweep"]
                number = _number(loader) if sweep is None else 0
                _send("iterator", loader=number, seed=self._base_seed, sweep=sweep, begin=_now())

        return initialised

    def make_next(following):
        def followed(self):
            loader = getattr(self, "_feedrate", None)
            if loader is None or _worker:
                return following(self)
            facts = loader.__dict__.get("_feedrate") if _counts["sweep"] is None else None
            if facts is None:
                return following(self)
            facts["steps"] += 1
            _sweep_once(self, loader, facts)
            number = facts["number"]
            outer, _state.loader = _state.loader, number if self._num_workers == 0 else None
            own = time.process_time_ns() - facts["used"]
            delay, begin, used = _delay(), _now(), _cpu()
            try:
                data = following(self)
            except StopIteration:
                _send("end", loader=number, begin=begin, end=_now())
                raise
            finally:
                _state.loader = outer
            end, cpu, pin = _now(), _cpu() - used, _counts["pin"]
            delay = None if delay is None else _delay() - delay
            _counts["pin"] = 0
            _step(number, begin, end, cpu, own, delay, pin)
            facts["used"] = time.process_time_ns()
            return data

        return followed

    _replace(module.DataLoader, "__init__", make_init)
    _replace(module.DataLoader, "__iter__", make_iter)
    _replace(module._BaseDataLoaderIter, "__init__", make_base)
    _replace(module._BaseDataLoaderIter, "__next__", make_next)


def _hook_pin(module):
    def make(pin):
        def pinned(*args, **kwargs):
            if _counts.get("pinning"):
                return pin(*args, **kwargs)
            _counts["pinning"], begin = True, _now()
            try:
                return pin(*args, **kwargs)
            finally:
                _counts["pinning"] = False
                _counts["pin"] += _now() - begin

        return pinned

    _replace(module, "pin_memory", make)


class wrap:
    """`iterable`, timed: for loops without a DataLoader."""

    def __init__(self, iterable):
        self._iterable = iterable
        _counts["loaders"] += 1
        self._number = _counts["loaders"]
        _send("loader", loader=self._number, where=_caller(), dataset=type(iterable).__name__, wrapped=True)

    def __iter__(self):
        begin = _now()
        items = iter(self._iterable)
        _send("epoch", loader=self._number, begin=begin, end=_now())
        while True:
            delay, begin, used = _delay(), _now(), _cpu()
            try:
                item = next(items)
            except StopIteration:
                _send("end", loader=self._number, begin=begin, end=_now())
                return
            end, cpu = _now(), _cpu() - used
            delay = None if delay is None else _delay() - delay
            size = getattr(item[0] if isinstance(item, (list, tuple)) and item else item, "shape", None)
            _step(self._number, begin, end, cpu, 0, delay, 0, int(size[0]) if size else None)
            yield item

    def __len__(self):
        return len(self._iterable)

    def __getattr__(self, name):
        return getattr(self._iterable, name)
