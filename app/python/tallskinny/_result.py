"""Results, exceptions and warnings of calls for eigenvalues and singular values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._arrays import columns_of
from ._errors import UnprovenWarning, no_convergence
from ._pencil import PER_PAIR
from ._types import Array


class Result(tuple[Any, ...]):
    """The tuple that SciPy returns, with facts about its accuracy.

    Attributes
    ----------
    converged : bool
        True if all wanted pairs converged; always so for a call that returns.
    complete : bool
        True if a check has shown that no eigenvalue, nor a copy of one, is missing.
    reason : str
        Why the run ended, as one sentence.
    verification : str
        Method by which completeness was checked.
    converged_pairs : numpy.ndarray
        For each pair, True if it converged.
    residuals : numpy.ndarray
        Norms of A x - lambda x, computed from the matrix at the end.
    backward_errors : numpy.ndarray
        Residuals over the norm of A: the values are exact for a matrix this near to A. For pencils, residuals over
        the norms of A x and lambda M x.
    conditions : numpy.ndarray
        Only `eigs`: an eigenvalue of A lies, to first order, within this times the residual.
    vector_errors : numpy.ndarray
        Bound of the sine of the angle between each vector and its eigenvector; NaN where none is known.
    iterations, operator_applications : int
    asymmetry : float
        Only `eigsh`: the largest `abs(A_ij - conj(A_ji))` as a share of the largest entry.
    """

    converged: bool
    complete: bool
    reason: str
    verification: str
    converged_pairs: Array
    residuals: Array
    vector_errors: Array
    error_bounds: Array
    backward_errors: Array
    conditions: Array
    iterations: int
    operator_applications: int
    note: str
    asymmetry: float

    def __new__(cls, items: Any, attributes: dict[str, Any] | None = None) -> Result:
        self = super().__new__(cls, items)
        self.__dict__.update(attributes or {})
        return self


# Options of the library as these functions call them. There is none for the largest basis.
_NAMES = {"`max_iterations` or `max_basis`": "`maxiter`", "`max_iterations`": "`maxiter`", "`nev`": "`k`"}


def _renamed(sentence):
    for theirs, ours in _NAMES.items():
        sentence = sentence.replace(theirs, ours)
    return sentence


def attributes_of(found: dict[str, Any], order: Any) -> dict[str, Any]:
    """Attributes of a `Result` from what the library found, with its pairs in this order."""
    kept = ("converged", "complete", "reason", "verification", "iterations", "operator_applications", "note",
            "asymmetry")
    known = {name: found[name] for name in kept if name in found}
    known["reason"] = _renamed(found["reason"])
    for name in PER_PAIR:
        if name in found:
            numbers = np.asarray(found[name])
            known[name] = numbers[order] if len(numbers) == len(found["values"]) else numbers
    return known


def checked(result: Result, w: Any, v: Any, verify: bool) -> Result:
    """Raises what SciPy raises where pairs are missing, and warns where others may be."""
    if not result.converged:
        ok = np.flatnonzero(result.converged_pairs)
        raise no_convergence(f"{len(ok)} of {len(result.converged_pairs)} wanted eigenvalues converged: "
                             f"{result.reason}", columns_of(w[None, :], ok)[0],
                             None if v is None else columns_of(v, ok), result)
    if verify and not result.complete:
        warnings.warn(f"not shown to be complete: {result.reason}", UnprovenWarning, stacklevel=3)
    return result
