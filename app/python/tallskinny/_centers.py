"""Base class of models with centres: everything but their parameters."""

from __future__ import annotations

import importlib.util
import numbers
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import _core
from ._arrays import back_to, csr_parts, is_foreign, is_on_device, is_sparse, on_host, tall, wait_for
from ._context import Context, core_of
from ._foreign import ForeignCsr, adopted
from ._parameters import check_parameters
from ._progress import progress_of
from ._types import Array, Callback, Seed

# scikit-learn of any version from 1.2, or without it the little that the models need.
if TYPE_CHECKING or importlib.util.find_spec("sklearn") is not None:
    from ._with_sklearn import (
        Base,
        ConvergenceWarning,
        check_is_fitted,
        check_random_state,
        check_weights,
        validate_data,
    )
else:
    from ._without_sklearn import (
        Base,
        ConvergenceWarning,
        check_is_fitted,
        check_random_state,
        check_weights,
        validate_data,
    )

_Model = TypeVar("_Model", bound="Centers")


def _seed(random_state):
    """64 random bits: those of an integer are always the same."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _generator(random_state):
    """The random generator that is passed to a function of the user."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def weights_of(sample_weight, X):
    if sample_weight is None:
        return None
    sample_weight = on_host(adopted(sample_weight)) if hasattr(sample_weight, "dtype") else sample_weight
    return np.ascontiguousarray(check_weights(sample_weight, X, dtype=np.float64))


def _check_finite(X, rows=1 << 14):
    for first in range(0, X.shape[0], rows):
        block = np.isfinite(X[first:first + rows])
        if not block.all():
            row, column = np.argwhere(~block)[0]
            raise ValueError(f"Input X contains NaN or infinity: row {first + row}, column {column} (counted from 0)")


