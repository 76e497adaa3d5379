"""What is wrong about an answer to a problem: a text of each function, empty for nothing."""
import collections
import math

import h5py
import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

UNIT = 2.0**-53
NOT_HERMITIAN = ("general", "svd")

# `values` are all eigenvalues, or those near what is wanted; `allowed` says how far each may be off, where it is not
# the tolerance times the norm.
Problem = collections.namedtuple(
    "Problem", "kind family matrix options which k tol values sigma ends mass count allowed", defaults=(None,) * 3)
# Order of eigenvalues of general matrices, by --which.
KEYS = {"LM": abs, "LR": np.real, "SR": lambda z: -np.real(z), "LI": lambda z: abs(np.imag(z)), "SM": lambda z: -abs(z)}


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def as_solved(kind, matrix):
    """In float64, and the Hermitian part of what is Hermitian to rounding."""
    a = dense(matrix)
    a = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    return a if kind in NOT_HERMITIAN else (a + a.conj().T) / 2


def asymmetry(p):
    """How far what was stored is from its Hermitian part, in the 2-norm."""
    a = dense(p.matrix)
    if p.kind in NOT_HERMITIAN or a.dtype != np.float32:
        return 0.0
    return float(np.linalg.norm(a.astype(float) - as_solved(p.kind, a), 2))


def wanted(p):
    """Indices into p.values of a right answer; where values tie, any choice has the same keys."""
    v, k = p.values, p.k
    if p.kind == "general":
        return np.argsort(-KEYS[p.which](v - (p.sigma or 0)), kind="stable")[:k]
    if p.kind == "svd":
        return np.argsort(-v if p.which == "LM" else v)[:k]
    if p.sigma is not None:
        above, below = v[v >= p.sigma], v[v < p.sigma]
        if p.which in ("LM", "SM"):
            return np.argsort(abs(v - p.sigma))[:k]
        if p.which == "LA":
            return len(below) + np.arange(min(k, len(above)))
        if p.which == "SA":
            return np.arange(max(0, len(below) - k), len(below))
        return None
    if p.which == "BE":
        high = (k + 1) // 2
        return np.concatenate([np.arange(k - high), np.arange(len(v) - high, len(v))])
    return np.argsort({"LA": -v, "SA": v, "LM": -abs(v), "SM": abs(v)}[p.which])[:k]


def allowance(p):
    """How far a computed eigenvalue may be from LAPACK's: the tolerance and the rounding of both."""
    if p.allowed is not None:
        return p.allowed
    a = as_solved(p.kind, p.matrix)
    n, norm = max(a.shape), np.linalg.norm(a, 2) if a.size else 0.0
    if p.mass is not None:
        norm = abs(p.values).max(initial=0)
    error = (p.tol + 50 * n * UNIT) * norm + asymmetry(p) + 1e-300
    if p.kind == "general":  # Bauer and Fike, a condition for each value
        same, left, right = scipy.linalg.eig(a, left=True)
        # Its order is that of p.values up to rounding: match them once.
        _, order = scipy.optimize.linear_sum_assignment(abs(p.values[:, None] - same[None, :]))
        return (error / np.maximum(abs(np.einsum("ij,ij->j", left.conj(), right)), 1e-9))[order]
    return np.full(len(p.values), error)


def matched(found, values, allowed):
    """Does each value found have a value of LAPACK of its own, within what is allowed?"""
    if len(found) == 0:
        return True
    found = np.asarray(found)
    if np.isrealobj(found) and len(values) > 5000:
        near = (values >= found.min() - 2 * allowed) & (values <= found.max() + 2 * allowed)
        values, allowed = values[near], allowed[near]
    if len(found) > len(values):
        return False
    distance = abs(found[:, None] - values[None, :]) / allowed[None, :]
    cost = np.minimum(distance, 1e6)
    rows, cols = scipy.optimize.linear_sum_assignment(np.where(cost <= 1, 0.0, cost))
    return bool(np.all(distance[rows, cols] <= 1)) and len(rows) == len(found)


