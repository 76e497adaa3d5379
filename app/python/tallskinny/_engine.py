"""Products of tall-and-skinny matrices."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from . import _core
from ._arrays import empty, is_sparse, output, tall
from ._context import Context, core_of
from ._foreign import ForeignCsr, adopted
from ._types import Array


@overload
def gram(a: Array, *, alpha: complex = ..., beta: complex = ..., out: Array | None = ..., conjugate: bool = ...,
         context: Context | None = ...) -> Array: ...
@overload
def gram(a: Any, *, alpha: complex = ..., beta: complex = ..., out: Any = ..., conjugate: bool = ...,
         context: Context | None = ...) -> Any: ...
def gram(a: Any, *, alpha: complex = 1.0, beta: complex = 0.0, out: Any = None, conjugate: bool = True,
         context: Context | None = None) -> Any:
    """Gram matrix: ``alpha * a.conj().T @ a + beta * out``.

    Parameters
    ----------
    a : array, shape (n, p)
        float64, complex128, float32, complex64, float16 or bfloat16; in NumPy, CuPy or PyTorch.
    alpha, beta : scalar, optional
        ``beta=0`` never reads `out`.
    out : array, shape (p, p), optional
        Array for the result: of the type of `a`, float32 for 16-bit types, in the same memory.
    conjugate : bool, optional
        False: the transpose instead of the adjoint.
    context : Context, optional
        Threads and determinism; else those of the default context.

    Returns
    -------
    array, shape (p, p)
        `out`, or a new array of the same library as `a`. Exactly Hermitian.

    Raises
    ------
    InvalidArgument
        For shapes or types that do not fit; it is a ValueError.

    Examples
    --------
    >>> import numpy as np, tallskinny as ts
    >>> ts.gram(np.ones((1000, 2)))
    array([[1000., 1000.],
           [1000., 1000.]])
    """
    a = tall(a, "a")
    c = output(out, a, (a.shape[-1], a.shape[-1]), beta)
    _core.gram(core_of(context), conjugate, alpha, a, beta, c)
    return c


@overload
def inner(a: Array, b: Array, *, alpha: complex = ..., beta: complex = ..., out: Array | None = ...,
          conjugate: bool = ..., context: Context | None = ...) -> Array: ...
@overload
def inner(a: Any, b: Any, *, alpha: complex = ..., beta: complex = ..., out: Any = ..., conjugate: bool = ...,
          context: Context | None = ...) -> Any: ...
def inner(a: Any, b: Any, *, alpha: complex = 1.0, beta: complex = 0.0, out: Any = None, conjugate: bool = True,
          context: Context | None = None) -> Any:
    """Inner products: ``alpha * a.conj().T @ b + beta * out``.

    Parameters
    ----------
    a : array, shape (n, p)
    b : array, shape (n, q)
        Of the type and in the memory of `a`.
    alpha, beta, out, conjugate, context
        As for `gram`; `out` has the shape (p, q).

    Returns
    -------
    array, shape (p, q)
    """
    a, b = tall(a, "a"), tall(b, "b")
    c = output(out, a, (a.shape[-1], b.shape[-1]), beta)
    _core.inner(core_of(context), conjugate, alpha, a, b, beta, c)
    return c


@overload
def tsmm(x: Array, s: Array, *, alpha: complex = ..., beta: complex = ..., out: Array | None = ...,
         context: Context | None = ...) -> Array: ...
@overload
def tsmm(x: Any, s: Any, *, alpha: complex = ..., beta: complex = ..., out: Any = ...,
         context: Context | None = ...) -> Any: ...
def tsmm(x: Any, s: Any, *, alpha: complex = 1.0, beta: complex = 0.0, out: Any = None,
         context: Context | None = None) -> Any:
    """Tall times small: ``alpha * x @ s + beta * out``.

    Parameters
    ----------
    x : array, shape (n, p)
    s : array, shape (p, q)
        Of the type of the result.
    alpha, beta, out, context
        As for `gram`; `out` has the shape (n, q).

    Returns
    -------
    array, shape (n, q)
    """
    x, s = tall(x, "x"), tall(s, "s")
    y = output(out, x, (x.shape[0], s.shape[-1]), beta)
    _core.tsmm(core_of(context), alpha, x, s, beta, y)
    return y


@overload
def tsm2r(d: Array, x: Array, *, alpha: complex = ..., beta: complex = ..., out: Array | None = ...,
          context: Context | None = ...) -> Array: ...
@overload
def tsm2r(d: Any, x: Any, *, alpha: complex = ..., beta: complex = ..., out: Any = ...,
          context: Context | None = ...) -> Any: ...
def tsm2r(d: Any, x: Any, *, alpha: complex = 1.0, beta: complex = 0.0, out: Any = None,
          context: Context | None = None) -> Any:
    """Large times tall: ``alpha * d @ x + beta * out``.

    Parameters
    ----------
    d : array, shape (m, n)
    x : array, shape (n, q)
        Of the type and in the memory of `d`; q is small.
    alpha, beta, out, context
        As for `gram`; `out` has the shape (m, q).

    Returns
    -------
    array, shape (m, q)
    """
    d, x = tall(d, "d"), tall(x, "x")
    y = output(out, d, (d.shape[0], x.shape[-1]), beta)
    _core.tsm2r(core_of(context), alpha, d, x, beta, y)
    return y


@overload
def spmm(a: Any, x: Array, *, alpha: complex = ..., beta: complex = ..., out: Array | None = ...,
         context: Context | None = ...) -> Array: ...
@overload
def spmm(a: Any, x: Any, *, alpha: complex = ..., beta: complex = ..., out: Any = ...,
         context: Context | None = ...) -> Any: ...
def spmm(a: Any, x: Any, *, alpha: complex = 1.0, beta: complex = 0.0, out: Any = None,
         context: Context | None = None) -> Any:
    """Sparse times tall: ``alpha * a @ x + beta * out``.

    Parameters
    ----------
    a : sparse matrix or array, shape (m, n)
        From SciPy, CuPy or PyTorch. Values and column numbers of CSR are used without a copy; other formats are
        converted to CSR first.
    x : array, shape (n, q)
        Of the type and in the memory of `a`.
    alpha, beta, out, context
        As for `gram`; `out` has the shape (m, q).

    Returns
    -------
    array, shape (m, q)
    """
    a = adopted(a)
    if isinstance(a, ForeignCsr) and a.device is None:
        a = a.on_host()
    elif not is_sparse(a) and not isinstance(a, ForeignCsr):
        raise TypeError("a must be a sparse matrix; tsm2r() takes a dense one")
    x = tall(x, "x")
    if x.shape[0] != a.shape[1]:
        raise ValueError(f"x has {x.shape[0]} rows where a has {a.shape[1]} columns")
    y = output(out, x, (a.shape[0], x.shape[-1]), beta)
    if isinstance(a, ForeignCsr):
        _core.spmm_on_device(core_of(context), alpha, a.shape[1], *a.on_device(), x, beta, y)
        return y
    a = a.tocsr()
    wide = a.indices.dtype == np.int64
    pointers = np.ascontiguousarray(a.indptr, dtype=np.int64)
    call = _core.spmm64 if wide else _core.spmm32
    if isinstance(x, np.ndarray):
        data = a.data if a.data.dtype == x.dtype else a.data.astype(np.result_type(a.data.dtype, x.dtype))
        if data.dtype != x.dtype:
            raise ValueError(f"x is of {x.dtype} where {data.dtype} is needed: convert it by astype()")
    else:
        data = a.data
    call(core_of(context), alpha, a.shape[1], pointers, a.indices, data, x, beta, y)
    return y


@overload
def trsm(x: Array, r: Array, *, out: Array | None = ..., context: Context | None = ...) -> Array: ...
@overload
def trsm(x: Any, r: Any, *, out: Any = ..., context: Context | None = ...) -> Any: ...
def trsm(x: Any, r: Any, *, out: Any = None, context: Context | None = None) -> Any:
    """Triangular solve from the right: ``x @ inv(r)``.

    Parameters
    ----------
    x : array, shape (n, p)
    r : array, shape (p, p)
        Upper triangular; elements below the diagonal are not read.
    out : array, shape (n, p), optional
        Array for the result; `x` itself to overwrite it.
    context : Context, optional

    Returns
    -------
    array, shape (n, p)
    """
    x, r = tall(x, "x"), tall(r, "r")
    y = output(out, x, x.shape, 0)
    if y is not x:
        y[...] = x
        tall(y, "out")
    _core.trsm(core_of(context), y, r)
    return y


@overload
def orthonormalise(x: Array, *, out: Array | None = ..., context: Context | None = ...) -> tuple[Array, Array]: ...
@overload
def orthonormalise(x: Any, *, out: Any = ..., context: Context | None = ...) -> tuple[Any, Array]: ...
def orthonormalise(x: Any, *, out: Any = None, context: Context | None = None) -> tuple[Any, Array]:
    """QR factorisation of a tall block: ``x = q @ r`` with orthonormal columns.

    Cholesky QR twice, and where that breaks down methods that do not square the condition number.

    Parameters
    ----------
    x : array, shape (n, p)
        float64, complex128, float32 or complex64.
    out : array, shape (n, p), optional
        Array for the columns; `x` itself to overwrite it. Rows must be contiguous.
    context : Context, optional

    Returns
    -------
    q : array, shape (n, rank)
        Fewer than p columns where columns of x are linearly dependent.
    r : numpy.ndarray, shape (rank, p)
    """
    x = tall(x, "x")
    y = output(out, x, x.shape, 0)
    if y is not x:
        y[...] = x
        tall(y, "out")
    names = {"float64": np.float64, "float32": np.float32, "complex128": np.complex128, "complex64": np.complex64}
    kind = str(x.dtype).split(".")[-1]
    if kind not in names:
        raise ValueError(f"x is of {kind}: convert it to one of {', '.join(names)}")
    r = np.zeros((x.shape[1], x.shape[1]), dtype=names[kind])
    rank = _core.orthonormalise(core_of(context), y, r)
    return y[:, :rank], r[:rank]


@overload
def column_norms(x: Array, *, context: Context | None = ...) -> Array: ...
@overload
def column_norms(x: Any, *, context: Context | None = ...) -> Any: ...
def column_norms(x: Any, *, context: Context | None = None) -> Any:
    """Euclidean norms of the columns, without overflow or underflow.

    Parameters
    ----------
    x : array, shape (n, p)
    context : Context, optional

    Returns
    -------
    array, shape (p,)
        float64 for float64 and complex128, else float32.
    """
    x = tall(x, "x")
    wide = str(x.dtype).split(".")[-1] in ("float64", "complex128")
    if type(x) is np.ndarray:
        dtype = np.float64 if wide else np.float32
    else:
        from ._arrays import module_of

        dtype = module_of(x).float64 if wide else module_of(x).float32
    norms = empty(x, (1, x.shape[1]), dtype)
    _core.column_norms(core_of(context), x, norms)
    return norms[0]


def plan(operation: str, dtype: Any, n: int, p: int = 1, q: int = 1, nonzeros: int = 0, *,
         context: Context | None = None) -> str:
    """Describes how the processor would compute an operation, and why, as text.

    Parameters
    ----------
    operation : {'gram', 'tsmttsm', 'tsmm', 'tsm2r', 'spmm', 'trsm', 'column_norms'}
    dtype : str
        'float64', 'complex128', 'float32', 'complex64', 'float16' or 'bfloat16'.
    n, p, q : int
        Rows, and the two widths.
    nonzeros : int, optional
        Entries of the sparse matrix, for 'spmm'.
    context : Context, optional

    Returns
    -------
    str
        Decisions, predicted bytes, flops and time, and the bound. For print().
    """
    return _core.plan(core_of(context), operation, np.dtype(dtype).name if dtype != "bfloat16" else dtype, n, p, q,
                      nonzeros)


__all__ = ["gram", "inner", "tsmm", "tsm2r", "spmm", "trsm", "orthonormalise", "column_norms", "plan"]
