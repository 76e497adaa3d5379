from typing import Any, Tuple

from ._types import Array

class Result(Tuple[Any, ...]):
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
    def __new__(cls, items: Any, told: dict[str, Any] | None = None) -> Result: ...

def told(found: dict[str, Any], order: Any) -> dict[str, Any]: ...
def checked(result: Result, w: Any, v: Any, verify: bool) -> Result: ...
