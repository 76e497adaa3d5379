#!/usr/bin/env python3
"""tssolve beside SLEPc: the Laplacian of a cube of N^3 points, the K eigenvalues nearest to a shift, through an inverse
and with MUMPS, or with SA in place of a shift the K smallest, by products alone. Both are compared with the closed form
before times are; whole times without reading the file. With `pencil`, vibrations of the cube by trilinear elements,
K x = lambda M x with 27 entries a row in both, in place of the Laplacian.

Needs python3-slepc4py, python3-scipy and python3-h5py of Debian. Run as:
  inverse_peers.py BIN N SIGMA|SA K [THREADS [pencil]]
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

folders = glob.glob("/usr/lib/slepcdir/*/*-real/lib/python3/dist-packages")
folders += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")
sys.path[:0] = folders

import numpy as np


def spectrum(n, sigma, k, pencil):
    cosine = np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    line = 2 - 2 * cosine
    if pencil:
        line = line * 6 * (n + 1) ** 2 / (4 + 2 * cosine)
    values = np.add.outer(np.add.outer(line, line), line).ravel()
    distance = values if sigma == "SA" else abs(values - sigma)
    return np.sort(values[np.argsort(distance, kind="stable")[:k]])


def matrices(n, pencil):
    """A, and M of a pencil. Sums over the three directions of A of one direction times M or I of the others."""
    import scipy.sparse as sp
    line, eye = sp.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n)), sp.identity(n)
    if pencil:
        line, eye = line * (n + 1), sp.diags([1, 4, 1], [-1, 0, 1], shape=(n, n)) / (6 * (n + 1))
    a = sum(sp.kron(sp.kron(x, y), z) for x, y, z in ((line, eye, eye), (eye, line, eye), (eye, eye, line)))
    return [a.tocsr()] + ([sp.kron(sp.kron(eye, eye), eye).tocsr()] if pencil else [])


def by_slepc(n, sigma, k, pencil):
    import slepc4py
    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc
    operators = []
    for a in matrices(n, pencil):
        operators.append(PETSc.Mat().createAIJ(a.shape, csr=(a.indptr, a.indices, a.data)))
        operators[-1].setOption(PETSc.Mat.Option.SYMMETRIC, True)
    start = time.perf_counter()
    eps = SLEPc.EPS().create()
    eps.setOperators(*operators)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP if pencil else SLEPc.EPS.ProblemType.HEP)
    eps.setDimensions(k)
    if sigma == "SA":
        eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
        eps.setTolerances(1e-8, 100000)
    else:
        eps.setTarget(sigma)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
        st = eps.getST()
        st.setType("sinvert")
        ksp = st.getKSP()
        ksp.setType("preonly")
        ksp.getPC().setType("cholesky")
        ksp.getPC().setFactorSolverType("mumps")
    eps.solve()
    values = np.sort([eps.getEigenvalue(i).real for i in range(min(k, eps.getConverged()))])
    return time.perf_counter() - start, values


def save(path, matrix):
    """As the arrays of SciPy's CSR matrix."""
    import h5py
    with h5py.File(path, "w") as file:
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(matrix, name)
        file["matrix"].attrs["encoding-type"] = "csr_matrix"
        file["matrix"].attrs["shape"] = matrix.shape


def by_tssolve(binaries, paths, sigma, k, threads):
    where = ["--which", "SA"] if sigma == "SA" else ["--sigma", str(sigma)]
    mass = ["--mass", paths[1]] if len(paths) > 1 else []
    command = [f"{binaries}/tssolve", paths[0], *mass, *where, "--nev", str(k), "--json", "--threads", str(threads)]
    run = subprocess.run(command, capture_output=True, text=True)
    if not run.stdout:
        sys.exit(run.stderr)
    found = json.loads(run.stdout)
    return found["elapsed_seconds"], np.sort(found["eigenvalues"]), found, run.returncode


def main():
    binaries, n, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[4])
    sigma = "SA" if sys.argv[3] == "SA" else float(sys.argv[3])
    threads = int(sys.argv[5]) if len(sys.argv) > 5 else os.cpu_count()
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    pencil = "pencil" in sys.argv[6:]
    exact = spectrum(n, sigma, k, pencil)
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}.h5" for name in ("a", "m")[:1 + pencil]]
        for path, matrix in zip(paths, matrices(n, pencil)):
            save(path, matrix)
        start = time.perf_counter()
        seconds, values, found, status = by_tssolve(binaries, paths, sigma, k, threads)
        whole = time.perf_counter() - start
    peer, theirs = by_slepc(n, sigma, k, pencil)
    for name, t, v in (("tssolve", seconds, values), ("SLEPc" if sigma == "SA" else "SLEPc + MUMPS", peer, theirs)):
        right = len(v) == k and np.allclose(v, exact, atol=1e-7, rtol=1e-8 if pencil else 0)
        print(f"{name:14} {t:8.2f} s  {'right' if right else 'WRONG'}  {len(v)} values")
    print(f"exit {status}, whole program {whole:.2f} s, {found['verification']}; {seconds / peer:.2f} of SLEPc's time")


main()
