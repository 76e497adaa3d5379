#!/usr/bin/env python3
"""tssolve beside SLEPc: the Laplacian of a cube of N^3 points, the K eigenvalues nearest to a shift, through an inverse
and with MUMPS, or with SA in place of a shift the K smallest, by products alone. Both are compared with the closed form
before times are; whole times without reading the file.

Needs python3-slepc4py and python3-h5py of Debian. Run as:
  inverse_peers.py BIN N SIGMA|SA K [THREADS]
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


def spectrum(n, sigma, k):
    line = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    values = np.add.outer(np.add.outer(line, line), line).ravel()
    distance = values if sigma == "SA" else abs(values - sigma)
    return np.sort(values[np.argsort(distance, kind="stable")[:k]])


def by_slepc(n, sigma, k):
    import slepc4py
    slepc4py.init([])
    from petsc4py import PETSc
    from slepc4py import SLEPc
    import scipy.sparse as sp
    line = sp.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
    eye = sp.identity(n)
    a = (sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye) + sp.kron(sp.kron(eye, eye), line)).tocsr()
    m = PETSc.Mat().createAIJ(a.shape, csr=(a.indptr, a.indices, a.data))
    m.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    start = time.perf_counter()
    eps = SLEPc.EPS().create()
    eps.setOperators(m)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
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


def by_tssolve(binaries, path, sigma, k, threads):
    where = ["--which", "SA"] if sigma == "SA" else ["--sigma", str(sigma)]
    command = [f"{binaries}/tssolve", path, *where, "--nev", str(k), "--json", "--threads", str(threads)]
    run = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(run.stdout)
    return found["elapsed_seconds"], np.sort(found["eigenvalues"]), found, run.returncode


def main():
    binaries, n, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[4])
    sigma = "SA" if sys.argv[3] == "SA" else float(sys.argv[3])
    threads = int(sys.argv[5]) if len(sys.argv) > 5 else os.cpu_count()
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    exact = spectrum(n, sigma, k)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/lap3d.h5"
        subprocess.run([f"{binaries}/tsdata", "gen", "lap3d", "--n", str(n), "--output", path],
                       check=True, capture_output=True)
        start = time.perf_counter()
        seconds, values, found, status = by_tssolve(binaries, path, sigma, k, threads)
        whole = time.perf_counter() - start
    peer, theirs = by_slepc(n, sigma, k)
    for name, t, v in (("tssolve", seconds, values), ("SLEPc" if sigma == "SA" else "SLEPc + MUMPS", peer, theirs)):
        right = len(v) == k and np.allclose(v, exact, atol=1e-7, rtol=0)
        print(f"{name:14} {t:8.2f} s  {'right' if right else 'WRONG'}  {len(v)} values")
    print(f"exit {status}, whole program {whole:.2f} s, {found['verification']}; {seconds / peer:.2f} of SLEPc's time")


main()
