"""Matrices in files."""

from __future__ import annotations

import os
from typing import Any, Dict

import numpy as np

from . import _core
from ._arrays import csr_parts, is_sparse


def read(path: str | os.PathLike[str], *, transpose: bool = False, rows: slice | tuple[int, int] | None = None,
         check_finite: bool = True, trusted: bool = False) -> Any:
    """Reads the matrix in a file.

    Parameters
    ----------
    path : str or os.PathLike
        HDF5, Matrix Market, .npy, .csv, .arff and other formats of the library. ``"file.h5:/group"`` names an object of
        HDF5; without a name the file's only matrix is read.
    transpose : bool, optional
        Read the transposed matrix.
    rows : slice or tuple of two int, optional
        Read only these rows.
    check_finite : bool, optional
        Refuse NaN and infinity, naming the first.
    trusted : bool, optional
        HDF5 may follow links into other files.

    Returns
    -------
    numpy.ndarray or scipy.sparse.csr_array
        Integers as float64; 16-bit floats as float32. A triangle of a symmetric matrix is completed.

    Raises
    ------
    BadInput
        For a file that cannot be used: one sentence that names it.
    """
    begin, end = 0, -1
    if isinstance(rows, slice):
        if rows.step not in (None, 1):
            raise ValueError("rows must follow each other: a slice without a step")
        begin, end = rows.start or 0, -1 if rows.stop is None else rows.stop
    elif rows is not None:
        begin, end = rows
    found = _core.read(os.fspath(path), transpose, begin, end, check_finite, trusted)
    if not isinstance(found, tuple):
        return found
    from scipy.sparse import csr_array

    pointers, indices, data, shape = found
    return csr_array((data, indices, pointers), shape=shape)


def write(path: str | os.PathLike[str], **matrices: Any) -> None:
    """Writes matrices to an HDF5 file, which is either complete or absent.

    Parameters
    ----------
    path : str or os.PathLike
        An existing file is replaced once the new one is complete.
    **matrices : array or scipy.sparse matrix
        By their names: dense ones as datasets, sparse ones as groups in Binsparse CSR. ``gzip=1`` to ``9`` compresses.

    Examples
    --------
    >>> import numpy as np, tallskinny as ts
    >>> ts.write("points.h5", features=np.eye(3))
    >>> ts.read("points.h5:/features").shape
    (3, 3)
    """
    gzip = matrices.pop("gzip", 0)
    parts = {}
    for name, matrix in matrices.items():
        if is_sparse(matrix):
            csr = csr_parts(matrix)
            parts[name] = (*csr, csr[2].reshape(1, -1))
        else:
            a = np.ascontiguousarray(matrix)
            if a.dtype.kind not in "fc":
                a = a.astype(np.float64)
            parts[name] = a.reshape(-1, 1) if a.ndim == 1 else a
    _core.write(os.fspath(path), parts, gzip)


class Info(Dict[str, Any]):
    """Description of a matrix in a file: a dict that prints itself as one line."""

    def __str__(self) -> str:
        kind = f"sparse, {self['nonzeros']} entries" if self["sparse"] else "dense"
        shape = " x ".join(str(n) for n in self["shape"])
        end = f" ({self['problem']})" if self["problem"] else ""
        return f"{self['file']}: {shape}, {kind}, {self['stored_type']}, {self['convention']}{end}"


def info(path: str | os.PathLike[str]) -> list[Info]:
    """Lists the matrices in a file without reading their elements.

    Parameters
    ----------
    path : str or os.PathLike
        A file, or one object of it as for `read`.

    Returns
    -------
    list of Info
        Each with file, shape, sparse, nonzeros, dtype, stored_type, convention, structure, note and problem.
    """
    return [Info(i) for i in _core.info(os.fspath(path))]


__all__ = ["read", "write", "info", "Info"]
