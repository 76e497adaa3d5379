#!/usr/bin/env python3
"""tssolve beside other eigensolvers on the same matrix: eigen_bench.py COMMAND BIN [options]

BIN is the folder of tssolve. Answers are compared before times are, which leave reading out. Needs NumPy, SciPy and
h5py; SLEPc (python3-slepc4py) and PRIMME (primme of PyPI) are left out where they are not installed.
"""
import argparse
import glob
import math
import os
import sys
import tempfile

for package in ("petsc", "slepc"):
    sys.path[:0] = glob.glob(f"/usr/lib/{package}dir/*/*-real/lib/python3/dist-packages")[:1]

import h5py
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from campaign_matrices import grid, hypercube, laplacian, path
from common import NAN, Table, json_of, print_head, timed

try:
    import slepc4py
    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc
except ImportError:
    PETSc = SLEPc = None
try:
    import primme
except ImportError:
    primme = None


def line_values(n):
    return 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))


def cube_values(v):
    return np.add.outer(np.add.outer(v, v), v).ravel()


def ring(n):
    a = path(n).tolil()
    a[0, n - 1] = a[n - 1, 0] = -1
    return a.tocsr(), 2 - 2 * np.cos(2 * np.pi * np.arange(n) / n)


def cube(m):
    return grid(m), cube_values(line_values(m))


def copies(p, n):
    return sp.kron(sp.identity(p), path(n)).tocsr(), np.tile(line_values(n), p)


def cube_of_corners(d):
    return laplacian(hypercube(d)), np.concatenate([np.full(math.comb(d, k), 2.0 * k) for k in range(d + 1)])


def graphene(l):
    x, y = np.divmod(np.arange(l * l), l)
    first = 2 * (x * l + y)
    cols = [2 * ((x - dx) % l * l + (y - dy) % l) + 1 for dx, dy in ((0, 0), (1, 0), (0, 1))]
    half = sp.coo_matrix((-np.ones(3 * l * l), (np.tile(first, 3), np.concatenate(cols))), (2 * l * l,) * 2)
    k = np.exp(2j * np.pi * np.arange(l) / l)
    f = np.abs(1 + k[:, None] + k[None, :]).ravel()
    return (half + half.T).tocsr(), np.concatenate([f, -f])


def diagonal(values):
    return sp.diags(values).tocsr(), values


def save(path, matrix):
    """As a dataset, or as the arrays of SciPy's CSR matrix."""
    with h5py.File(path, "w") as file:
        if not sp.issparse(matrix):
            file["matrix"] = matrix
            return
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(matrix, name)
        file["matrix"].attrs["encoding-type"] = "csr_matrix"
        file["matrix"].attrs["shape"] = matrix.shape


def values_of(found):
    if "eigenvalues_real" in found:
        return np.array(found["eigenvalues_real"]) + 1j * np.array(found["eigenvalues_imag"])
    return np.array(found.get("singular_values", found.get("eigenvalues")))


def petsc(a):
    matrix = PETSc.Mat().createAIJ(a.shape, csr=(a.indptr, a.indices, a.data))
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return matrix


def near(eps, shift, ends=None, tol=1e-8):
    """The values nearest to a shift through MUMPS, or all in an interval by its counts."""
    eps.setTolerances(tol, 10000)
    eps.getST().setType("sinvert")
    solver = eps.getST().getKSP()
    solver.setType("preonly")
    solver.getPC().setType("cholesky")
    solver.getPC().setFactorSolverType("mumps")
    PETSc.Options().setValue("st_mat_mumps_icntl_24", 1)
    if ends:
        eps.setInterval(*ends)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.ALL)
    else:
        eps.setTarget(shift)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
    eps.setFromOptions()


def by_slepc(operators, k, set_up):
    """Seconds, and as many of k values as are found; set_up(eps) says what is wanted."""
    eps = SLEPc.EPS().create()
    eps.setOperators(*operators)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP if len(operators) > 1 else SLEPc.EPS.ProblemType.HEP)
    eps.setDimensions(k)
    set_up(eps)
    seconds, _ = timed(eps.solve)
    return seconds, [eps.getEigenvalue(i).real for i in range(min(eps.getConverged(), k))]


class Counted:
    """A matrix, and how many columns it was applied to."""

    def __init__(self, matrix):
        self.matrix, self.columns = matrix, 0

    def product(self, x):
        self.columns += x.shape[1] if x.ndim == 2 else 1
        return self.matrix @ x

    def mult(self, _, x, y):  # what PETSc calls
        y.setArray(self.product(x.getArray(readonly=1)))

    def norm(self, *_):
        return float(abs(self.matrix).sum(1).max())

    def operator(self):
        return sla.LinearOperator(self.matrix.shape, matvec=self.product, matmat=self.product, dtype=float)


