"""The problems of floor_eigen.py: a matrix of floor_matrices.py, what is asked of it, and the answer."""
import collections
import json
import math
import os
import zlib

import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import campaign_verdicts as verdicts
from common import output_of
from eigen_bench import PETSc, SLEPc, petsc
from floor_matrices import FAMILIES

SMALL = 2500  # rows up to which LAPACK gives the answer
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
Request = collections.namedtuple("Request", "which k sigma ends", defaults=(None, None))


class Matrix:
    """A matrix of a family: its values, where they are known, or only its ends."""

    def __init__(self, o, name, size):
        self.kind, _, make = FAMILIES[name][:3]
        size, self.ends_only = size if isinstance(size, tuple) else (size, False)
        self.mass, self.allowed = None, None
        if isinstance(make, str):
            self.load(o, make, size)
        else:
            made = make(size, np.random.default_rng([zlib.crc32(name.encode()), size]))
            made = made if isinstance(made, tuple) else (made, None)
            self.a, self.values = made[0], made[-1]
            self.mass = made[1] if len(made) == 3 else None
        self.rows, self.small = self.a.shape[0], min(self.a.shape) <= (1200 if self.kind == "general" else SMALL)
        self.a, self.mass = (sp.csr_matrix(x) if sp.issparse(x) else x for x in (self.a, self.mass))
        for x in filter(sp.issparse, (self.a, self.mass)):
            x.sum_duplicates()  # and sort
        if self.values is None and not self.small:
            self.values = self.by_tridiagonal()
        if self.values is None and self.small:
            a, mass = self.dense(), None if self.mass is None else verdicts.dense(self.mass)
            self.values = (np.linalg.svd(a, compute_uv=False) if self.kind == "svd" else scipy.linalg.eigvals(a)
                           if self.kind == "general" else scipy.linalg.eigvalsh(a) if mass is None
                           else self.pencil_values(a, mass)[0])
        if self.values is not None:
            self.values = np.sort(self.values)
            self.low, self.high = self.values.real[0], self.values.real[-1]
            self.norm = abs(self.values).max()
        elif self.kind in ("hermitian", "pencil"):
            self.low, self.high = self.circles()
            self.norm = max(abs(self.low), abs(self.high))
        else:
            self.low, self.high, self.norm = 0, 1, sla.norm(self.a, 1) if sp.issparse(self.a) else 1

    def circles(self):
        """Bounds of all values by Gershgorin's circles; of a pencil about where they lie."""
        diagonal, mass = self.a.diagonal().real, 1.0 if self.mass is None else self.mass.diagonal()
        radius = np.asarray(abs(self.a).sum(1)).ravel() - abs(diagonal)
        at = np.flatnonzero(mass * np.ones(self.rows) > 0)
        return np.min(((diagonal - radius) / mass)[at]), np.max(((diagonal + radius) / mass)[at])

    def by_tridiagonal(self):
        """All values where A is tridiagonal, real and symmetric and M diagonal, by LAPACK, else None."""
        if self.kind not in ("hermitian", "pencil") or not sp.issparse(self.a) or np.iscomplexobj(self.a):
            return None
        a, mass = self.a.tocoo(), sp.identity(self.rows) if self.mass is None else self.mass
        if abs(a.row - a.col).max() > 1 or mass.nnz > self.rows or mass.diagonal().min() <= 0:
            return None
        scale = sp.diags(mass.diagonal() ** -0.5)
        a = scale @ self.a @ scale
        return scipy.linalg.eigvalsh_tridiagonal(a.diagonal(), a.diagonal(1), lapack_driver="sterf")

    def pencil_values(self, a, mass):
        """Of K x = lambda M x by LAPACK: where M is semidefinite and K definite, those that are finite."""
        if np.all(mass.diagonal() > 0):
            return scipy.linalg.eigh(a, mass)
        inverses, vectors = scipy.linalg.eigh(mass, a)
        finite = inverses > 1e-12 * inverses.max()
        return 1 / inverses[finite], vectors[:, finite]

    def load(self, o, make, size):
        path = os.path.join(DATA, make[5:]) if make.startswith("file") else os.path.join(o.folder, "made.h5")
        if not make.startswith("file"):
            output_of([f"{o.bin}/tsdata", "gen", *make.format(size, size, size).split(), "--full", "-q", "-o", path])
        with h5py.File(path) as file:
            read = [self.read(file[name]) for name in ("matrix", "K", "M") if name in file]
            self.values = next((file[name][:] for name in ("exact_eigenvalues", "exact_singular_values")
                                if name in file), None)
        self.a, self.mass = read if len(read) == 2 else (read[0], None)

    @staticmethod
    def read(group):
        if isinstance(group, h5py.Dataset):
            return group[:]
        told = json.loads(group.attrs["binsparse"])["binsparse"]
        values, cols = group["values"][:], group["indices_1"][:]
        values = values.view(np.complex128) if "complex" in told["data_types"]["values"] else values
        a = sp.csr_matrix((values, cols, group["pointers_to_1"][:]), told["shape"])
        return a + sp.tril(a, -1).conj().T if told.get("structure") else a

    def dense(self):
        return verdicts.dense(self.a)

    def requests(self, turn):
        """Of each size other ones: few and more values at either end, near a number inside, in an interval."""
        inside = self.low + (0.37, 0.21)[turn] * (self.high - self.low)
        if self.kind == "svd":
            return [Request("LM", (6, 20)[turn]), *([] if self.ends_only else [Request("SM", 4)])]
        if self.kind == "general":
            return [Request("LM", (6, 12)[turn]), Request("LR", 4), *([] if self.ends_only else [
                Request("SM", 6), Request("SM", (4, 10)[turn], float(f"{inside:.3g}"))])]
        semidefinite = self.mass is not None and np.any(self.mass.diagonal() == 0)
        ends = [Request("LA", (6, 12)[turn]), Request("SA", (6, 24)[turn]), Request("LM", 10) if turn else
                Request("BE", 8)]
        if self.ends_only:
            return ends
        found = [Request("SM", (6, 16)[turn]), Request("LM", (6, 20)[turn], float(f"{inside:.6g}"))]
        if self.values is not None:  # on a value itself, and beside it
            on = float(self.values[len(self.values) // 3])
            found.append(Request(("LM", "LA")[turn], 8, on if turn == 0 else on + 1e-9 * self.norm))
            levels = self.values[np.flatnonzero(np.diff(self.values) > 1e-7 * self.norm)]
            here = np.searchsorted(levels, inside)
            if 0 < here < len(levels) - 22:
                ends_of = [float(np.mean(self.values[np.searchsorted(self.values, levels[i], "right") + np.arange(
                    -1, 1)])) for i in (here, here + 20)]
                if np.sum((self.values > ends_of[0]) & (self.values < ends_of[1])) <= 300:
                    found.append(Request(None, None, None, tuple(ends_of)))
        return found if semidefinite else ends[:2 if self.kind == "pencil" else 3] + found


def text_of(r):
    if r.ends:
        return ["--interval={!r}:{!r}".format(*r.ends)]
    return ["-k", str(r.k), "--which", r.which] + ([] if r.sigma is None else [f"--sigma={r.sigma!r}"])


def inertia(m, x):
    """How many eigenvalues lie below x, by the signs of MUMPS's factors."""
    a = (m.a - x * (sp.identity(m.rows) if m.mass is None else m.mass)).tocsr()
    PETSc.Options()["mat_mumps_icntl_24"] = 1
    factors = PETSc.PC().create()
    factors.setOperators(petsc(a))
    factors.setType("cholesky")
    factors.setFactorSolverType("mumps")
    factors.setUp()
    return factors.getFactorMatrix().getInertia()[0]


def search(m, r, more, tol):
    """The values that are wanted, and more of them, by ARPACK."""
    if m.kind == "svd":
        return np.sort(sla.svds(m.a, r.k + more, which=r.which, return_singular_vectors=False, tol=tol))
    if m.kind == "general":
        return sla.eigs(m.a, r.k + more, which="LM" if r.which == "SM" else r.which, tol=tol, maxiter=3000,
                        sigma=(r.sigma or 0) if r.which == "SM" else None, return_eigenvectors=False)
    sigma = 0 if r.which == "SM" and r.sigma is None else r.sigma
    return np.sort(sla.eigsh(m.a, r.k + more, m.mass, which="LM" if r.which == "SM" else r.which, tol=tol,
                             sigma=sigma, maxiter=10000, return_eigenvectors=False))


def answer(m, r):
    """Some values around those wanted, where nothing else is known, or None."""
    found = search(m, r, r.k + 10, 1e-12)
    if m.kind in ("hermitian", "pencil") and SLEPc and not m.ends_only and not np.iscomplexobj(m.a):
        centre = {"SA": -math.inf, "LA": math.inf}.get(r.which, r.sigma or 0)
        keys = np.sort(found if r.which == "SA" else -found if r.which == "LA" else -abs(found) if r.which == "LM" and (
            r.sigma is None) else abs(found - centre))
        if r.which != "BE":
            at = r.k + int(np.argmax(np.diff(keys)[r.k - 1:]))
            gap = (keys[at - 1] + keys[at]) / 2
            below = (inertia(m, gap) if r.which == "SA" else m.rows - inertia(m, -gap) if r.which == "LA"
                     else m.rows - inertia(m, -gap) + inertia(m, gap) if r.which == "LM" and r.sigma is None
                     else inertia(m, centre + gap) - inertia(m, centre - gap))
            return found if below == at else None
    again = search(m, r, r.k + 14, 1e-12)
    p = problem(m, r, again)
    return None if verdicts.set_fault(p, chosen(p, found)) else again


def problem(m, r, values):
    """As campaign_verdicts.py judges it."""
    allowed = 1e-7 * abs(values) + 30 * verdicts.UNIT * math.sqrt(m.rows) * m.norm
    p = verdicts.Problem(m.kind, None, m.a, None, r.which, r.k, 1e-7, values, r.sigma, r.ends, m.mass, None, allowed)
    if m.kind == "general":
        if m.small and m.allowed is None:
            m.allowed = verdicts.allowance(p._replace(allowed=None))
        p = p._replace(allowed=m.allowed if m.small else np.full(len(values), 1e-6 * m.norm))
    return p


def chosen(p, values):
    """Of all values those that are wanted."""
    values = np.sort(np.asarray(values))
    if p.ends:
        return values[(values >= p.ends[0]) & (values <= p.ends[1])]
    return values[verdicts.wanted(p._replace(values=values))]
