#!/usr/bin/env python3
"""Right or wrong: tssolve beside ARPACK (SciPy), SLEPc and PRIMME on matrices with repeated eigenvalues.

Every solver gets the same matrix, the number of eigenvalues, the end of the spectrum and a tolerance, and
starts from ten different seeds. `right`: it says that it is done and the multiset of eigenvalues is that of
the closed form; `wrong`: it says that it is done and it is not; `open`: it says that it is not done.

usage: degenerate.py TSSOLVE [seeds]         needs python3-scipy; python3-slepc4py for SLEPc, primme
                                              (PyPI) for PRIMME

`columns` are those that the matrix, or for tssolve where it chose so its inverse, was applied to. PRIMME runs with
blocks of 8, the block of tssolve.
"""
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as sla

try:
    import slepc4py

    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc
except ImportError:
    SLEPc = None

try:
    import primme
except ImportError:
    primme = None


def line(n):
    return sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1], format="csr")


def line_values(n):
    return 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))


def ring(n):
    a = line(n).tolil()
    a[0, n - 1] = a[n - 1, 0] = -1
    return a.tocsr(), 2 - 2 * np.cos(2 * np.pi * np.arange(n) / n)


def cube(m):
    a, i, v = line(m), sp.identity(m), line_values(m)
    matrix = sp.kron(sp.kron(a, i), i) + sp.kron(sp.kron(i, a), i) + sp.kron(sp.kron(i, i), a)
    return matrix.tocsr(), np.add.outer(np.add.outer(v, v), v).ravel()


def copies(p, n):
    return sp.kron(sp.identity(p), line(n)).tocsr(), np.tile(line_values(n), p)


def hypercube(d):
    corners = np.arange(2**d)
    rows = np.concatenate([corners] * d)
    cols = np.concatenate([corners ^ (1 << bit) for bit in range(d)])
    adjacency = sp.coo_matrix((np.ones(len(rows)), (rows, cols))).tocsr()
    values = np.concatenate([np.full(math.comb(d, k), 2.0 * k) for k in range(d + 1)])
    return (d * sp.identity(2**d) - adjacency).tocsr(), values


def graphene(l):
    x, y = np.divmod(np.arange(l * l), l)
    first = 2 * (x * l + y)
    cols = [2 * ((x - dx) % l * l + (y - dy) % l) + 1 for dx, dy in ((0, 0), (1, 0), (0, 1))]
    half = sp.coo_matrix((-np.ones(3 * l * l), (np.tile(first, 3), np.concatenate(cols))), (2 * l * l,) * 2)
    k = np.exp(2j * np.pi * np.arange(l) / l)
    f = np.abs(1 + k[:, None] + k[None, :]).ravel()
    return (half + half.T).tocsr(), np.concatenate([f, -f])


def clusters(n, m):
    values = np.concatenate([np.linspace(1, 2, n - m), np.full(m, 3.0)])
    return sp.diags(values).tocsr(), values


PROBLEMS = [
    ("ring(1000)", ring(1000), 10, "LA"),
    ("lap3d 20^3", cube(20), 20, "SA"),
    ("8 x lap1d(100)", copies(8, 100), 16, "SA"),
    ("hypercube(11)", hypercube(11), 12, "SA"),
    ("graphene 24x24", graphene(24), 13, "LA"),
    ("diag, 3 eight times", clusters(2000, 8), 8, "LA"),
]


def solve_tssolve(file, matrix, k, which, tol, seed, method="auto"):
    run = subprocess.run([sys.argv[1], file, "-k", str(k), "--which", which, "--tol", str(tol), "--seed", str(seed),
                          "--method", method, "--json", "--quiet"], capture_output=True, text=True)
    result = json.loads(run.stdout)
    return result["eigenvalues"], result["operator_applications"], run.returncode == 0, result["elapsed_seconds"]


def solve_lanczos(file, matrix, k, which, tol, seed):
    return solve_tssolve(file, matrix, k, which, tol, seed, "lanczos")


