# The fourth part of the probe: the supply at other numbers of workers, once, while the training pauses.

_sweep_steps = 10  # before a loop is warm, and as many seconds as each number of workers gets
_settings = {}


def _read_settings():
    """What the program wrote beside this file."""
    try:
        with open(os.path.join(_place, "settings"), "rb") as file:
            entries = os.fsdecode(file.read()).split("\0")[:-1]
        _settings.update(entry.split(" ", 1) for entry in entries)
    except (OSError, ValueError):
        _settings["sweep"] = "0"


def _sweep_once(iterator, loader, loop):
    if loop.steps < _sweep_steps or _counts.get("swept"):
        return
    if not _settings:
        _read_settings()
    if _settings["sweep"] != "1" or _now() - loop.since < float(_settings["seconds"]) * 1e9:
        return
    if not sys.modules["torch"].is_grad_enabled():
        return  # a validation
    _counts["swept"] = True
    try:
        os.close(os.open(os.path.join(_place, "swept"), os.O_CREAT | os.O_EXCL))
    except OSError:
        return  # another process has
    begin = _now()
    try:
        why = _sweep_obstacle(loader) or _apart(iterator, "refused", loop.number, lambda: _sweep(loader, loop.number))
        if why:
            _send("refused", loader=loop.number, why=why)
    finally:
        _send("pause", loader=loop.number, begin=begin, end=_now())


def _sweep_obstacle(loader):
    if int(os.environ.get("WORLD_SIZE", "1") or 1) > 1:
        return "other processes train beside this one and would wait"
    if sys.modules["threading"].current_thread() is not sys.modules["threading"].main_thread():
        return "the loop is not in the main thread"
    dataset, places = loader.dataset, []
    for _ in range(3):  # a dataset in a Subset in a ConcatDataset
        places += list(getattr(dataset, "__dict__", {}).items())
        dataset = getattr(dataset, "dataset", None)
    for name, value in places:
        kind = type(value)
        if kind.__name__ == "generator" or hasattr(value, "send") and hasattr(value, "gi_frame"):
            return "the dataset keeps a generator ('" + name + "'), which cannot be iterated twice"
        if kind.__module__ in ("socket", "_socket", "ssl") or kind.__name__.endswith("Connection"):
            return "the dataset keeps a connection ('" + name + "'), which two processes cannot share"
    return None


def _offsets():
    """Where the open files stand, which a child shares."""
    import stat

    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISREG(os.fstat(int(name)).st_mode):
                found[int(name)] = os.lseek(int(name), 0, os.SEEK_CUR)
        except OSError:
            pass
    return found


def _apart(iterator, refusal, number, measure):
    """Measures in a child: a fork's memory is its own, so random numbers, dataset and iterators stay as they are.
    What the child raises, it says in an event of that name; how else it failed is returned."""
    _await_full_queues(iterator)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # or the child's workers would write it once more
    offsets = _offsets()
    child = os.fork()
    if child == 0:
        try:
            measure()
        except BaseException as error:
            _send(refusal, loader=number, owner=os.getppid(), why="it ended with " + repr(error)[:200])
        finally:
            _channel.flush()
            os._exit(0)
    try:
        status = os.waitpid(child, 0)[1]
    except BaseException:
        os.kill(child, 9)
        os.waitpid(child, 0)
        raise
    finally:
        for number, offset in offsets.items():
            os.lseek(number, offset, os.SEEK_SET)
    if os.WIFSIGNALED(status):
        return "it was ended by signal %d, as after too long a time" % os.WTERMSIG(status)
    return None


def _await_full_queues(iterator):
    """Until the loop's own workers have nothing to do, or for ten seconds."""
    queue = getattr(iterator, "_worker_result_queue", None)
    until = _now() + 10_000_000_000
    while queue is not None and _now() < until:
        ready = queue.qsize()
        if getattr(iterator, "_data_queue", queue) is not queue:
            ready += iterator._data_queue.qsize()
        if ready >= getattr(iterator, "_tasks_outstanding", 0):
            return
        time.sleep(0.01)


class _Again:
    """A sampler's epochs, without end."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        found = True
        while found:
            found = False
            for one in self.sampler:
                found = True
                yield one


def _be_child(number, patience):
    """Makes of this fork a process that can load by itself what a loader does, in silence, for so many seconds."""
    import gc
    import multiprocessing
    import signal

    gc.disable()
    _counts["owner"], _counts["swept_loader"] = os.getppid(), number
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, patience)
    multiprocessing.process._children = set()
    server = sys.modules.get("multiprocessing.forkserver")
    if server is not None:  # its server is not this process's child
        server._forkserver._forkserver_address = server._forkserver._forkserver_pid = None
        server._forkserver._forkserver_alive_fd = None
    sys.modules["torch"].set_num_threads(1)  # the threads of a pool did not come along


def _sweep(loader, number):
    seconds, cores = float(_settings["seconds"]), int(_settings["cores"])
    numbers = [w for w in (1, 0, 2, 4, 8, 16, 32, 64, 128) if w <= cores]
    if cores not in numbers:
        numbers.append(cores)
    _be_child(number, 60 + 5 * seconds * len(numbers))
    owner = _counts["owner"]
    for workers in numbers:
        _counts["sweep"] = workers
        pace = _pace_of(_again_loader(loader, workers), max(1, workers), seconds)
        if pace is None:
            _send("refused", loader=number, owner=owner, why="the dataset gave nothing when it was iterated again")
            return
        batches, taken, cpu, start = pace
        if batches:
            _send("sweep", loader=number, owner=owner, workers=workers, batches=batches, time=taken, cpu=cpu,
                  start=start)  # fmt: skip


def _again_loader(loader, workers):
    """The same dataset and collate, without an end, with so many workers."""
    data = sys.modules["torch.utils.data"]
    given = {"num_workers": workers, "collate_fn": loader.collate_fn, "worker_init_fn": loader.worker_init_fn}
    if workers:
        given["multiprocessing_context"] = loader.multiprocessing_context
        given["prefetch_factor"] = loader.prefetch_factor or 2
    if getattr(loader, "_dataset_kind", 0) == 1:
        given.update(batch_size=loader.batch_size, drop_last=loader.drop_last)
    elif loader.batch_sampler is not None:
        given["batch_sampler"] = _Again(loader.batch_sampler)
    else:
        given.update(batch_size=None, sampler=_Again(loader.sampler))
    return data.DataLoader(loader.dataset, **given)


def _pace_of(batches, turn, seconds):
    """(batches, their time, processor time of this thread, time to the first ones) from when each worker has made
    one until they have made as many and the seconds are over; None where there are no batches."""
    count, marked, since, found, used, start_up = 0, 0, 0, 0, 0, 0
    at = start = _now()
    for _ in iter(batches):
        count += 1
        at = _now()
        if _counts.get("owner") not in (None, os.getppid()):  # which was ended, as by a signal
            _end_at_once()
        if count % turn == 0:
            if since == 0:
                start_up, since, marked, used = at - start, at, count, _cpu()
            else:
                found = count - marked
                if at - since > seconds * 1e9:
                    break
    if count == 0:
        return None
    return found, at - since, _cpu() - used, start_up
