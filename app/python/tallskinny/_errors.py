"""Errors of the library as exceptions: each is an `Error`, and the built-in exception that it resembles."""

from __future__ import annotations

import functools
from typing import Any


class Error(Exception):
    """Base of all errors of the library. The text is one sentence that names the argument or file."""


class InvalidArgument(Error, ValueError):
    """A size, option or array that the operation does not accept."""


class BadInput(Error, ValueError):
    """A file or its content, or a matrix, that cannot be used."""


class FileError(Error, OSError):
    """Reading or writing failed although the request made sense."""


class OutOfMemory(Error, MemoryError):
    """More memory is needed than there is."""


class OutOfRange(Error, OverflowError):
    """A result is larger than the largest number of its type."""


class NoDevice(Error, RuntimeError):
    """The requested device is not available."""


class DeviceFailure(Error, RuntimeError):
    """The device reported an error."""


class Interrupted(Error, RuntimeError):
    """A callback asked to stop before there was a result."""


class NoConvergence(Error, RuntimeError):
    """Not all wanted pairs converged.

    Where SciPy is installed it is a `scipy.sparse.linalg.ArpackNoConvergence` too.

    Attributes
    ----------
    eigenvalues, eigenvectors : numpy.ndarray
        The pairs that converged.
    result : object
        Everything that the run found, as the call would have returned it.
    """

    eigenvalues: Any
    eigenvectors: Any
    result: Any

    def __init__(self, message: str, eigenvalues: Any = None, eigenvectors: Any = None, result: Any = None) -> None:
        Exception.__init__(self, message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Any:
        return no_convergence, (self.args[0], self.eigenvalues, self.eigenvectors, self.result)


class UnprovenWarning(UserWarning):
    """All wanted pairs converged, but nothing shows that no other belongs among them."""


@functools.lru_cache(maxsize=None)
def _class_of_both():
    from scipy.sparse.linalg import ArpackNoConvergence

    class NoConvergenceOfBoth(NoConvergence, ArpackNoConvergence):
        pass

    NoConvergenceOfBoth.__name__ = NoConvergenceOfBoth.__qualname__ = "NoConvergence"
    return NoConvergenceOfBoth


def no_convergence(message, eigenvalues, eigenvectors, result):
    """A `NoConvergence`, which `except ArpackNoConvergence` catches as well."""
    try:
        kind = _class_of_both()
    except ImportError:
        kind = NoConvergence
    return kind(message, eigenvalues, eigenvectors, result)
