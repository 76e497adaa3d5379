"""Many k-means problems of one shape in one call."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import back_to, is_foreign, on_host, tall
from ._centers import ConvergenceWarning, _seed
from ._context import Context, core_of
from ._foreign import adopted
from ._progress import progress_of
from ._types import Array, Callback, Seed


class KMeansBatch(NamedTuple):
    """Result of `kmeans_batch`: arrays of the library of `x`, in the same memory."""

    labels: Array
    """int32, shape (B, n)"""
    centers: Array
    """shape (B, n_clusters, d); float32 where `x` is, else float64"""
    inertia: Array
    """float64, shape (B,): sums of squared distances"""
    n_iter: Array
    """int32, shape (B,)"""


def kmeans_batch(x: Any, n_clusters: int, *, batch: int | None = None, init: Any = "k-means++", n_init: int = 1,
                 max_iter: int = 300, tol: float = 1e-4, random_state: Seed = None, sample_weight: Any = None,
                 metric: str = "euclidean", callback: Callback | None = None,
                 context: Context | None = None) -> KMeansBatch:
    """Solves B k-means problems: B blocks of rows, or the same rows with B seeds.

    In host memory each problem has a thread of its own; on a GPU several run at a time.

    Parameters
    ----------
    x : array, shape (B, n, d) or (n, d)
        Float64, float32 or float16, of NumPy, PyTorch or CuPy, also on a GPU. With (n, d), `batch` is the number B.
    n_clusters : int
    batch : int, optional
        The number B of problems, for an `x` of shape (n, d).
    init : {'k-means++', 'k-means||', 'random'} or array, shape (n_clusters, d) or (B, n_clusters, d)
        First centres.
    n_init : int
        Restarts of each problem, of which the best is kept. 0: as `KMeans` makes them for 'auto' and k-means++.
    max_iter : int
    tol : float
        As for `KMeans`.
    random_state : int, RandomState, Generator or None
        Problem b has the result of ``KMeans(n_init=n_init, random_state=random_state + b)`` for an integer, else that
        of a seed drawn from it, plus b.
    sample_weight : array, shape (n,) or (B, n), optional
    metric : {'euclidean', 'cosine'}
    callback : callable, optional
        Called at most 20 times a second with a dict, in which `run` counts the restarts of all problems. A true answer
        ends the call with `Interrupted`.
    context : Context, optional

    Returns
    -------
    KMeansBatch
        A tuple (labels, centers, inertia, n_iter).

    Raises
    ------
    ValueError
        For shapes that do not fit, and for NaN or infinity, with the number of the problem.

    Examples
    --------
    >>> import numpy as np, tallskinny as ts
    >>> x = np.array([[[0.0], [1], [9]], [[0], [8], [9]]])
    >>> ts.kmeans_batch(x, 2, random_state=0).inertia.tolist()
    [0.5, 0.5]
    """
    source = x = adopted(x)
    x = x if is_foreign(x) else np.asarray(x)
    if x.ndim == 3 and batch in (None, x.shape[0]):
        problems = [tall(x[b], "x") for b in range(x.shape[0])]
    elif x.ndim == 2 and batch is not None:
        if isinstance(batch, bool) or not isinstance(batch, numbers.Integral) or batch < 1:
            raise ValueError(f"batch must be an int from 1 up, not {batch!r}")
        problems = [tall(x, "x")] * int(batch)
    else:
        raise ValueError(f"x of shape {tuple(x.shape)} must have three dimensions, or two and a number `batch`")
    if not problems:
        raise ValueError("x has no problem: its first dimension is 0")
    k, (n, d), count = int(n_clusters), problems[0].shape, len(problems)
    options = _core.KMeansOptions()
    options.clusters, options.n_init, options.max_iter, options.tol = k, int(n_init), int(max_iter), float(tol)
    options.seed = _seed(random_state)
    options.set_metric(metric)
    options.set_init(init if isinstance(init, str) else "given")
    centers = None
    if not isinstance(init, str):
        centers = np.array(on_host(adopted(init)) if hasattr(init, "dtype") else init, dtype=np.float64, order="C")
        if centers.shape not in ((k, d), (count, k, d)):
            raise ValueError(f"init of shape {centers.shape} is neither {(k, d)} nor {(count, k, d)}")
        centers = centers.reshape(-1, d)
    weights = _weights(sample_weight, problems, n)
    with progress_of(0, callback, "kmeans_batch") as report:
        found = _core.kmeans_batch(core_of(context), problems, options, weights, centers, report)
    few = int(np.sum(found["distinct"] < k))
    if few:
        warnings.warn(f"{few} of {count} problems have fewer distinct clusters than n_clusters ({k}), possibly due to "
                      "duplicate points.", ConvergenceWarning, stacklevel=2)
    dtype = np.float32 if str(x.dtype).split(".")[-1] == "float32" else np.float64
    of_each = found["centers"].reshape(count, k, d)
    return KMeansBatch(back_to(source, found["labels"]), back_to(source, of_each.astype(dtype, copy=False)),
                       back_to(source, found["inertia"]), back_to(source, found["n_iter"]))


def _weights(sample_weight, problems, n):
    """Float64, a number for each row, or for each row of each problem."""
    if sample_weight is None:
        return None
    given = on_host(adopted(sample_weight)) if hasattr(sample_weight, "dtype") else np.asarray(sample_weight)
    if given.shape not in ((n,), (len(problems), n)):
        raise ValueError(f"sample_weight of shape {given.shape} is neither {(n,)} nor {(len(problems), n)}")
    return np.ascontiguousarray(given, dtype=np.float64).ravel()


__all__ = ["KMeansBatch", "kmeans_batch"]
