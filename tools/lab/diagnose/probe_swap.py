# The fifth part of the probe: Feedrate's loader in the place of a DataLoader, where the user asked for it.


def _feedrate():
    """The package: the script's own, or the one that came with the program."""
    try:
        import feedrate.torch
    except ImportError as error:
        place = _settings.get("package")
        if not place or (error.name or "").partition(".")[0] != "feedrate":
            raise
        sys.path.append(place)
        import feedrate.torch
    sys.modules["feedrate._like_found"].temporary = _place  # which goes when the command ends, however it does
    return sys.modules["feedrate._like"]


def _ours_for(loader, loop):
    """Feedrate's loader for this one, or None. Asked once."""
    if loop.ours == ():
        loop.ours = None
        if not _settings:
            _read_settings()
        if _settings.get("swap") == "1":
            loop.ours = _swap(loader, loop)
    return loop.ours


def _swap(loader, loop):
    number, begin = loop.number, _now()
    try:
        made = _feedrate()
        ours = made.loader_like(made.likeness_of(loader, _given("threads"), _directory(loader), is_inner=True))
        ours._likeness.stand_ins.tell = lambda count, why: _send("stood_in", loader=number, count=count, why=why)
        if _settings["sweep"] == "1" and _is_new(loader, loop):
            _measure(ours, loader, number)
        name, method = (_variable(loop.where), None) if loop.is_made_there else (None, _method(loop.through))
        shared = not loop.is_made_there and made.knows_ranks(loader)
        _send("swapped", loader=number, notes=ours._likeness.notes, name=name, method=method, here=loop.is_made_there, shared=shared,
              data=str(ours._likeness.found.source.dataset.info["path"]), threads=ours._loader._arguments["threads"])  # fmt: skip
        return ours
    except Exception as error:  # whatever it is, the script goes on with its own loader
        _send("left", loader=number, why=_reason(error))
        return None
    finally:
        _send("pause", loader=number, begin=begin, end=_now())


def _epoch_of(loop):
    """An epoch of Feedrate's loader; None where the script has made something of its own that Feedrate has not."""
    try:
        return _Ours(loop.ours, loop)
    except ValueError as error:
        loop.ours = None
        _send("left", loader=loop.number, why=_reason(error))
        return None


def _reason(error):
    """Of what is raised with a text for people, the text in a line; otherwise its type, too."""
    written = isinstance(error, (ValueError, ImportError, OSError)) or type(error).__module__.startswith("feedrate.")
    return " ".join(str(error).splitlines()) if written else repr(error)


def _given(name):
    value = _settings.get(name)
    return int(value) if value else None


_known_loaders, _known_data = set(), {}


def _innermost(dataset):
    while hasattr(dataset, "dataset"):  # as a Subset has one
        dataset = dataset.dataset
    return dataset


def _is_new(loader, loop):
    """Whether it is the first of those that a script makes alike, such as one for each validation."""
    inner = _innermost(loader.dataset)
    alike = (loop.where, type(inner), repr(getattr(inner, "transform", None)), len(loader.dataset), loader.batch_size,
             loader.num_workers)  # fmt: skip
    known = alike in _known_loaders
    _known_loaders.add(alike)
    return not known


def _directory(loader):
    """Where its data are converted to: those of all loaders of one dataset to one place."""
    place = _settings.get("directory")
    if not place:
        return None
    inner = _innermost(loader.dataset)
    root = getattr(getattr(inner, "reader", inner), "root", None)
    data = type(inner), str(root or id(inner)), getattr(inner, "split", None), getattr(inner, "train", None)
    return os.path.join(place, "data-%d" % _known_data.setdefault(data, len(_known_data) + 1))


def _variable(where):
    """What the script calls the loader that it makes in that line, where the line makes no other and no more of it."""
    import ast
    import linecache

    file, _, number = where.rpartition(":")
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
    there = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) <= int(number) <= getattr(node, "end_lineno", 0)]
    made = [node for node in there if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call)
            and "DataLoader" in ast.unparse(node.value.func)]  # fmt: skip
    targets = getattr(made[0], "targets", None) or [made[0].target] if len(made) == 1 else []
    name = ast.unparse(targets[0]) if len(targets) == 1 else ""
    return name if name.replace(".", "_").isidentifier() else None


_methods = {
    "lightning": "train_dataloader() or val_dataloader()",
    "pytorch_lightning": "train_dataloader() or val_dataloader()",
    "transformers": "get_train_dataloader() or get_eval_dataloader()",
}


def _method(package):
    """That a script overrides to give that library a loader."""
    return _methods.get(package)


_turns = 2  # in which both loaders are measured: a machine may have more to do in one than in the other


def _measure(ours, loader, number):
    ranks, rank = os.environ.get("WORLD_SIZE", "1"), os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))
    why = _sweep_obstacle(loader)
    if not why or (int(ranks or 1) > 1 and rank == "0"):  # all ranks begin here, so that this waits a moment for one of them
        why = _apart(None, "unmeasured", number, lambda: _compare(ours, number)) or why
    for _ in range(_turns):
        why = why or _apart(None, "unmeasured", number, lambda: _measure_theirs(loader, number))
        if not why:
            _measure_ours(ours, loader, number)
    if why:
        _send("unmeasured", loader=number, why=why)


def _compare(ours, number):
    """In a process of its own: how the pixels of both differ."""
    _be_child(number, 120)
    found = sys.modules["feedrate._like"].difference(ours._likeness, 100)
    _send("difference", loader=number, owner=os.getppid(), largest=found.largest, mean=found.mean,
          samples=found.samples, left_out=found.left_out)  # fmt: skip


def _measure_theirs(loader, number):
    """In another: what the script's loader supplies alone."""
    seconds = float(_settings["seconds"]) / _turns
    _be_child(number, 120 + 10 * seconds)
    _counts["sweep"] = workers = loader.num_workers
    _say_supply("before", number, os.getppid(), _pace_of(_again_loader(loader, workers), max(1, workers), seconds))


def _measure_ours(ours, loader, number):
    """Here: a fork could start no threads where this process has some. Of a copy, so that nothing of the script's is
    drawn."""
    import copy

    with sys.modules["feedrate._like"].kept_random_states(loader):
        measured = copy.copy(ours)
        measured._seeds = None
        _say_supply("after", number, os.getpid(), _pace_of(_epochs_of(measured), 1, float(_settings["seconds"]) / _turns))
        measured.close()


def _say_supply(event, number, owner, pace):
    if pace is not None and pace[0]:
        _send(event, loader=number, owner=owner, batches=pace[0], time=pace[1])


def _epochs_of(ours):
    while len(ours):
        yield from ours


class _Ours:
    """An epoch of Feedrate's loader, timed as a DataLoader's is."""

    def __init__(self, ours, loop):
        self._loop, begin = loop, _now()
        self._batches = iter(ours)
        _send("epoch", loader=loop.number, thread=_thread(), begin=begin, end=_now())

    def __iter__(self):
        return self

    def __next__(self):
        return self._loop.take(next, self._batches)
