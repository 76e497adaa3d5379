"""Where and how operations run."""

from __future__ import annotations

from typing import Any

from . import _core, _nvrtc

_preloaded = False
_limit: int | None = None  # of threads, while threadpoolctl has set one


def _prepare_gpu():
    """Loads libraries of CUDA; called once, before a device is first used."""
    global _preloaded
    if not _preloaded:
        _preloaded = True
        _nvrtc.preload()


class Context:
    """Settings of operations: threads, device and determinism.

    Parameters
    ----------
    threads : int, optional
        Threads to use. 0: OMP_NUM_THREADS, or the processors that this process may use.
    device : {None, 'cpu', 'cuda'} or int, optional
        A GPU by its number, 'cuda' for the first one, for eigenvalues of matrices in host memory. Arrays on a GPU
        are processed there, whatever is set here.
    determinism : {'run_to_run', 'gpu_to_gpu'}, optional
        Equal input gives equal bits on one machine, or on every GPU. Dense Hermitian problems of 512 rows or more
        that are solved as a whole have equal bits for equal numbers of threads, all others for any number.

    Raises
    ------
    NoDevice
        If the device is not available, with the reason.

    Examples
    --------
    >>> import tallskinny as ts
    >>> ts.Context(threads=1).threads
    1
    """

    def __init__(self, threads: int = 0, device: str | int | None = None, determinism: str = "run_to_run") -> None:
        if not isinstance(threads, int) or threads < 0:
            raise ValueError(f"threads={threads!r}: give a number of threads, or 0 for all")
        if determinism not in ("run_to_run", "gpu_to_gpu"):
            raise ValueError(f"determinism={determinism!r} is neither 'run_to_run' nor 'gpu_to_gpu'")
        self._core = _core.Context()
        self._core.threads = threads
        self._core.gpu_to_gpu = determinism == "gpu_to_gpu"
        if device not in (None, "cpu"):
            _prepare_gpu()
            number = 0 if device == "cuda" else device
            if isinstance(number, str) and number.startswith("cuda:") and number[5:].isdigit():
                number = int(number[5:])
            if not isinstance(number, int):
                raise ValueError(f"device={device!r}: give 'cpu', 'cuda', or the number of a GPU")
            self._core.use_device(number)

    @property
    def threads(self) -> int:
        """The number of threads that operations use, within the limits of threadpoolctl."""
        return core_of(self).thread_count()

    @property
    def device(self) -> int | None:
        """The number of the GPU, or None."""
        return self._core.device

    @property
    def determinism(self) -> str:
        """'run_to_run' or 'gpu_to_gpu'."""
        return "gpu_to_gpu" if self._core.gpu_to_gpu else "run_to_run"

    def __reduce__(self) -> Any:
        return Context, (self._core.threads, self.device, self.determinism)

    def __repr__(self) -> str:
        return f"Context(threads={self.threads}, device={self.device}, determinism={self.determinism!r})"


_default = Context()


def default_context() -> Context:
    """The context of calls without one."""
    return _default


def set_default_context(context: Context) -> Context:
    """Sets the context of calls without one, and returns the one before.

    Parameters
    ----------
    context : Context
    """
    global _default
    if not isinstance(context, Context):
        raise TypeError("the default context must be a Context")
    before, _default = _default, context
    return before


def core_of(context: Context | None) -> Any:
    core = (_default if context is None else context)._core
    return core if _limit is None else core.limited(_limit)


def devices() -> list[str]:
    """Names of the GPUs that can be used; an empty list where there are none."""
    _prepare_gpu()
    return list(_core.devices()[0])


def _listen_to_threadpoolctl():
    """Makes `threadpool_limits` of threadpoolctl hold for this library as it does for OpenMP."""
    try:
        from threadpoolctl import LibController, register
    except ImportError:  # not installed, or before 3.2
        return

    class Controller(LibController):
        user_api, internal_api = "openmp", "tallskinny"
        filename_prefixes = ("_core",)
        check_symbols = ("tallskinny_python",)

        def get_num_threads(self):
            return core_of(None).thread_count()

        def set_num_threads(self, num_threads):
            global _limit
            usual = _default._core.thread_count()
            _limit = None if num_threads == usual else max(1, int(num_threads))

        def get_version(self):
            return None

    register(Controller)


_listen_to_threadpoolctl()
