#!/usr/bin/env python3
"""Many small problems: tssolve beside LAPACK (NumPy), every answer looked at.

Each problem is drawn from its number alone, so that `--only NUMBER` repeats it. Verdicts:

  right   exit 0, and the set is that of LAPACK
  wrong   exit 0, and the set is not, or a residual or the error of a vector is told too small
  open    exit 3: tssolve says that it does not know
  failed  any other exit status, or more than --limit seconds

usage: campaign.py TSSOLVE [--count N] [--seconds S] [--first NUMBER] [--only NUMBER] [--keep FOLDER]
needs NumPy, SciPy and h5py (Debian: python3-numpy python3-scipy python3-h5py)
"""
import argparse
import collections
import json
import math
import os
import platform
import subprocess
import tempfile
import time

import h5py
import numpy as np
import scipy.io
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

from campaign_matrices import GENERAL, HERMITIAN, RECTANGULAR

UNIT = 2.0**-53


# ---- problems -------------------------------------------------------------------------------------------------------

Problem = collections.namedtuple("Problem", "kind family matrix options which k tol values sigma ends")


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def draw(number):
    rng = np.random.default_rng(number)
    kind = str(rng.choice(["ends", "method", "sigma", "interval", "general", "svd"], p=[.25, .1, .2, .2, .15, .1]))
    table = {"general": GENERAL, "svd": RECTANGULAR}.get(kind, HERMITIAN)
    family = str(rng.choice(list(table)))
    matrix = table[family](rng)
    tol = float(rng.choice([1e-5, 1e-8, 1e-10, 1e-12]))
    k = int(rng.integers(1, min(matrix.shape[0], matrix.shape[1], 34) + 1))
    options, sigma, ends = [], None, None
    if kind == "svd":
        values = np.linalg.svd(dense(matrix), compute_uv=False)
        which = str(rng.choice(["LM", "SM"]))
        options = ["--svd"]
    elif kind == "general":
        values = np.linalg.eigvals(dense(matrix))
        which = str(rng.choice(["LM", "LR", "SR", "LI"]))
        options = ["--general"]
    else:
        values = np.linalg.eigvalsh(dense(matrix))
        which = str(rng.choice(["LA", "SA", "LM", "BE", "SM"]))
    if kind == "method":
        method = str(rng.choice(["lanczos", "chebyshev", "lobpcg", "davidson"]))
        which = str(rng.choice(["LA", "SA"]))
        options = ["--method", method, "--block-size", str(rng.integers(1, 9))]
    scale = max(float(abs(values).max(initial=0)), 1e-300)
    near = float(rng.choice(values.real)) + float(rng.choice([0, 1e-9, 1e-3, 0.3])) * scale * float(rng.choice([-1, 1]))
    if kind == "sigma":
        sigma = near
        options = [f"--sigma={sigma!r}"]
    if kind == "interval":
        other = float(rng.choice(values)) + float(rng.choice([0, 1e-3, 0.3])) * scale
        ends = (min(near, other), max(near, other))
        options = [f"--interval={ends[0]!r}:{ends[1]!r}"]
        which = None
    if which:
        options += ["--which", which, "-k", str(k)]
    return Problem(kind, family, matrix, options + ["--tol", repr(tol)], which, k, tol, values, sigma, ends)


def wanted(p):
    """Indices into p.values of a right answer; where values tie, any choice has the same keys."""
    v, k = p.values, p.k
    if p.kind == "general":
        key = {"LM": -abs(v), "LR": -v.real, "SR": v.real, "LI": -abs(v.imag)}[p.which]
        return np.argsort(key, kind="stable")[:k]
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
    a = dense(p.matrix)
    n, norm = max(a.shape), np.linalg.norm(a, 2) if a.size else 0.0
    error = (p.tol + 50 * n * UNIT) * norm + 1e-300
    if p.kind == "general":  # Bauer and Fike, a condition for each value
        _, left, right = scipy.linalg.eig(a, left=True)
        return error / np.maximum(abs(np.einsum("ij,ij->j", left.conj(), right)), 1e-9)
    return np.full(len(p.values), error)


def matched(found, values, allowed):
    """Does each value found have a value of LAPACK of its own, within what is allowed?"""
    if len(found) == 0:
        return True
    distance = abs(np.asarray(found)[:, None] - values[None, :]) / allowed[None, :]
    cost = np.minimum(distance, 1e6)
    rows, cols = scipy.optimize.linear_sum_assignment(np.where(cost <= 1, 0.0, cost))
    return bool(np.all(distance[rows, cols] <= 1)) and len(rows) == len(found)