def from_tssolve(method):
    def solve(o, file, _, k, which, tol, seed):
        found = json_of([f"{o.bin}/tssolve", file, "-k", k, "--which", which, "--tol", tol, "--seed", seed, "--method",
                         method])
        return found["eigenvalues"], found["operator_applications"], found["converged"], found["elapsed_seconds"]
    return solve


def from_function(search, failure):
    """search(operator, k, which, tol, start) gives values or throws what `failure` names."""
    def solve(_, __, matrix, k, which, tol, seed):
        counted, start = Counted(matrix), np.random.RandomState(seed)

        def work():
            try:
                return search(counted.operator(), k, which, tol, start)
            except failure:
                return None
        seconds, values = timed(work)
        return [] if values is None else values, counted.columns, values is not None, seconds
    return solve


def arpack(a, k, which, tol, start):
    return sla.eigsh(a, k, which=which, tol=tol, maxiter=20000, v0=start.standard_normal(a.shape[0]))[0]


def primme_8(a, k, which, tol, start):
    return primme.eigsh(a, k, which=which, tol=tol, maxBlockSize=8, return_eigenvectors=False,
                        v0=start.standard_normal((a.shape[0], 8)))


def from_slepc(_, __, matrix, k, which, tol, seed):
    counted, n = Counted(matrix), matrix.shape[0]
    a = PETSc.Mat().createPython((n, n), counted)
    a.setUp()

    def set_up(eps):
        eps.setWhichEigenpairs(getattr(SLEPc.EPS.Which, {"SA": "SMALLEST_REAL", "LA": "LARGEST_REAL"}[which]))
        eps.setTolerances(tol, 3000)
        eps.setConvergenceTest(SLEPc.EPS.Conv.NORM)
        v = a.createVecRight()
        v.setArray(np.random.RandomState(seed).standard_normal(n))
        eps.setInitialSpace(v)
    seconds, values = by_slepc([a], k, set_up)
    return values, counted.columns, len(values) == k, seconds


def degenerate(o):
    """sets of repeated eigenvalues, from --seeds starts each. Right: the solver says that it is done, and the values
    are those of the closed form; wrong: it says so, and they are not; open: it does not say so. Columns are those that
    the matrix, or for tssolve where it chose so its inverse, was applied to. PRIMME has tssolve's block, 8"""
    problems = [("ring(1000)", ring(1000), 10, "LA"), ("lap3d 20^3", cube(20), 20, "SA"),
                ("8 x lap1d(100)", copies(8, 100), 16, "SA"), ("hypercube(11)", cube_of_corners(11), 12, "SA"),
                ("graphene 24x24", graphene(24), 13, "LA"),
                ("diag, 3 eight times", diagonal(np.append(np.linspace(1, 2, 1992), 8 * [3.0])), 8, "LA")]
    solvers = [("tssolve", from_tssolve("auto")), ("tssolve --method lanczos", from_tssolve("lanczos")),
               ("ARPACK (SciPy)", from_function(arpack, sla.ArpackNoConvergence))]
    solvers += [("SLEPc Krylov-Schur", from_slepc)] if SLEPc else []
    solvers += [("PRIMME, block 8", from_function(primme_8, primme.PrimmeError))] if primme else []
    table = Table("problem:<20", "wanted:<7", "tol:6.0e", "solver:<25", "right:5", "wrong:5", "open:5", "columns:8",
                  "seconds:8.3f")
    for name, (matrix, exact), k, which in problems:
        file = os.path.join(o.folder, "matrix.h5")
        save(file, matrix)
        wanted = np.sort(exact)[:k] if which == "SA" else np.sort(exact)[-k:]
        for tol in (1e-6, 1e-10):
            allowed = max(1e-5, 100 * tol) * max(1, abs(wanted).max())
            for solver, solve in solvers:
                runs = [solve(o, file, matrix, k, which, tol, seed) for seed in range(o.seeds)]
                verdicts = [2 if not done else 0 if len(values) == k and np.allclose(
                    np.sort(values), wanted, rtol=0, atol=allowed) else 1 for values, _, done, _ in runs]
                table.row(name, f"{which} {k}", tol, solver, *(verdicts.count(v) for v in range(3)),
                          int(np.median([run[1] for run in runs])), np.median([run[3] for run in runs]))


