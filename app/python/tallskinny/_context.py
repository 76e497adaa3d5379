"""Where and how operations run."""

from __future__ import annotations

from . import _core, _nvrtc

_preloaded = False


def _prepare_gpu():
    """Once, before a device is first asked for."""
    global _preloaded
    if not _preloaded:
        _preloaded = True
        _nvrtc.preload()


class Context:
    """Where and how operations run.

    Parameters
    ----------
    threads : int, optional
        Threads to use. 0: OMP_NUM_THREADS, or the processors that this process may use.
    device : {None, 'cpu', 'cuda'} or int, optional
        A GPU by its number, 'cuda' for the first one, for eigenvalues of matrices in host memory. Arrays that lie on
        a GPU are worked on there whatever this says.
    determinism : {'run_to_run', 'gpu_to_gpu'}, optional
        How far equal input gives equal bits: on one machine, or on every GPU.

    Raises
    ------
    NoDevice
        If there is no such device; it says why.

    Examples
    --------
    >>> import tallskinny as ts
    >>> ts.Context(threads=1).threads
    1
    """

    def __init__(self, threads=0, device=None, determinism="run_to_run"):
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
    def threads(self):
        """The number of threads that operations use."""
        return self._core.thread_count()

    @property
    def device(self):
        """The number of the GPU, or None."""
        return self._core.device

    @property
    def determinism(self):
        """'run_to_run' or 'gpu_to_gpu'."""
        return "gpu_to_gpu" if self._core.gpu_to_gpu else "run_to_run"

    def __repr__(self):
        return f"Context(threads={self.threads}, device={self.device}, determinism={self.determinism!r})"


_default = Context()


def default_context():
    """The context of calls that are given none."""
    return _default


def set_default_context(context):
    """Makes `context` that of calls that are given none. Returns the one before.

    Parameters
    ----------
    context : Context
    """
    global _default
    if not isinstance(context, Context):
        raise TypeError("the default context must be a Context")
    before, _default = _default, context
    return before


def core_of(context):
    return (_default if context is None else context)._core


def devices():
    """Names of the GPUs that can be used; an empty list where there are none."""
    _prepare_gpu()
    return list(_core.devices()[0])