class Counted:
    def __init__(self, matrix):
        self.matrix, self.columns = matrix, 0

    def product(self, x):
        self.columns += 1
        return self.matrix @ x

    def mult(self, _, x, y):  # what PETSc calls
        y.setArray(self.product(x.getArray(readonly=1)))

    def norm(self, *_):
        return float(abs(self.matrix).sum(1).max())


def solve_arpack(file, matrix, k, which, tol, seed):
    counted, n = Counted(matrix), matrix.shape[0]
    operator = sla.LinearOperator(matrix.shape, matvec=counted.product, dtype=float)
    start = time.perf_counter()
    try:
        values = sla.eigsh(operator, k, which=which, tol=tol, maxiter=20000,
                           v0=np.random.RandomState(seed).standard_normal(n))[0]
        done = True
    except sla.ArpackNoConvergence:
        values, done = [], False
    return values, counted.columns, done, time.perf_counter() - start


def solve_slepc(file, matrix, k, which, tol, seed):
    counted, n = Counted(matrix), matrix.shape[0]
    a = PETSc.Mat().createPython((n, n), counted)
    a.setUp()
    solver = SLEPc.EPS().create()
    solver.setOperators(a)
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setWhichEigenpairs(getattr(SLEPc.EPS.Which, {"SA": "SMALLEST_REAL", "LA": "LARGEST_REAL"}[which]))
    solver.setDimensions(k)
    solver.setTolerances(tol, 3000)
    solver.setConvergenceTest(SLEPc.EPS.Conv.NORM)
    v = a.createVecRight()
    v.setArray(np.random.RandomState(seed).standard_normal(n))
    solver.setInitialSpace(v)
    start = time.perf_counter()
    solver.solve()
    seconds = time.perf_counter() - start
    found = min(solver.getConverged(), k)
    values = [solver.getEigenvalue(i).real for i in range(found)]
    return values, counted.columns, found == k, seconds


def solve_primme(file, matrix, k, which, tol, seed):
    columns = [0]

    def block(x):
        columns[0] += x.shape[1] if x.ndim == 2 else 1
        return matrix @ x

    operator = sla.LinearOperator(matrix.shape, matvec=block, matmat=block, dtype=float)
    start = time.perf_counter()
    try:
        values = primme.eigsh(operator, k, which=which, tol=tol, maxBlockSize=8, return_eigenvectors=False,
                              v0=np.random.RandomState(seed).standard_normal((matrix.shape[0], 8)))
        done = True
    except primme.PrimmeError:
        values, done = [], False
    return values, columns[0], done, time.perf_counter() - start


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    solvers = [("tssolve", solve_tssolve), ("tssolve --method lanczos", solve_lanczos),
               ("ARPACK (SciPy)", solve_arpack)]
    if SLEPc:
        solvers.append(("SLEPc Krylov-Schur", solve_slepc))
    if primme:
        solvers.append(("PRIMME, block 8", solve_primme))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")),
               platform.machine())
    print(f"{time.strftime('%Y-%m-%d')}, commit {commit}, {os.cpu_count()} cores of {cpu}, {seeds} seeds\n")
    print("| problem | wanted | tol | solver | right | wrong | open | columns | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (matrix, exact), k, which in PROBLEMS:
            file = os.path.join(folder, "matrix.mtx")
            scipy.io.mmwrite(file, matrix, symmetry="symmetric")
            ordered = np.sort(exact)
            wanted = ordered[:k] if which == "SA" else ordered[-k:]
            for tol in (1e-6, 1e-10):
                allowed = max(1e-5, 100 * tol) * max(1, abs(wanted).max())
                for solver, solve in solvers:
                    verdict, columns, seconds = [0, 0, 0], [], []
                    for seed in range(seeds):
                        values, used, done, took = solve(file, matrix, k, which, tol, seed)
                        good = len(values) == k and np.allclose(np.sort(values), wanted, rtol=0, atol=allowed)
                        verdict[2 if not done else 0 if good else 1] += 1
                        columns.append(used)
                        seconds.append(took)
                    print(f"| {name} | {which} {k} | {tol:.0e} | {solver} | {verdict[0]} | {verdict[1]} | {verdict[2]} "
                          f"| {int(np.median(columns))} | {np.median(seconds):.3f} |", flush=True)


if __name__ == "__main__":
    main()
