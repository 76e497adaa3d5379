"""What eigen-solvers are given: a matrix of any kind, in the form that the library takes."""

from __future__ import annotations

import numpy as np

from ._arrays import back_to, csr_parts, is_on_device, is_sparse, on_host, tall
from ._context import Context, core_of


class Matrix:
    """A matrix in the form that the library takes: `csr`, `dense`, or products by a `LinearOperator`."""

    def __init__(self, A, square=True):
        self.source = A
        self.device = None
        if is_on_device(A):
            self.device = int(A.__dlpack_device__()[1])
            A = on_host(A)
        elif hasattr(A, "get") and hasattr(A, "tocsr") and not is_sparse(A):  # of CuPy
            A = A.get()
            self.device = 0
        self.operator = None
        if is_sparse(A):
            self.parts = csr_parts(A)
            self.dtype = self.parts[2].dtype
        elif hasattr(A, "matvec") and not isinstance(A, np.ndarray):
            self.operator = A
            self.dtype = np.dtype(A.dtype if A.dtype is not None else np.float64)
        else:
            if np.ndim(A) != 2:
                raise ValueError(f"A has {np.ndim(A)} dimensions where a matrix is needed")
            self.parts = tall(np.asarray(A), "A")
            self.dtype = self.parts.dtype
        self.shape = tuple(int(n) for n in A.shape)
        if square and self.shape[0] != self.shape[1]:
            raise ValueError(f"expected square matrix (shape={self.shape})")
        self.is_complex = self.dtype.kind == "c"
        narrow = self.dtype in (np.float32, np.complex64, np.float16)
        self.result_type = {(0, 0): np.float64, (0, 1): np.float32, (1, 0): np.complex128,
                            (1, 1): np.complex64}[(int(self.is_complex), int(narrow))]

    def make_complex(self):
        """The same matrix as a complex one."""
        if self.operator is None and not self.is_complex:
            if isinstance(self.parts, tuple):
                self.parts = (*self.parts[:2], self.parts[2].astype(np.complex128), self.parts[3])
            else:
                self.parts = self.parts.astype(np.complex128)
        self.is_complex = True
        self.result_type = np.complex128

    def context(self, given):
        """The context of a call: on the device where the matrix lies, unless another is given."""
        return core_of(Context(device=self.device) if given is None and self.device is not None else given)

    def back(self, a, dtype=None):
        a = a if dtype is None else a.astype(dtype, copy=False)
        return back_to(self.source, a) if hasattr(self.source, "__dlpack__") else a


def _into(product):
    """f(x, y), which writes product(x) into y."""

    def write(x, y):
        y[...] = product(x)

    return write


def products(operator):
    """The products of an operator with a block: by matmat, as LinearOperator has it, or column by column."""
    if hasattr(operator, "matmat"):
        return _into(operator.matmat)
    return _into(lambda x: np.stack([np.ravel(operator.matvec(c)) for c in x.T], axis=1))
