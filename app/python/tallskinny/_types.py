"""Types of arguments and results, as type checkers read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Dict, Union

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Callback = Callable[[Dict[str, Any]], Any]
Seed = Union[None, int, np.integer, np.random.RandomState, np.random.Generator]

__all__ = ["Array", "Callback", "Seed"]
