"""The little of scikit-learn that the models need where it is not installed."""

from __future__ import annotations

import inspect

import numpy as np

from ._arrays import is_sparse


class ConvergenceWarning(UserWarning):
    """Fewer clusters were found than asked for."""


class Base:
    """Parameters and a picture as scikit-learn's estimators have them."""

    def __repr__(self):
        usual = inspect.signature(type(self).__init__).parameters
        changed = (f"{name}={value!r}" for name, value in self.get_params().items()
                   if value is not usual[name].default)
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep=True):
        """Parameters by their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters
                if name != "self"}

    def set_params(self, **params):
        """Sets parameters. Returns self."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
            setattr(self, name, value)
        return self


class NotFitted(ValueError, AttributeError):
    """A model is used before fit()."""


def check_is_fitted(model):
    if not hasattr(model, "cluster_centers_"):
        raise NotFitted(f"This {type(model).__name__} instance is not fitted yet. Call 'fit' first.")


def check_random_state(seed):
    return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)


def check_weights(weights, X, dtype):
    weights = np.full(X.shape[0], weights, dtype=dtype) if np.isscalar(weights) else np.asarray(weights, dtype=dtype)
    if weights.shape != (X.shape[0],):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
    return weights


def _check_names(model, X, reset):
    """The names of columns in fit() are those of every later call, in the same order."""
    names = list(getattr(X, "columns", ()))
    names = names if all(isinstance(name, str) for name in names) else []
    if reset:
        model.__dict__.pop("feature_names_in_", None)
        if names:
            model.feature_names_in_ = np.array(names, dtype=object)
    elif names and hasattr(model, "feature_names_in_") and names != list(model.feature_names_in_):
        raise ValueError(f"The feature names should match those that were passed during fit: "
                         f"{list(model.feature_names_in_)} in this order. Got {names}.")


def validate_data(model, X, reset, dtype, **_):
    _check_names(model, X, reset)
    if is_sparse(X):
        X = X.tocsr()
    else:
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported: points have real coordinates")
        if X.dtype not in dtype:
            X = X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
    if reset:
        model.n_features_in_ = X.shape[1]
    elif X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
                         f"{model.n_features_in_} features as input")
    return X


__all__ = ["Base", "ConvergenceWarning", "check_is_fitted", "check_random_state", "check_weights", "validate_data"]
