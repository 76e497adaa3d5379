"""Input of eigen-solvers: a matrix of any kind, in the form that the library takes."""

from __future__ import annotations

import numpy as np

from ._arrays import (
    _types,
    back_to,
    columns_of,
    csr_parts,
    is_foreign,
    is_on_device,
    is_sparse,
    module_of,
    named_type,
    on_host,
    tall,
    wait_for,
)
from ._context import Context, core_of, default_context
from ._foreign import ForeignCsr, adopted
from ._pencil import is_operator, minus


class Matrix:
    """A matrix in the form that the library takes: `csr`, `dense`, or products by a `LinearOperator`.

    `there`: dense arrays on a GPU stay where they lie.
    """

    def __init__(self, A, square=True, there=False):
        A = adopted(A)
        self.source = A
        self.device = A.device if isinstance(A, ForeignCsr) else None
        if is_foreign(A):
            self.device = int(A.__dlpack_device__()[1]) if is_on_device(A) else None
            there = there and self.device is not None and A.ndim == 2
            A = tall(A, "A") if there else on_host(A)
        self.operator = None
        if isinstance(A, ForeignCsr):
            self.parts = A.parts(_types - {np.dtype(np.float16)})
            self.dtype = self.parts[2].dtype
        elif is_sparse(A):
            self.parts = csr_parts(A)
            self.dtype = self.parts[2].dtype
        elif is_operator(A):
            self.operator = A
            self.dtype = np.dtype(A.dtype if A.dtype is not None else np.float64)
        else:
            if np.ndim(A) != 2:
                raise ValueError(f"A has {np.ndim(A)} dimensions where a matrix is needed")
            self.parts = A if is_foreign(A) else tall(np.asarray(A), "A")
            self.dtype = (named_type(A)[1] or np.dtype(np.float32)) if is_foreign(A) else self.parts.dtype
        self.shape = tuple(int(n) for n in A.shape)
        if square and self.shape[0] != self.shape[1]:
            raise ValueError(f"expected square matrix (shape={self.shape})")
        self.is_complex = self.dtype.kind == "c"
        narrow = self.dtype in (np.float32, np.complex64, np.float16)
        self.result_type = {(0, 0): np.float64, (0, 1): np.float32, (1, 0): np.complex128,
                            (1, 1): np.complex64}[(int(self.is_complex), int(narrow))]

    def make_complex(self):
        """The matrix converted to complex numbers."""
        if self.operator is None and not self.is_complex:
            if isinstance(self.parts, tuple):
                self.parts = (*self.parts[:2], self.parts[2].astype(np.complex128), self.parts[3])
            else:
                self.parts = self.parts.astype(np.complex128)
        self.is_complex = True
        self.result_type = np.complex128

    def times(self, factor):
        """Its parts with all numbers multiplied."""
        if isinstance(self.parts, tuple):
            return (*self.parts[:2], factor * self.parts[2], self.parts[3])
        return factor * self.parts

    def move(self, sigma, mass):
        """Subtracts sigma times a mass matrix, or the identity."""
        from scipy.sparse import csr_array, identity
        from scipy.sparse.linalg import aslinearoperator

        if self.operator is not None:
            mass = identity(self.shape[0], format="csr") if mass is None else mass
            self.operator = aslinearoperator(self.operator) - sigma * aslinearoperator(mass)
        elif isinstance(self.parts, tuple):
            indptr, indices, data, _ = self.parts
            self.parts = csr_parts(minus(csr_array((data, indices, indptr), shape=self.shape), sigma, mass))
        else:
            self.parts = minus(self.parts, sigma, mass)

    def context(self, given, options):
        """The context of a call: on the device where the matrix lies, unless another is given.

        Vectors then stay there, which `options` is told.
        """
        if given is None and self.device is not None:
            usual = default_context()
            given = Context(usual._core.threads, self.device, usual.determinism)
        core = core_of(given)
        options.results_on_device = self.device is not None and core.device == self.device
        return core

    def back(self, a):
        """An array of NumPy where the matrix lies, in its library."""
        return back_to(self.source, a)

    def columns(self, found, order, dtype=None):
        """Columns of vectors that were found, in this order, where the matrix lies."""
        dtype = np.dtype(self.result_type if dtype is None else dtype)
        if isinstance(found, np.ndarray):
            return self.back(found.astype(dtype, copy=False)[:, order])
        module = module_of(self.source.values if isinstance(self.source, ForeignCsr) else self.source)
        there = module.from_dlpack(found)
        v = columns_of(there, np.arange(there.shape[1])[order])
        v = v.to(getattr(module, dtype.name)) if hasattr(v, "to") else v.astype(dtype, copy=False)
        wait_for(v)  # the library's own vectors are freed now
        return v


def adjoint(v):
    """v^H of an array of any library, or None."""
    if v is None:
        return None
    v = v.conj()
    return (v.resolve_conj() if hasattr(v, "resolve_conj") else v).T


def _into(product):
    """f(x, y), which writes product(x) into y."""

    def write(x, y):
        y[...] = product(x)

    return write


def products(operator, factor=1):
    """Products of `factor` times an operator with a block: by matmat, as LinearOperator has it, or column by column."""
    by = operator.matmat if hasattr(operator, "matmat") else (
        lambda x: np.stack([np.ravel(operator.matvec(c)) for c in x.T], axis=1))
    return _into(by if factor == 1 else lambda x: factor * by(x))
