"""scikit-learn's base classes and checks, of which newer versions have moved some."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn

if tuple(int(n) for n in sklearn.__version__.split(".")[:2]) < (1, 2):
    raise ImportError(f"the models need scikit-learn 1.2 or later, or none: {sklearn.__version__} is installed")

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight as check_weights
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it was a method

    def validate_data(model: Any, X: Any, *, ensure_all_finite: bool = True, **how: Any) -> Any:
        return model._validate_data(X, force_all_finite=ensure_all_finite, **how)


class Base(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that takes sparse rows and keeps float32."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before 1.6
        return {"preserves_dtype": [np.float64, np.float32]}


__all__ = ["Base", "ConvergenceWarning", "check_is_fitted", "check_random_state", "check_weights", "validate_data"]
