"""What makes the models estimators: scikit-learn of any version from 1.2, or without it the little that they need."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

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

__all__ = ["Base", "ConvergenceWarning", "check_is_fitted", "check_random_state", "check_weights", "validate_data"]