def hermitian(rng, n, imaginary=0):
    a = rng.standard_normal((n, n))
    a = a + imaginary * rng.standard_normal((n, n)) if imaginary else a
    return (a + a.conj().T) / 2


def components(x, k):
    from sklearn.decomposition import PCA
    return PCA(k, svd_solver="covariance_eigh").fit(x).singular_values_


def dense_cases(n):
    """Name, matrix, options of tssolve, peer."""
    rng, dense_method = np.random.default_rng(20), ["--method", "dense"]
    def most(k):
        return lambda a: np.linalg.eigh(a)[0][::-1][:k]
    for m in sorted({n // 8, n // 4, n // 2, n}):
        a = hermitian(rng, m)
        for k in sorted({3, m // 8, 3 * m // 4, m}):
            yield f"symmetric {m}, {k} largest", a, ["--which", "LA", "-k", k, *dense_method], most(k) if k > m // 8 \
                else lambda a, m=m, k=k: scipy.linalg.eigh(a, subset_by_index=[m - k, m - 1])[0][::-1]
    m = n // 2
    yield f"Hermitian {m}, all", hermitian(rng, m, 1j), ["--which", "LA", "-k", m, *dense_method], most(m)
    a = rng.standard_normal((m, m))
    yield f"general {m}, 4", a, ["--general", "-k", 4, *dense_method], lambda a: sorted(np.linalg.eig(a)[0],
                                                                                        key=lambda x: -abs(x))[:4]
    a = a[:600, :600]
    yield f"general {len(a)}, all", a, ["--general", "-k", len(a), *dense_method], lambda a: np.linalg.eig(a)[0]
    b = rng.standard_normal((2 * m, m))
    for k in (3, m):
        yield f"singular values {2 * m} x {m}, {k}", b, ["--svd", "-k", k], (
            lambda b, k=k: np.linalg.svd(b, full_matrices=False)[1][:k])
    x = rng.standard_normal((100 * n, 512), dtype=np.float32) * np.linspace(3, 1, 512, dtype=np.float32)
    yield f"components {100 * n} x 512 float32, 10", x, ["--svd", "--centre", "-k", 10], lambda x: components(x, 10)


def difference(ours, theirs):
    if len(ours) != len(theirs):  # tssolve does not part the two of a conjugate pair
        return NAN
    order = (lambda v: np.lexsort((np.imag(v), np.round(np.real(v), 8))))
    return np.abs(ours[order(ours)] - theirs[order(theirs)]).max()


def dense(o):
    """beside LAPACK (NumPy, SciPy) and scikit-learn, in turns; with --devices beside tssolve on a GPU (cuSOLVER). The
    difference of values and the largest residual that tssolve tells are shares of the norm"""
    table = Table("problem:<40", "tssolve:9.3f", "peer:9.3f", "ratio:6.2f", "off:9.1e", "residual:9.1e", "converged:9")
    for name, matrix, options, peer in dense_cases(o.rows):
        if o.only not in name:
            continue
        file = os.path.join(o.folder, "a.h5")
        save(file, matrix)
        command, ours, theirs = [f"{o.bin}/tssolve", file, *options, "--threads", o.threads], [], []
        for _ in range(o.turns):
            found = json_of(command)
            ours.append(found["elapsed_seconds"])
            if o.devices:
                there = json_of([*command, "--device", "cuda"])
                seconds, expected = there["elapsed_seconds"], values_of(there)
            else:
                seconds, expected = timed(lambda: peer(matrix))
            theirs.append(seconds)
        expected = np.asarray(expected)
        norm = float(np.abs(expected).max())
        table.row(name, min(ours), min(theirs), min(ours) / min(theirs), difference(values_of(found), expected) / norm,
                  max(found["residual_norms"]) / norm, str(found["converged"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (degenerate, dense):
        word = words.add_parser(command.__name__, help=command.__doc__, description=command.__doc__)
        word.add_argument("bin", help="the folder of tssolve")
        if command is degenerate:
            word.add_argument("--seeds", type=int, default=10)
        else:
            word.add_argument("--threads", type=int, default=os.cpu_count())
        if command is dense:
            word.add_argument("--devices", action="store_true", help="beside tssolve --device cuda")
            word.add_argument("--only", default="", help="problems with this text in their names")
            word.add_argument("--rows", type=int, default=2000)
            word.add_argument("--turns", type=int, default=3)
        word.set_defaults(command=command)
    o = parser.parse_args()
    print_head()
    with tempfile.TemporaryDirectory() as o.folder:
        o.command(o)


if __name__ == "__main__":
    main()
