"""Eigenvalues, singular values, k-means and products of tall-and-skinny matrices.

========================================  ==========================================================================
`gram`, `inner`, `tsmm`, `tsm2r`, `spmm`  products of tall matrices
`trsm`, `orthonormalise`, `column_norms`  triangular solve, QR factorisation, norms
`KMeans`, `MiniBatchKMeans`,              clusters, as in scikit-learn
`BisectingKMeans`, `kmeans_batch`
`eigsh`, `eigs`, `svds`                   eigenvalues and singular values, as in SciPy
`read`, `write`, `info`                   matrices in files
`plan`, `devices`, `Context`              what would be done; GPUs; threads, device and determinism of calls
========================================  ==========================================================================
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

from ._context import Context, default_context, devices, set_default_context
from ._eigen import Result, eigs, eigsh
from ._engine import column_norms, gram, inner, orthonormalise, plan, spmm, trsm, tsm2r, tsmm
from ._errors import (
    BadInput,
    DeviceFailure,
    Error,
    FileError,
    Interrupted,
    InvalidArgument,
    NoConvergence,
    NoDevice,
    OutOfMemory,
    OutOfRange,
    UnprovenWarning,
)
from ._files import info, read, write
from ._svds import svds

try:
    __version__ = _version("tallskinny")
except PackageNotFoundError:  # from a folder that is not installed
    __version__ = "unknown"


if TYPE_CHECKING:
    from ._batch import KMeansBatch, kmeans_batch
    from ._kmeans import BisectingKMeans, KMeans, MiniBatchKMeans
else:

    def __getattr__(name):
        # The models load scikit-learn where it is installed, which takes a second.
        if name in ("KMeans", "MiniBatchKMeans", "BisectingKMeans"):
            from . import _kmeans

            return getattr(_kmeans, name)
        if name in ("KMeansBatch", "kmeans_batch"):
            from . import _batch

            return getattr(_batch, name)
        raise AttributeError(f"module 'tallskinny' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "BadInput", "BisectingKMeans", "Context", "DeviceFailure", "Error", "FileError", "Interrupted", "InvalidArgument",
    "KMeans", "KMeansBatch", "MiniBatchKMeans", "NoConvergence", "NoDevice", "OutOfMemory", "OutOfRange", "Result",
    "UnprovenWarning", "column_norms", "default_context", "devices", "eigs", "eigsh", "gram", "info", "inner",
    "kmeans_batch", "orthonormalise", "plan", "read", "set_default_context", "spmm", "svds", "trsm", "tsm2r", "tsmm",
    "write",
]
