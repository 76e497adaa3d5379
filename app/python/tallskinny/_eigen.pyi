from typing import Any, Literal, Tuple, overload

from ._context import Context
from ._types import Array, Callback, Seed

class Result(Tuple[Any, ...]):
    converged: bool
    complete: bool
    reason: str
    verification: str
    residuals: Array
    vector_errors: Array
    error_bounds: Array
    backward_errors: Array
    iterations: int
    operator_applications: int
    note: str
    def __new__(cls, items: Any, told: dict[str, Any] | None = None) -> Result: ...

@overload
def eigsh(A: Any, k: int = ..., M: Any = ..., sigma: float | None = ..., which: str = ..., v0: Any = ...,
          ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: Literal[True] = ...,
          Minv: Any = ..., OPinv: Any = ..., mode: str = ..., rng: Seed = ..., *, method: str = ..., verify: bool = ...,
          verbose: int = ..., callback: Callback | None = ..., context: Context | None = ...) -> Result: ...
@overload
def eigsh(A: Any, k: int = ..., M: Any = ..., sigma: float | None = ..., which: str = ..., v0: Any = ...,
          ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: bool = ...,
          Minv: Any = ..., OPinv: Any = ..., mode: str = ..., rng: Seed = ..., *, method: str = ..., verify: bool = ...,
          verbose: int = ..., callback: Callback | None = ..., context: Context | None = ...) -> Any: ...
@overload
def eigs(A: Any, k: int = ..., M: Any = ..., sigma: complex | None = ..., which: str = ..., v0: Any = ...,
         ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: Literal[True] = ...,
         Minv: Any = ..., OPinv: Any = ..., OPpart: str | None = ..., rng: Seed = ..., *, method: str = ...,
         verify: bool = ..., verbose: int = ..., callback: Callback | None = ...,
         context: Context | None = ...) -> Result: ...
@overload
def eigs(A: Any, k: int = ..., M: Any = ..., sigma: complex | None = ..., which: str = ..., v0: Any = ...,
         ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: bool = ...,
         Minv: Any = ..., OPinv: Any = ..., OPpart: str | None = ..., rng: Seed = ..., *, method: str = ...,
         verify: bool = ..., verbose: int = ..., callback: Callback | None = ...,
         context: Context | None = ...) -> Any: ...

__all__ = ["eigsh", "eigs", "Result"]
