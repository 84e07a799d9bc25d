# The third part of the probe: the process that takes batches.

def _caller():
    """The line of the user's own code that is being run; whether it calls the probe itself, through no library; and
    the library that it calls."""
    frame, typed, other, through = sys._getframe(2), None, None, None
    while frame is not None:
        name, line = frame.f_code.co_filename, ":" + str(frame.f_lineno)
        package = "-packages" in name or name.startswith((_library, "<frozen "))
        if name == __file__ or package:
            other = other or (name + line if package else None)
        elif not name.startswith("<"):
            return name + line, through
        else:  # a script of -c or stdin, or a cell; but files make code of text, too
            typed = typed or (name + line, through)
        if package:
            through = name.rpartition("-packages/")[2].partition("/")[0]
        frame = frame.f_back
    return typed or (other or "", "")


def _shown(where):
    """A line as people know it: those of a notebook's cell by the number of the cell."""
    file, _, line = where.rpartition(":")
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return where if number is None else "In [" + str(number) + "]:" + line


class _Loop(_Rows):
    """The steps of the loops over one loader, or over another iterable."""

    def __init__(self, workers=None):
        _counts["loaders"] += 1
        self.number, self.since = _counts["loaders"], _now()
        self.where, self.through = _caller()
        self.is_made_there, self.place = self.through is None, _shown(self.where)
        self.made, self.steps = self.since, 0
        _Rows.__init__(self, '{"event":"steps","pid":%d,"loader":%d' % (os.getpid(), self.number))
        self.last = self.planned = 0
        earlier = _places.get(self.where)
        if earlier is not None:  # a loader that is made anew in each epoch is one loop
            self.since, self.steps = earlier.since, earlier.steps
        _places[self.where] = self
        self.described, self.ours, self.last_step = False, (), 0
        self.maker = _Maker('"loader":%d' % self.number) if workers == 0 else None

    def take(self, following, source, loader=None):
        """following(source), which gives the next batch."""
        if self.skip > 0:
            self.skip -= 1
            begin = _now()
            try:
                data = following(source)
            except StopIteration:
                self.end(begin)
                raise
            self.light += (begin, _now())
            return data
        self.steps += 1 + self.planned
        if self.last_step and self.steps > self.last_step:
            _end_at_once()
        if loader is not None:
            _sweep_once(source, loader, self)
        outer, _state.making = _state.making, self.maker
        before, begin, used = _delay(), _now(), _cpu()
        try:
            data = following(source)
        except StopIteration:
            self.end(begin)
            raise
        finally:
            _state.making = outer
        end, cpu = _now(), _cpu() - used
        self.taken(data, begin, end, cpu, before, _delay())
        return data

    def taken(self, data, begin, end, cpu, before, after):
        pin, samples = _counts["pin"], -1
        _counts["pin"] = 0
        if self.maker is not None and self.maker.fetcher is not None:
            self.maker.made(data, begin, end - pin, cpu, before, after)
        elif self.described is None:
            found = _samples_in(data)
            samples = -1 if found is None else found
        self.full.append([begin, end, before, after, samples, cpu, time.process_time_ns(), pin])
        if self.last:
            self.plan((begin - self.last) // (1 + self.planned))
            self.planned = self.skip
        self.last = begin
        if end - _channel.sent > _collected_for:
            _channel.flush()

    def end(self, begin):
        _send("end", loader=self.number, begin=begin, end=_now())


def _restarted_with(init, names, given):
    """Another number of workers for the loader that --restart is about; nothing else about it changes but what
    PyTorch takes only with workers."""
    if not _settings:
        _read_settings()
    if "workers" not in _settings or _worker or _shown(_caller()[0]) != _settings["where"]:
        return names
    known = init.__code__.co_varnames[1 : init.__code__.co_argcount]
    given.update(zip(known, names))
    given["num_workers"] = int(_settings["workers"])
    if given["num_workers"] == 0:
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            given.pop(name, None)
    return ()


def _end_at_once():
    """This process and its workers; whatever it would have written is not."""
    _channel.flush()
    for child in sys.modules["multiprocessing"].active_children():
        child.kill()
    os._exit(0)


_places = {}  # where loaders are made: the last loop over one of them
_loops = {}  # of loaders, by their ids; not in the loader, which may be copied or pickled


def _loop_of(loader):
    key = id(loader)
    if key not in _loops:
        _loops[key] = _weakly(loader, lambda _: _loops.pop(key, None)), _Loop(loader.num_workers)
    return _loops[key][1]


def _mean_batch(loader):
    """Samples in a batch of a whole epoch, or None."""
    try:
        batches = loader.batch_sampler
        return batches.batch_size if batches.drop_last else len(batches.sampler) / len(batches)
    except Exception:
        return None


def _describe(loader, loop):
    import multiprocessing

    context = loader.multiprocessing_context or multiprocessing
    dataset, collate = loader.dataset, loader.collate_fn
    try:
        length = len(dataset)
    except Exception:
        length = None
    _send(
        "loader", loader=loop.number, where=loop.place, made=loop.made, dataset=type(dataset).__name__,
        length=length, batch=loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
        samples=_mean_batch(loader), workers=loader.num_workers,
        persistent=bool(loader.persistent_workers), pin=bool(loader.pin_memory),
        prefetch=loader.prefetch_factor, start=context.get_start_method() if loader.num_workers else None,
        collate=getattr(collate, "__name__", type(collate).__name__),
        own_collate=not (getattr(collate, "__module__", "") or "").startswith("torch."),
        iterable=getattr(loader, "_dataset_kind", 0) == 1,
    )  # fmt: skip


def _hook_dataloader(module):
    def make_init(init):
        def initialised(self, *args, **kwargs):
            args = _restarted_with(init, args, kwargs)
            init(self, *args, **kwargs)
            loop = _loop_of(self)
            if loop.place == _settings.get("where"):
                loop.last_step = int(_settings["steps"])

        return initialised

    def make_iter(iterate):
        def iterated(self):
            if _counts["sweep"] is not None or _worker:
                return iterate(self)
            loop = _loop_of(self)
            if not loop.described:
                _describe(self, loop)
                loop.described = True
            epoch = None if _ours_for(self, loop) is None else _epoch_of(loop)
            if epoch is not None:
                return epoch
            begin = _now()
            iterator = iterate(self)
            _send("epoch", loader=loop.number, thread=_thread(), begin=begin, end=_now())
            return iterator

        return iterated

    def make_base(init):
        def initialised(self, loader, *args, **kwargs):
            init(self, loader, *args, **kwargs)
            if _worker:
                return
            if _counts["sweep"] is None:
                self._feedrate, self._feedrate_of = _loop_of(loader), loader

        return initialised

    def make_parallel(init):
        def initialised(self, *args, **kwargs):
            init(self, *args, **kwargs)
            if _worker:
                return
            # By their numbers, since two loaders of one seed have workers of one seed.
            number = self._feedrate.number if self._feedrate is not None else _counts.get("swept_loader", 0)
            _send("iterator", loader=number, owner=_counts.get("owner"), workers=[one.pid for one in self._workers],
                  sweep=_counts["sweep"])  # fmt: skip

        return initialised

    def make_next(following):
        def followed(self):
            loop = self._feedrate
            return following(self) if loop is None else loop.take(following, self, self._feedrate_of)

        return followed

    module._BaseDataLoaderIter._feedrate = None
    _replace(module.DataLoader, "__init__", make_init)
    _replace(module.DataLoader, "__iter__", make_iter)
    _replace(module._BaseDataLoaderIter, "__init__", make_base)
    _replace(module._MultiProcessingDataLoaderIter, "__init__", make_parallel)
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
        self._loop = _Loop()
        self._loop.described = None  # by the shape of what it yields
        _send("loader", loader=self._loop.number, where=self._loop.place, made=self._loop.made, wrapped=True,
              dataset=type(iterable).__name__)  # fmt: skip

    def __iter__(self):
        begin = _now()
        items = iter(self._iterable)
        _send("epoch", loader=self._loop.number, thread=_thread(), begin=begin, end=_now())
        while True:
            try:
                item = self._loop.take(next, items)
            except StopIteration:
                return
            yield item

    def __len__(self):
        return len(self._iterable)

    def __getattr__(self, name):
        return getattr(self._iterable, name)
