"""Singular values with SciPy's interface."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from . import _core
from ._context import Context
from ._eigen import _options
from ._matrix import Matrix, adjoint, products
from ._pencil import is_operator, matrix_of
from ._progress import progress_of
from ._result import Result, attributes_of, checked
from ._types import Callback, Seed


@overload
def svds(A: Any, k: int = ..., ncv: int | None = ..., tol: float = ..., which: str = ..., v0: Any = ...,
         maxiter: int | None = ..., return_singular_vectors: Literal[True, "u", "vh"] = ..., solver: str = ...,
         rng: Seed = ..., options: Any = ..., *, random_state: Seed = ..., centre: bool = ..., verify: bool = ...,
         verbose: int = ..., callback: Callback | None = ..., context: Context | None = ...) -> Result: ...
@overload
def svds(A: Any, k: int = ..., ncv: int | None = ..., tol: float = ..., which: str = ..., v0: Any = ...,
         maxiter: int | None = ..., return_singular_vectors: bool | str = ..., solver: str = ...,
         rng: Seed = ..., options: Any = ..., *, random_state: Seed = ..., centre: bool = ..., verify: bool = ...,
         verbose: int = ..., callback: Callback | None = ..., context: Context | None = ...) -> Any: ...
def svds(A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
         maxiter: int | None = None, return_singular_vectors: bool | str = True, solver: str = "arpack",
         rng: Seed = None, options: Any = None, *, random_state: Seed = None, centre: bool = False,
         verify: bool = True, verbose: int = 0, callback: Callback | None = None,
         context: Context | None = None) -> Any:
    """Singular values and vectors, with SciPy's arguments.

    Parameters
    ----------
    A : array, sparse matrix, DataFrame or LinearOperator, shape (m, n)
        A LinearOperator needs `rmatmat` or `rmatvec`; for the smallest, or centred, it is first made a matrix by
        products with all columns of the identity.
    k : int
    tol : float
        Residuals relative to the singular value; 0 means as small as rounding allows, or 1e-12.
    which : {'LM', 'SM'}
        Largest or smallest singular values.
    maxiter : int, optional
        Limit of block steps.
    return_singular_vectors : {True, False, 'u', 'vh'}
    rng, random_state : int, optional
        Seed of the random first block.
    ncv, v0, solver, options : ignored
    centre : bool
        Subtract the mean of each column first: principal components.
    verify, verbose, callback, context
        As for `eigsh`.

    Returns
    -------
    u : array, shape (m, k)
    s : array, shape (k,)
        In ascending order.
    vh : array, shape (k, n)
        The tuple is a `Result`.

    Raises
    ------
    NoConvergence
        As for `eigsh`.
    """
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError("`return_singular_vectors` must be in True, False, 'u', 'vh', "
                         f"not {return_singular_vectors!r}")
    if which not in ("LM", "SM"):
        raise ValueError(f"`which` must be in {{'LM', 'SM'}}, not {which!r}")
    if str(solver).lower() not in ("arpack", "lobpcg", "propack"):
        raise ValueError(f"solver must be one of 'arpack', 'lobpcg', 'propack', not {solver!r}: all mean the same here")
    if is_operator(A) and (centre or which == "SM"):
        A = matrix_of(A, "A", "centred columns and the smallest need its entries")
    a = Matrix(A, square=False, there=context is None)
    m, n = a.shape
    if m * n == 0:
        raise ValueError("`A` must not be empty.")
    if int(k) != k or not 0 < k <= min(m, n):
        raise ValueError(f"`k` must be an integer satisfying 0 < k <= {min(m, n)}, the smaller side of A, not k={k}")
    k = int(k)
    chosen = _options(tol, maxiter, random_state if rng is None else rng, True, verify)
    chosen.set_which(which)
    core = a.context(context, chosen)
    with progress_of(verbose, callback, "svds") as report:
        if a.operator is None:
            found = _core.svds(core, a.parts, k, chosen, bool(centre), report)
        else:
            call = _core.svds_by_complex if a.is_complex else _core.svds_by_real
            forth, back = products(a.operator), products(a.operator.adjoint())
            found = call(core, forth, back, m, n, k, chosen, report)
    order = np.argsort(found["values"], kind="stable")
    s = a.back(found["values"][order].astype(np.zeros(0, a.result_type).real.dtype, copy=False))
    wanted = return_singular_vectors
    u = a.columns(found["left"], order) if wanted in (True, "u") else None
    v = a.columns(found["vectors"], order)
    vh = adjoint(v) if wanted in (True, "vh") else None
    result = checked(Result((u, s, vh), attributes_of(found, order)), s, v, verify)
    return result if wanted else result[1]


__all__ = ["svds"]
