"""k-means with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from . import _core
from ._arrays import back_to, is_on_device, is_sparse, on_host
from ._centers import Centers, _generator, weights_of
from ._context import Context
from ._foreign import ForeignCsr, adopted
from ._parameters import Word, check_parameters
from ._types import Callback, Seed

_MiniBatch = TypeVar("_MiniBatch", bound="MiniBatchKMeans")


class KMeans(Centers):
    """k-means by Lloyd's iteration: every label is proved to be the nearest centre's.

    Parameters
    ----------
    n_clusters : int
    init : {'k-means++', 'k-means||', 'random'}, callable or array of shape (n_clusters, n_features)
        First centres.
    n_init : 'auto' or int
        Restarts, of which the best is kept. 'auto': 10 for random centres, else 1, which breathing k-means
        (Fritzke 2020) improves on small data to an inertia as good as that of 10 restarts.
    max_iter : int
    tol : float
        Stops when the centres moved by less, relative to the variance of the features.
    verbose : int
        1: show progress, by tqdm where that is installed, else by lines.
    random_state : int, RandomState, Generator or None
    copy_x : bool
        Ignored: X is never changed.
    algorithm : {'lloyd', 'elkan', 'two-level', 'balanced'}
        'elkan' means 'lloyd', which uses bounds in any case. 'two-level' is faster for thousands of clusters;
        'balanced' makes sizes equal.
    metric : {'euclidean', 'cosine'}
    callback : callable, optional
        Called at most 20 times a second with a dict; a true answer stops the run, and the result so far is kept.
    context : Context, optional

    Attributes
    ----------
    cluster_centers_ : array, shape (n_clusters, n_features)
    labels_ : array of int32, shape (n_samples,)
        Labels, centres and inertia belong together.
    inertia_ : float
        Sum of squared distances, computed from differences.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X had names.

    Examples
    --------
    >>> import numpy as np, tallskinny as ts
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> sorted(ts.KMeans(2, random_state=0).fit(X).cluster_centers_.tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    """

    _takes = {"algorithm": [Word("lloyd", "elkan", "two-level", "balanced")]}

    def __init__(self, n_clusters: int = 8, *, init: Any = "k-means++", n_init: int | str = "auto",
                 max_iter: int = 300, tol: float = 1e-4, verbose: int = 0, random_state: Seed = None,
                 copy_x: bool = True, algorithm: str = "lloyd", metric: str = "euclidean",
                 callback: Callback | None = None, context: Context | None = None) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.metric = metric
        self.callback = callback
        self.context = context

    @property
    def _algorithm(self):
        return "lloyd" if self.algorithm == "elkan" else self.algorithm


class MiniBatchKMeans(Centers):
    """k-means by small random samples: faster, with slightly larger inertia. Every label is the nearest centre's.

    Parameters
    ----------
    n_clusters, init, n_init, max_iter, verbose, random_state, metric, callback, context
        As for `KMeans`; `n_init` 'auto' is 3 for random centres, else 1.
    batch_size : int
        Rows in a step.
    compute_labels, tol, max_no_improvement, init_size, reassignment_ratio
        Accepted but ignored: labels are always computed, and the run stops by itself.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_iter_, n_features_in_, feature_names_in_
        As for `KMeans`.
    n_steps_ : int
    """

    _algorithm = "mini-batch"
    _random_starts = 3

    n_steps_: int

    def __init__(self, n_clusters: int = 8, *, init: Any = "k-means++", max_iter: int = 100, batch_size: int = 1024,
                 verbose: int = 0, compute_labels: bool = True, random_state: Seed = None, tol: float = 0.0,
                 max_no_improvement: int | None = 10, init_size: int | None = None, n_init: int | str = "auto",
                 reassignment_ratio: float = 0.01, metric: str = "euclidean", callback: Callback | None = None,
                 context: Context | None = None) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.metric = metric
        self.callback = callback
        self.context = context

    def _options(self, centers):
        options = super()._options(centers)
        options.batch = self.batch_size
        return options

    def _take(self, found, X, source):
        super()._take(found, X, source)
        self.n_steps_ = self.n_iter_
        self.n_iter_ = -(-self.n_steps_ * self.batch_size // X.shape[0])
        self._counts = np.bincount(found["labels"], minlength=self.n_clusters).astype(np.float64)

    def partial_fit(self: _MiniBatch, X: Any, y: Any = None, sample_weight: Any = None) -> _MiniBatch:
        """Makes one step with these rows: centres move to the mean of all rows that they were given.

        Rows on a GPU are copied to host memory for it.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
        y : ignored
        sample_weight : array, shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        first = not hasattr(self, "cluster_centers_")
        source = X = adopted(X)
        X = self._validated(X, reset=first)
        X = on_host(X) if is_on_device(X) or isinstance(X, ForeignCsr) else X
        weights = weights_of(sample_weight, X)
        if first:
            self._check_rows(X.shape[0])
            centers = next(self._starts(X))
            if centers is None:
                options = self._options(None)
                options.set_algorithm("lloyd")
                options.max_iter = 1
                centers = _core.kmeans(self._context_core(), self._operand(X), options, weights, None, None,
                                       None)["centers"]
            self._centers = np.array(centers, dtype=np.float64)
            self.cluster_centers_ = self._centers
            self._counts = np.zeros(self.n_clusters)
            self.n_steps_ = self.n_iter_ = 0
            self._n_features_out = self.n_clusters
        centers = self._exact_centers()
        labels, inertia = _core.predict(self._context_core(), self._operand(X), centers, self.metric, weights)
        w = np.ones(X.shape[0]) if weights is None else weights
        per_norm = np.ones(X.shape[0])
        if self.metric == "cosine":  # rows count by their directions, and those of norm 0 not at all
            wide = X.astype(np.float64)
            norms = np.sqrt(np.asarray((wide.multiply(wide) if is_sparse(X) else wide * wide).sum(axis=1))).ravel()
            w = np.where(norms > 0, w, 0)
            per_norm = 1 / np.where(norms > 0, norms, 1)
        count = np.bincount(labels, w, self.n_clusters)
        sums = _sums(X, labels, w * per_norm, self.n_clusters)
        self._counts = self._counts + count
        moved = count > 0
        new = np.array(centers)
        step = sums[moved] - count[moved, None] * new[moved]
        new[moved] += step / self._counts[moved, None]
        if self.metric == "cosine":
            lengths = np.linalg.norm(new, axis=1, keepdims=True)
            new = np.where(lengths > 0, new / np.where(lengths > 0, lengths, 1), centers)
        self._centers = new
        self.cluster_centers_ = back_to(source, new.astype(np.float32) if X.dtype == np.float32 else new)
        self.labels_, self.inertia_ = back_to(source, labels), float(inertia)
        self.n_steps_ += 1
        return self


def _sums(X, labels, weights, k):
    """Weighted sums of the rows of each cluster, k x d in float64."""
    if is_sparse(X):
        from scipy.sparse import csr_array

        which = csr_array((weights, (labels, np.arange(X.shape[0]))), shape=(k, X.shape[0]))
        return np.asarray((which @ X).todense())
    sums = np.zeros((k, X.shape[1]))
    np.add.at(sums, labels, weights[:, None] * X)
    return sums


class BisectingKMeans(Centers):
    """k-means that splits the cluster of largest inertia in two, until there are enough.

    Parameters
    ----------
    n_clusters, init, n_init, random_state, max_iter, verbose, tol, copy_x, metric, callback, context
        As for `KMeans`; `init` is a word or a callable, for the two centres of each split.
    algorithm : {'lloyd', 'elkan'}
        Ignored.
    bisecting_strategy : {'biggest_inertia', 'largest_cluster'}
        Cluster to split next: that of largest inertia, or of most rows of positive weight.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_features_in_, feature_names_in_
        As for `KMeans`. `predict` gives the nearest centre, not the leaf of a tree.
    """

    _algorithm = "bisecting"
    _takes = {"algorithm": [Word("lloyd", "elkan")],
              "bisecting_strategy": [Word("biggest_inertia", "largest_cluster")]}

    def __init__(self, n_clusters: int = 8, *, init: Any = "random", n_init: int | str = 1,
                 random_state: Seed = None, max_iter: int = 300, verbose: int = 0, tol: float = 1e-4,
                 copy_x: bool = True, algorithm: str = "lloyd", bisecting_strategy: str = "biggest_inertia",
                 metric: str = "euclidean", callback: Callback | None = None,
                 context: Context | None = None) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy
        self.metric = metric
        self.callback = callback
        self.context = context

    def _starts(self, X):
        if not isinstance(self.init, str) and not callable(self.init):
            raise ValueError("init of BisectingKMeans must be a word or a callable: an array cannot serve every split")
        yield None

    def _options(self, centers):
        options = super()._options(centers)
        options.split_largest = self.bisecting_strategy == "largest_cluster"
        return options

    def _split(self, X):
        if not callable(self.init):
            return None
        random_state = _generator(self.random_state)
        return lambda rows: self._first_centers(self.init(X[rows], 2, random_state=random_state), 2, X)


__all__ = ["KMeans", "MiniBatchKMeans", "BisectingKMeans"]