def set_fault(p, found):
    """Why the set is not the one that was asked for; an empty text if it is."""
    allowed = allowance(p)
    if not np.all(np.isfinite(found)):
        return "a value is not a number"
    if not matched(found, p.values, allowed):
        return "a value is none of LAPACK's, or told too often"
    v, slack = p.values, allowed.max()
    if p.count is not None and len(found) != p.count:
        return f"{len(found)} values, {p.count} by the signs of factorisations"
    if p.ends:
        low, high = p.ends
        sure = int(np.sum((v > low + 2 * allowed) & (v < high - 2 * allowed)))
        possible = int(np.sum((v >= low - 2 * allowed) & (v <= high + 2 * allowed)))
        return "" if sure <= len(found) <= possible else f"{len(found)} values, {sure} to {possible} wanted"
    if p.sigma is not None and p.which in ("LA", "SA", "BE"):
        below = np.sort(p.sigma - v[v < p.sigma + 2 * slack])
        above = np.sort(v[v > p.sigma - 2 * slack] - p.sigma)
        sides = {"LA": (0, p.k), "SA": (p.k, 0)}.get(p.which)
        if sides is None:  # half from each side, and no more from one where the other is short
            least = min(p.k // 2, int(np.sum(below > 2 * slack))) + min(
                p.k - p.k // 2, int(np.sum(above > 2 * slack)))
            if len(found) < least:
                return f"{len(found)} values, {least} wanted"
            for mine, side in ((np.sort((p.sigma - found)[found < p.sigma - 2 * slack]), below),
                               (np.sort((found - p.sigma)[found > p.sigma + 2 * slack]), above)):
                if np.any(mine > side[side > 2 * slack][: len(mine)] + 2 * slack):
                    return "a nearer value is missing"
            return ""
        mine = np.sort(p.sigma - found) if p.which == "SA" else np.sort(found - p.sigma)
        side = below if p.which == "SA" else above
        least = int(np.sum(side > 2 * slack))
        if len(mine) < min(p.k, least) or np.any(mine < -2 * slack):
            return f"{len(mine)} values, {min(p.k, least)} wanted on that side"
        beyond = side[side > 2 * slack]
        far = mine[mine > 2 * slack]
        return "" if np.all(far <= beyond[: len(far)] + 2 * slack) else "a nearer value is missing"
    index = wanted(p)
    if len(found) < len(index):
        return f"{len(found)} of {len(index)} values"
    if p.kind == "general":
        # A pair of a real matrix may bring one more. Keys decide: values with equal ones may stand for each other.
        key = KEYS[p.which]
        mine, best = (-np.sort(-key(np.asarray(x) - (p.sigma or 0))) for x in (found, v))
        slack = allowed[index].max()
        return "" if np.all(mine[: len(index)] >= best[: len(index)] - 2 * slack) else "a value is missing"
    key = abs if p.which in ("LM", "SM") and p.sigma is None else lambda x: x
    if p.sigma is not None:
        key = lambda x: abs(x - p.sigma)  # noqa: E731
    index = index[np.argsort(key(v[index]))]
    mine, best = np.sort(key(np.asarray(found)[: len(index)])), key(v[index])
    return "" if np.all(abs(mine - best) <= 2 * allowed[index]) else "a value is missing"


def residual_fault(p, file, told):
    """A residual that is smaller than the true one, computed in extended precision."""
    with h5py.File(file) as out:
        if "eigenvectors" not in out:
            return ""
        vectors, values = out["eigenvectors"][...], out["eigenvalues"][...].ravel()
    a = as_solved(p.kind, p.matrix).astype(np.clongdouble if np.iscomplexobj(vectors) else np.longdouble)
    v = vectors.astype(a.dtype)
    norms = np.sqrt(np.sum(abs(v) ** 2, axis=0))
    true = np.sqrt(np.sum(abs(a @ v - v * values) ** 2, axis=0)) / norms
    norm = float(np.sqrt(np.sum(abs(a) ** 2)))
    low = np.asarray(told["residual_norms"]) * 1.01 + 4 * UNIT * norm
    worst = np.argmax(true - low)
    if true[worst] > low[worst]:
        return f"residual {float(true[worst]):.3g}, told {told['residual_norms'][worst]:.3g}"
    return ""


def vector_fault(p, file):
    """A vector that is farther off than told, from the space of all eigenvectors whose values are not apart."""
    with h5py.File(file) as out:
        if "eigenvectors" not in out or p.kind == "general":
            return ""
        names = ("eigenvectors", "eigenvalues", "vector_errors", "residual_norms")
        vectors, values, told, residuals = (out[name][...] for name in names)
    exact, basis = np.linalg.eigh(as_solved(p.kind, p.matrix))
    scale = max(float(abs(exact).max(initial=0)), 1e-300)
    unit = 50 * len(exact) * UNIT * scale
    for j in np.flatnonzero(np.isfinite(told)):
        nearest = exact[np.argmin(abs(exact - values[j]))]
        # Values that residuals do not tell apart count as one.
        same = abs(exact - nearest) <= 1e-10 * scale + 8 * abs(nearest - values[j]) + 2 * residuals[j]
        away = float(np.min(abs(exact[~same] - values[j]), initial=math.inf))
        sine = np.linalg.norm(basis[:, ~same].conj().T @ vectors[:, j]) / np.linalg.norm(vectors[:, j])
        if sine > told[j] + unit / away:
            return f"vector {j} is off by {sine:.3g}, told {told[j]:.3g}"
    return ""


def statement_fault(p, found, told):
    """A bound that is too small, a multiplicity that is another, or a gap that is not there."""
    scale = max(float(abs(p.values).max(initial=0)), 1e-300)
    unit = 50 * len(p.values) * UNIT * scale + asymmetry(p)
    for value, bound in zip(found, told["error_bounds"]):
        if bound is not None and np.min(abs(p.values - value)) > bound + unit:
            return f"the error of {value:.17g} is told as {bound:.3g}"
    rising = np.sort(found)
    ends = rising[:1], rising[-1:]
    if p.which == "BE" and p.sigma is None:
        ends = rising[p.k // 2 - 1:p.k // 2 + 1]
    elif p.which in ("LM", "SM") and p.sigma is None and len(found) > 0:
        last = (np.min if p.which == "LM" else np.max)(abs(rising))
        ends = np.array([-last, last])
    for value, copies in zip(found, told["multiplicities"]):
        same = int(np.sum(abs(p.values - value) <= unit))
        apart = int(np.sum(abs(p.values - value) <= 1e-6 * scale))
        cut = told["cut_off"] > 0 and np.any(abs(value - np.ravel(ends)) <= 1e-6 * scale)
        if same == apart and (copies > same or (copies < same and not cut)):
            return f"{value:.17g} has {same} copies, told {copies}, cut_off {told['cut_off']}"
    if told.get("gap") and len(found) > 0 and p.which in ("LA", "SA") and p.sigma is None:
        others = np.sort(p.values)[:-len(found)] if p.which == "LA" else np.sort(p.values)[len(found):]
        true = np.min(abs(others[:, None] - found[None, :]), initial=math.inf)
        if told["gap"] > 2 * true + 2 * unit:
            return f"a gap of {told['gap']:.3g} is told, it is {true:.3g}"
    return ""
