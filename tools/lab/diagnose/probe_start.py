# The last part of the probe: its way into the interpreter.

import atexit

_hooks = {
    "torch": lambda module: None,  # how long it takes is told
    "PIL.ImageFile": _hook_pillow,
    "PIL.WebPImagePlugin": _hook_webp,
    "cv2": _hook_cv2,
    "torchvision.io.image": _hook_torchvision_io,
    "torchvision.transforms.transforms": _hook_transforms,
    "torchvision.transforms.v2._container": _hook_transforms_v2,
    "albumentations.core.transforms_interface": _hook_albumentations,
    "torch.utils.data._utils.fetch": _hook_fetch,
    "torch.utils.data._utils.worker": _hook_worker,
    "torch.utils.data._utils.pin_memory": _hook_pin,
    "torch.utils.data.dataloader": _hook_dataloader,
}


class _Loader:
    """Loads a module as its own loader does, then hooks it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        begin = _now()
        self._loader.exec_module(module)
        if spec.name == "torch":
            _counts["torch"] = os.getpid(), _now() - begin
        try:
            _hooks[spec.name](module)
        except Exception as error:
            _send("trouble", what=spec.name + ": " + repr(error))
        if spec.name == "torch.utils.data.dataloader":
            _send("torch", version=getattr(sys.modules.get("torch"), "__version__", None))

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not _Finder else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def _run_users_own():
    """The sitecustomize that would have been imported without this one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize")
    if spec is None:
        raise ImportError("there is no other sitecustomize", name="sitecustomize")
    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    sys.modules["_feedrate_probe"] = sys.modules[__name__]
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != _place]
    sys.meta_path.insert(0, _Finder)
    atexit.register(_channel.flush)
    _send("python", version=sys.version.split()[0], program=" ".join(getattr(sys, "orig_argv", sys.argv)))
    _run_users_own()
