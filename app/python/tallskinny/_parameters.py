"""Parameters of the models, checked as scikit-learn checks those of its own, when fit() is called."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._context import Context
from ._errors import InvalidArgument


class _Number:
    """A whole number, or any real one, from `least` up."""

    def __init__(self, kind: type, least: int, most: float = math.inf) -> None:
        self._kind, self._least, self._most = kind, least, most

    def takes(self, value: Any) -> bool:
        number = isinstance(value, self._kind) and not isinstance(value, (bool, np.bool_))
        return number and self._least <= value <= self._most and value != math.inf

    def __str__(self) -> str:
        what = "an int" if self._kind is Integral else "a float"
        return f"{what} in the range [{self._least}, {self._most}" + (")" if self._most == math.inf else "]")


class Word:
    """One of these words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in self._words

    def __str__(self) -> str:
        return "a str among {" + ", ".join(repr(word) for word in self._words) + "}"


class _Kind:
    """An object of one of these classes."""

    def __init__(self, name: str, *kinds: type) -> None:
        self._name, self._kinds = name, kinds

    def takes(self, value: Any) -> bool:
        return isinstance(value, self._kinds)

    def __str__(self) -> str:
        return self._name


class _Callable:
    def takes(self, value: Any) -> bool:
        return callable(value)

    def __str__(self) -> str:
        return "a callable"


class _Array:
    def takes(self, value: Any) -> bool:
        return not isinstance(value, (str, bytes)) and (hasattr(value, "__len__") or hasattr(value, "shape"))

    def __str__(self) -> str:
        return "an array-like"


_count, _nothing, _flag = _Number(Integral, 1), _Kind("None", type(None)), _Kind("a bool", bool, np.bool_)

# Accepted values of each parameter, by name; a name means one thing in all models.
_TAKES: dict[str, list[Any]] = {
    "n_clusters": [_count],
    "init": [Word("k-means++", "k-means||", "random"), _Callable(), _Array()],
    "n_init": [Word("auto"), _count],
    "max_iter": [_count],
    "batch_size": [_count],
    "tol": [_Number(Real, 0)],
    "verbose": [_Number(Integral, 0), _flag],
    "random_state": [_Number(Integral, 0, 2**32 - 1), _Kind("a RandomState", np.random.RandomState),
                     _Kind("a Generator", np.random.Generator), _nothing],
    "copy_x": [_flag],
    "compute_labels": [_flag],
    "max_no_improvement": [_Number(Integral, 0), _nothing],
    "init_size": [_count, _nothing],
    "reassignment_ratio": [_Number(Real, 0)],
    "metric": [Word("euclidean", "cosine")],
    "callback": [_Callable(), _nothing],
    "context": [_Kind("a Context", Context), _nothing],
}


def check_parameters(model: Any) -> None:
    """Refuses the first parameter that has a value it cannot have: as in the table, or in `_takes` of the model.

    Raises
    ------
    InvalidArgument
        It names the parameter, the values that are taken, and the one that was given.
    """
    for name, value in model.get_params(deep=False).items():
        takes = {**_TAKES, **model._takes}.get(name)
        if takes is None or any(kind.takes(value) for kind in takes):
            continue
        given = f"{', '.join(map(str, takes[:-1]))} or {takes[-1]}" if len(takes) > 1 else str(takes[0])
        raise InvalidArgument(f"The {name!r} parameter of {type(model).__name__} must be {given}. "
                              f"Got {value!r} instead.")
