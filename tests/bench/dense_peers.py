#!/usr/bin/env python3
"""Dense problems: tssolve beside LAPACK (NumPy, SciPy) and scikit-learn on the same matrix, in turns; with --devices
beside itself on a GPU (cuSOLVER).

Each line: the least compute time of tssolve (without reading, and without the start of the GPU) and of the peer, their
ratio, the largest difference of values over the norm, and the largest residual that tssolve tells over the norm.

usage: dense_peers.py TSSOLVE [--devices] [--only TEXT] [--rows N] [--turns N] [--threads N] [--folder FOLDER]
needs NumPy, SciPy and h5py; scikit-learn for principal components
"""
import argparse
import json
import os
import platform
import subprocess
import tempfile
import time

import h5py
import numpy as np
import scipy.linalg


def hermitian(rng, n, kind="d"):
    a = rng.standard_normal((n, n))
    if kind == "z":
        a = a + 1j * rng.standard_normal((n, n))
    return (a + a.conj().T) / 2


def some(n, k):
    return lambda a: scipy.linalg.eigh(a, subset_by_index=[n - k, n - 1])[0][::-1]


def most(k):
    return lambda a: np.linalg.eigh(a)[0][::-1][:k]


def leading(values, k, key):
    return values[np.argsort(-key(values), kind="stable")[:k]]


def components(x, k):
    from sklearn.decomposition import PCA

    return PCA(k, svd_solver="covariance_eigh").fit(x).singular_values_


def cases(n):
    """Name, matrix, options of tssolve, peer."""
    rng = np.random.default_rng(20)
    dense = ["--method", "dense"]
    for m in sorted({n // 8, n // 4, n // 2, n}):
        a = hermitian(rng, m)
        for k in sorted({3, m // 8, 3 * m // 4, m}):
            yield f"symmetric {m}, {k} largest", a, ["--which", "LA", "-k", k, *dense], (
                most(k) if k > m // 8 else some(m, k))
    m = n // 2
    yield f"Hermitian {m}, all", hermitian(rng, m, "z"), ["--which", "LA", "-k", m, *dense], most(m)
    a = rng.standard_normal((m, m))
    yield f"general {m}, 4", a, ["--general", "-k", 4, *dense], lambda a: leading(np.linalg.eig(a)[0], 4, np.abs)
    a = a[:600, :600]
    yield f"general {len(a)}, all", a, ["--general", "-k", len(a), *dense], lambda a: np.linalg.eig(a)[0]
    b = rng.standard_normal((2 * m, m))
    for k in (3, m):
        yield f"singular values {2 * m} x {m}, {k}", b, ["--svd", "-k", k], (
            lambda b, k=k: np.linalg.svd(b, full_matrices=False)[1][:k])
    x = rng.standard_normal((100 * n, 512), dtype=np.float32) * np.linspace(3, 1, 512, dtype=np.float32)
    yield f"components {100 * n} x 512 float32, 10", x, ["--svd", "--centre", "-k", 10], lambda x: components(x, 10)


def solve(tssolve, file, options, threads):
    command = [tssolve, file, *map(str, options), "--threads", str(threads), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout), run.returncode


def values_of(result):
    if "eigenvalues_real" in result:
        return np.array(result["eigenvalues_real"]) + 1j * np.array(result["eigenvalues_imag"])
    return np.array(result.get("singular_values", result.get("eigenvalues")))


def difference(ours, theirs):
    if len(ours) != len(theirs):  # tssolve does not part the two of a conjugate pair
        return float("nan")
    order = (lambda v: np.lexsort((np.imag(v), np.round(np.real(v), 8))))
    return np.abs(ours[order(ours)] - theirs[order(theirs)]).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tssolve")
    parser.add_argument("--devices", action="store_true", help="beside tssolve --device cuda")
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder")
    asked = parser.parse_args()
    print(f"# {platform.machine()}, {asked.threads} threads of {os.cpu_count()}, {time.strftime('%Y-%m-%d')}, NumPy "
          f"{np.__version__}, least of {asked.turns} turns")
    print(f"{'problem':<40}{'tssolve':>9}{'peer':>9}{'ratio':>7}{'off':>10}{'residual':>10}{'exit':>5}")
    for name, matrix, options, peer in cases(asked.rows):
        if asked.only not in name:
            continue
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            file = os.path.join(folder, "a.h5")
            with h5py.File(file, "w") as h5:
                h5["a"] = matrix
            ours, theirs = [], []
            for _ in range(asked.turns):
                result, status = solve(asked.tssolve, file, options, asked.threads)
                ours.append(result["elapsed_seconds"])
                if asked.devices:
                    there = solve(asked.tssolve, file, [*options, "--device", "cuda"], asked.threads)[0]
                    theirs.append(there["elapsed_seconds"])
                    expected = values_of(there)
                    continue
                start = time.perf_counter()
                expected = peer(matrix)
                theirs.append(time.perf_counter() - start)
        norm = float(np.abs(expected).max())
        print(f"{name:<40}{min(ours):>9.3f}{min(theirs):>9.3f}{min(ours) / min(theirs):>7.2f}"
              f"{difference(values_of(result), np.asarray(expected)) / norm:>10.1e}"
              f"{max(result['residual_norms']) / norm:>10.1e}{status:>5}", flush=True)


if __name__ == "__main__":
    main()
