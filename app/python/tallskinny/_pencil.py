"""Pencils, modes and operators as SciPy factorises them, before the library is called."""

from __future__ import annotations

import numpy as np

from ._arrays import columns_of, is_sparse, on_host
from ._foreign import adopted

_most_products = 20_000  # an operator of more rows is not made a matrix
# Members of a result that have one number for each pair.
PER_PAIR = ("converged_pairs", "residuals", "backward_errors", "vector_errors", "error_bounds", "conditions")
whole = 500  # rows of a matrix of which all eigenvalues are computed where a few cannot be told by their place


def is_operator(a):
    """True if `a` is known by its products alone."""
    return hasattr(a, "matvec") and not is_sparse(a) and not isinstance(a, np.ndarray)


def matrix_of(operator, name, why):
    """A LinearOperator as a matrix: by products with all columns of the identity."""
    from scipy.sparse import csr_array, hstack

    n, dtype = operator.shape[1], np.float64 if operator.dtype is None else operator.dtype
    if n > _most_products:
        raise ValueError(f"{name} is a LinearOperator of {n} columns, and {why}: above {_most_products} give a matrix")
    blocks = []
    for first in range(0, n, 256):
        unit = np.zeros((n, min(256, n - first)), dtype=dtype)
        unit[np.arange(first, first + unit.shape[1]), np.arange(unit.shape[1])] = 1
        blocks.append(csr_array(operator.matmat(unit)))
    return csr_array(hstack(blocks, format="csr"))


def minus(a, sigma, m):
    """a - sigma m, both sparse, both dense, or a mixture; m None: the identity."""
    from scipy.sparse import identity

    a = a.astype(np.result_type(a.dtype, np.float64))
    if m is None:
        m = identity(a.shape[0], format="csr")
    if is_sparse(a) and is_sparse(m):
        return (a - sigma * m).tocsr()
    return (a.toarray() if is_sparse(a) else a) - sigma * (m.toarray() if is_sparse(m) else m)