def set_fault(p, found):
    """Why the set is not the one that was asked for; an empty text if it is."""
    allowed = allowance(p)
    if p.kind == "general":  # the order of numpy.linalg.eig is that of eigvals up to rounding: match them once
        _, order = scipy.optimize.linear_sum_assignment(
            abs(p.values[:, None] - scipy.linalg.eigvals(dense(p.matrix))[None, :]))
        allowed = allowed[order]
    if not np.all(np.isfinite(found)):
        return "a value is not a number"
    if not matched(found, p.values, allowed):
        return "a value is none of LAPACK's, or told too often"
    v, slack = p.values, allowed.max()
    if p.ends:
        low, high = p.ends
        sure = int(np.sum((v > low + 2 * slack) & (v < high - 2 * slack)))
        possible = int(np.sum((v >= low - 2 * slack) & (v <= high + 2 * slack)))
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
        key = {"LM": abs, "LR": np.real, "SR": lambda z: -np.real(z), "LI": lambda z: abs(np.imag(z))}[p.which]
        mine, best = -np.sort(-key(np.asarray(found))), -np.sort(-key(v))
        slack = allowed[np.argsort(-key(v))[: len(index)]].max()
        return "" if np.all(mine[: len(index)] >= best[: len(index)] - 2 * slack) else "a value is missing"
    key = abs if p.which in ("LM", "SM") and p.sigma is None else lambda x: x
    if p.sigma is not None:
        key = lambda x: abs(x - p.sigma)  # noqa: E731
    mine, best = np.sort(key(np.asarray(found)[: len(index)])), np.sort(key(v[index]))
    return "" if np.all(abs(mine - best) <= 2 * slack) else "a value is missing"


def residual_fault(p, file, told):
    """A residual that is smaller than the true one, computed in extended precision."""
    with h5py.File(file) as out:
        if "eigenvectors" not in out:
            return ""
        vectors, values = out["eigenvectors"][...], out["eigenvalues"][...].ravel()
    a = dense(p.matrix).astype(np.clongdouble if np.iscomplexobj(vectors) else np.longdouble)
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
        vectors, values, told = (out[name][...] for name in ("eigenvectors", "eigenvalues", "vector_errors"))
    exact, basis = np.linalg.eigh(dense(p.matrix))
    scale = max(float(abs(exact).max(initial=0)), 1e-300)
    unit = 50 * len(exact) * UNIT * scale
    for j in np.flatnonzero(np.isfinite(told)):
        nearest = exact[np.argmin(abs(exact - values[j]))]
        same = abs(exact - nearest) <= 1e-10 * scale + 8 * abs(nearest - values[j])
        away = float(np.min(abs(exact[~same] - values[j]), initial=math.inf))
        sine = np.linalg.norm(basis[:, ~same].conj().T @ vectors[:, j]) / np.linalg.norm(vectors[:, j])
        if sine > told[j] + unit / away:
            return f"vector {j} is off by {sine:.3g}, told {told[j]:.3g}"
    return ""


def run(p, program, folder, limit):
    file, out = os.path.join(folder, "matrix.h5"), os.path.join(folder, "out.h5")
    if sp.issparse(p.matrix):
        file = os.path.join(folder, "matrix.mtx")
        scipy.io.mmwrite(file, p.matrix, precision=17, symmetry="general")
    else:
        with h5py.File(file, "w") as target:
            target["matrix"] = p.matrix
    if os.path.exists(out):
        os.remove(out)
    command = [program, file, *p.options, "--json", "--quiet", "-o", out]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "failed", f"more than {limit} s"
    if done.returncode == 3:
        return "open", json.loads(done.stdout)["reason"]
    if done.returncode != 0:
        return "failed", f"exit {done.returncode}: {done.stderr.strip()[:200]}"
    told = json.loads(done.stdout)
    if p.kind == "general":
        found = np.asarray(told["eigenvalues_real"]) + 1j * np.asarray(told["eigenvalues_imag"])
    else:
        found = np.asarray(told["singular_values" if p.kind == "svd" else "eigenvalues"], float)
    fault = set_fault(p, found)
    if not fault and p.kind != "svd" and len(found) > 0 and p.matrix.shape[0] <= 400:
        fault = residual_fault(p, out, told) or vector_fault(p, out)
    return ("wrong", fault) if fault else ("right", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tssolve")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", help="leave the matrix of --only in this folder")
    parser.add_argument("--limit", type=float, default=20)
    arguments = parser.parse_args()
    first = arguments.first if arguments.only is None else arguments.only
    numbers = range(first, first + (arguments.count if arguments.only is None else 1))
    verdicts, start = collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for number in numbers:
            if time.monotonic() - start > arguments.seconds:
                break
            p = draw(number)
            verdict, why = run(p, arguments.tssolve, folder, arguments.limit)
            verdicts[p.kind, verdict] += 1
            if verdict != "right" or arguments.only is not None:
                print(f"# {number}: {p.family}, {p.matrix.shape[0]} x {p.matrix.shape[1]}, {' '.join(p.options)}: "
                      f"{verdict} {why}", flush=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    names = (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    cpu = next(names, platform.machine())
    print(f"\n{time.strftime('%Y-%m-%d')}, commit {commit}, {os.cpu_count()} cores of {cpu}, "
          f"{sum(verdicts.values())} problems from number {numbers[0]}\n")
    words = ("right", "wrong", "open", "failed")
    print("| kind | " + " | ".join(words) + " |\n|---|" + "---|" * len(words))
    kinds = sorted({kind for kind, _ in verdicts})
    for kind in kinds:
        print(f"| {kind} | " + " | ".join(str(verdicts[kind, word]) for word in words) + " |")
    print("| all | " + " | ".join(str(sum(verdicts[kind, word] for kind in kinds)) for word in words) + " |")
    raise SystemExit(1 if any(verdicts[kind, word] for kind in kinds for word in ("wrong", "failed")) else 0)


if __name__ == "__main__":
    main()
