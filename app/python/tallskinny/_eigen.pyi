from typing import Any, Literal, overload

from ._context import Context
from ._result import Result as Result
from ._types import Callback, Seed

@overload
def eigsh(A: Any, k: int = ..., M: Any = ..., sigma: float | None = ..., which: str = ..., v0: Any = ...,
          ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: Literal[True] = ...,
          Minv: Any = ..., OPinv: Any = ..., mode: str = ..., rng: Seed = ..., *, symmetrise: bool = ...,
          method: str = ..., verify: bool = ..., verbose: int = ..., callback: Callback | None = ...,
          context: Context | None = ...) -> Result: ...
@overload
def eigsh(A: Any, k: int = ..., M: Any = ..., sigma: float | None = ..., which: str = ..., v0: Any = ...,
          ncv: int | None = ..., maxiter: int | None = ..., tol: float = ..., return_eigenvectors: bool = ...,
          Minv: Any = ..., OPinv: Any = ..., mode: str = ..., rng: Seed = ..., *, symmetrise: bool = ...,
          method: str = ..., verify: bool = ..., verbose: int = ..., callback: Callback | None = ...,
          context: Context | None = ...) -> Any: ...
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