def chosen(nu, k, which):
    """Positions of the k numbers that a word of `eigsh` chooses."""
    order = np.argsort(np.abs(nu) if which in ("LM", "SM") else nu, kind="stable")
    if which == "BE":
        return np.concatenate((order[:k // 2], order[len(order) - (k - k // 2):]))
    return order[:k] if which in ("SM", "SA") else order[max(0, len(order) - k):]


def by_cayley(solve, n, k, sigma, which):
    """Eigenvalues of `mode` 'cayley', ordered by w' = (w + sigma) / (w - sigma) = 1 + 2 sigma / (w - sigma).

    solve(k, which) finds eigenvalues beside sigma.
    """
    if sigma == 0:
        raise ValueError("mode='cayley' needs a sigma other than 0")
    if which in ("LA", "SA"):
        return solve(k, which if sigma > 0 else {"LA": "SA", "SA": "LA"}[which])
    if n <= whole:
        found = solve(n, "LM")
    elif which == "SM":
        raise ValueError(f"which='SM' of mode='cayley' is for matrices of up to {whole} rows")
    else:
        found = _both_sides(solve(2 * k, "BE"), 2 * k)
    w = on_host(found[0])
    return part_of(found, np.sort(chosen((w + sigma) / (w - sigma), k, which)))


def by_buckling(solve, n, k, sigma, which):
    """Eigenvalues of `mode` 'buckling', ordered by w' = w / (w - sigma); 1 / w are eigenvalues of M x = mu A x.

    solve(k, sigma, which) finds those beside a number.
    """
    if sigma == 0:
        raise ValueError("mode='buckling' needs a sigma other than 0")
    at = 1 / sigma
    if which in ("LA", "SA") and sigma > 0:
        which = {"LA": "SA", "SA": "LA"}[which]
    if which in ("LM", "SM", "LA", "SA"):
        found = solve(k, at, which)
    else:
        found = solve(n, at, "LM") if n <= whole else _both_sides(solve(k + k % 2, at, "BE"), k + k % 2)
        found = part_of(found, np.sort(chosen(-at / (on_host(found[0]) - at), k, which)))
    mu = on_host(found[0])
    with np.errstate(divide="ignore", invalid="ignore"):  # mu = 0 is an infinite eigenvalue
        for name, power in (("residuals", 1), ("error_bounds", 2)):
            setattr(found, name, getattr(found, name) / np.abs(mu)**power)
        w = 1 / found[0]
    attributes = dict(found.__dict__)
    return part_of(type(found)((w, *found[1:]), attributes), np.argsort(on_host(w), kind="stable"))


def _both_sides(found, count):
    if len(found[0]) < count:
        raise ValueError(f"fewer than {count // 2} eigenvalues lie on one side of sigma: mode='normal' finds those")
    return found


def part_of(found, numbers):
    """These pairs of a result."""
    attributes = dict(found.__dict__)
    for name in PER_PAIR:
        if name in attributes and len(attributes[name]) == len(found[0]):
            attributes[name] = attributes[name][numbers]
    if len(numbers) < len(found[0]):
        attributes["converged"] = attributes["converged"] or bool(np.all(attributes["converged_pairs"]))
    w = columns_of(found[0][None, :], numbers)[0]
    return type(found)((w, *(columns_of(v, numbers) for v in found[1:])), attributes)


def _solver(matrix):
    """f(x) = inv(matrix) @ x."""
    if not is_sparse(matrix):
        from scipy.linalg import lu_factor, lu_solve

        factors = lu_factor(matrix.astype(np.result_type(matrix.dtype, np.float64)))
        return lambda x: lu_solve(factors, x)
    from scipy.sparse.linalg import splu

    factors = splu(matrix.tocsc().astype(np.result_type(matrix.dtype, np.float64)))
    is_complex = matrix.dtype.kind == "c"

    def solve(x):
        if x.dtype.kind == "c" and not is_complex:
            return factors.solve(np.ascontiguousarray(x.real)) + 1j * factors.solve(np.ascontiguousarray(x.imag))
        return factors.solve(np.ascontiguousarray(x, dtype=np.complex128 if is_complex else np.float64))

    return solve


class GeneralPencil:
    """A x = lambda M x, neither of which need be Hermitian, as an operator whose eigenvalues are those asked for.

    Attributes
    ----------
    which : the word that chooses its eigenvalues
    is_complex : whether it is
    """

    def __init__(self, A, M, sigma, which, OPinv, Minv, OPpart):
        self.A, self.M = (None if x is None else x if is_operator(x) else on_host(adopted(x)) for x in (A, M))
        if not is_operator(self.A) and not is_sparse(self.A):
            self.A = np.asarray(self.A)
        if self.M is not None and tuple(self.M.shape) != tuple(self.A.shape):
            raise ValueError(f"wrong M dimensions {self.M.shape}, should be {self.A.shape}")
        self.sigma = None if sigma is None else complex(sigma)
        self.sigma = self.sigma.real if self.sigma is not None and self.sigma.imag == 0 else self.sigma
        self.which = which
        self.is_complex = any(x is not None and np.dtype(x.dtype).kind == "c" for x in (self.A, self.M))
        self.part = None
        if OPpart is not None:
            if OPpart not in ("r", "i") or sigma is None or self.is_complex:
                raise ValueError(f"OPpart={OPpart!r}: 'r' or 'i' go with a sigma and a real matrix")
            if OPpart == "i" and np.imag(sigma) == 0:
                raise ValueError("OPpart cannot be 'i' if sigma is real")
            self.part = (np.real if OPpart == "r" else np.imag) if np.imag(sigma) != 0 else None
        self._far = sigma is not None and which == "SM"  # the farthest from sigma
        if sigma is None or self._far:
            if self.part is not None:
                raise ValueError("which='SM' with OPpart is not supported")
            self.which = "LM" if sigma is not None else which
            self._inverse = self._products(Minv) if Minv is not None else self._inverse_of_mass()
        elif OPinv is not None:
            self._inverse = self._products(OPinv)
        else:
            why = "A - sigma M is factorised"
            a, m = (matrix_of(x, name, why) if x is not None and is_operator(x) else x
                    for x, name in ((self.A, "A"), (self.M, "M")))
            self._inverse = _solver(minus(a, self.sigma, m))
        self.is_complex = self.is_complex or (sigma is not None and np.imag(sigma) != 0 and self.part is None)

    def _products(self, operator):
        return operator.matmat if hasattr(operator, "matmat") else lambda x: operator @ x

    def _inverse_of_mass(self):
        if self.M is None:
            return lambda x: x
        return _solver(matrix_of(self.M, "M", "it is factorised") if is_operator(self.M) else self.M)

    def mass(self, x):
        """M x"""
        return x if self.M is None else self.M @ x

    def matmat(self, x):
        """The operator times a block."""
        if self.sigma is None:
            return self._inverse(self.A @ x)
        if self._far:
            return self._inverse(self.A @ x - self.sigma * self.mass(x))
        y = self._inverse(self.mass(x))
        return y if self.part is None else self.part(y)

    def values(self, nu, x):
        """Eigenvalues of the pencil from those of the operator and its eigenvectors."""
        if self.sigma is None:
            return nu
        if self.part is not None:
            return np.sum(x.conj() * (self.A @ x), axis=0) / np.sum(x.conj() * self.mass(x), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.sigma + nu if self._far else self.sigma + 1 / nu

    def residuals(self, w, x):
        """Norms of A x - lambda M x, and those over the norms of both, which the vectors show from below."""
        def norms(y):
            return np.linalg.norm(y, axis=0)

        ax, mx = self.A @ x, self.mass(x)
        found = norms(ax - mx * w)
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.max(norms(ax) / norms(x)) + np.abs(w) * np.max(norms(mx) / norms(x))
            return found, np.where(found > 0, found / (sizes * norms(x)), 0)