class Centers(Base):
    """Methods that all models with centres share."""

    _algorithm: Any = "lloyd"
    _takes: dict[str, list[Any]] = {}  # parameters of this model alone

    n_clusters: int
    init: Any
    n_init: int | str
    max_iter: int
    tol: float
    verbose: int
    random_state: Seed
    metric: str
    callback: Callback | None
    context: Context | None
    cluster_centers_: Array
    labels_: Array
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: Array

    def _validated(self, X, reset=False):
        if is_on_device(X) or isinstance(X, ForeignCsr):
            wait_for(X)
            if reset:
                self.n_features_in_ = int(X.shape[1])
            elif X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                    "features as input"
                )
            return X
        X = on_host(X) if is_foreign(X) else X  # scikit-learn would take it for another type
        narrow = getattr(X, "dtype", None) == np.float16  # for which scikit-learn's check takes half a copy
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32, np.float16],
                          ensure_all_finite=not narrow)
        if narrow:
            _check_finite(X)
        return X

    @staticmethod
    def _operand(X):
        types = {np.dtype(np.float64), np.dtype(np.float32)}
        if isinstance(X, ForeignCsr):
            return X.parts(types)
        return csr_parts(X, types) if is_sparse(X) else tall(X, "X")

    def _context_core(self):
        return core_of(getattr(self, "context", None))

    def _check_rows(self, n):
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")

    def _starts(self, X):
        """First centres of each restart as an array; one None where a word says how they are chosen."""
        if isinstance(self.init, str):
            yield None
        elif callable(self.init):
            random_state = _generator(self.random_state)
            for _ in range(self._random_starts if self.n_init == "auto" else self.n_init):
                yield self._first_centers(self.init(X, self.n_clusters, random_state=random_state), self.n_clusters, X)
        else:
            yield self._first_centers(self.init, self.n_clusters, X)

    @staticmethod
    def _first_centers(init, k, X):
        centers = np.array(on_host(adopted(init)) if hasattr(init, "dtype") else init, dtype=np.float64, order="C")
        if centers.ndim != 2 or centers.shape[0] != k:
            raise ValueError(f"The shape of the initial centers {centers.shape} does not match the number of clusters "
                             f"{k}.")
        if centers.shape[1] != X.shape[1]:
            raise ValueError(f"The shape of the initial centers {centers.shape} does not match the number of features "
                             f"of the data {X.shape[1]}.")
        return centers

    def _options(self, centers):
        options = _core.KMeansOptions()
        options.clusters = self.n_clusters
        options.max_iter = self.max_iter
        options.tol = float(self.tol)
        options.seed = _seed(self.random_state)
        options.set_algorithm(self._algorithm)
        options.set_metric(getattr(self, "metric", "euclidean"))
        options.set_init("given" if centers is not None else "random" if callable(self.init) else self.init)
        n_init = self.n_init
        if n_init == "auto":
            n_init = 1 if centers is not None else self._random_starts if self.init == "random" else 0
        if centers is not None and n_init > 1:
            if self.n_init != "auto" and not callable(self.init):
                warnings.warn(
                    "Explicit initial center position passed: performing only one init in "
                    f"{type(self).__name__} instead of n_init={n_init}.", RuntimeWarning, stacklevel=4)
            n_init = 1
        options.n_init = int(n_init)
        return options

    _random_starts = 10

    def _split(self, X):
        """A function from the numbers of rows to the first centres of their split in two, or None."""
        return None

    def fit(self: _Model, X: Any, y: Any = None, sample_weight: Any = None) -> _Model:
        """Finds clusters.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Float64, float32 and float16 are read without a copy, also on a GPU, where labels and centres then are.
            Sparse rows stay sparse; those on a GPU are copied to host memory.
        y : ignored
        sample_weight : array, shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        source = X = adopted(X)
        X = self._validated(X, reset=True)
        self._check_rows(X.shape[0])
        weights = weights_of(sample_weight, X)
        found = None
        with progress_of(self.verbose, getattr(self, "callback", None), type(self).__name__) as callback:
            for centers in self._starts(X):
                one = _core.kmeans(self._context_core(), self._operand(X), self._options(centers), weights, centers,
                                   callback, self._split(X))
                found = one if found is None or one["inertia"] < found["inertia"] else found
        self._take(found, X, source)
        if found["distinct"] < self.n_clusters:
            warnings.warn(f"Number of distinct clusters ({found['distinct']}) found smaller than n_clusters "
                          f"({self.n_clusters}). Possibly due to duplicate points in X.", ConvergenceWarning,
                          stacklevel=2)
        return self

    def _take(self, found, X, source):
        dtype = np.float32 if str(X.dtype).split(".")[-1] == "float32" else np.float64
        self._centers = found["centers"]
        self.cluster_centers_ = back_to(source, np.asarray(found["centers"], dtype=dtype))
        self.labels_ = back_to(source, found["labels"])
        self.inertia_ = float(found["inertia"])
        self.n_iter_ = int(found["n_iter"])
        self._n_features_out = self.n_clusters

    def _exact_centers(self):
        """float64: what was found, unless cluster_centers_ has been replaced since."""
        check_is_fitted(self)
        shown = on_host(self.cluster_centers_)
        kept = self.__dict__.get("_centers")
        if kept is None or kept.shape != shown.shape or not np.array_equal(kept.astype(shown.dtype), shown):
            kept = np.ascontiguousarray(shown, dtype=np.float64)
        return kept

    def _predicted(self, X, sample_weight=None):
        check_is_fitted(self)
        X = self._validated(X)
        return _core.predict(self._context_core(), self._operand(X), self._exact_centers(),
                             getattr(self, "metric", "euclidean"), weights_of(sample_weight, X))

    def predict(self, X: Any) -> Array:
        """Finds the nearest centre of each row, in exact arithmetic up to a stated bound.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array of int32, shape (n_samples,)
        """
        X = adopted(X)
        return back_to(X, self._predicted(X)[0])

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Calls `fit`, and returns the labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> Array:
        """Distances of all rows to all centres. Rows on a GPU are copied to host memory for it.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)

        Returns
        -------
        array, shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        source = X = adopted(X)
        X = self._validated(X)
        X = on_host(X) if is_on_device(X) else X
        found = _core.transform(self._context_core(), self._operand(X), self._exact_centers(),
                                getattr(self, "metric", "euclidean"))
        return back_to(source, found.astype(np.float32) if X.dtype == np.float32 else found)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Calls `fit`, and returns `transform` of the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The negative sum of squared distances of rows to their centres."""
        return -self._predicted(adopted(X), sample_weight)[1]
