#!/usr/bin/env python3
"""Many small problems: tssolve beside LAPACK (NumPy), every answer looked at.

Each problem is drawn from its number alone, so that `--only NUMBER` repeats it. Verdicts:

  right   exit 0, and the set is that of LAPACK
  wrong   exit 0, and the set is not
  false   exit 0 and the right set, but a statement is false: a residual, a bound or the error of a vector is told too
          small, a multiplicity is another, or the gap to the next value is told too wide
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
import subprocess
import tempfile
import time

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

from campaign_matrices import GENERAL, HERMITIAN, RECTANGULAR, SINGULAR_PENCILS, components, counted_below, graded
from campaign_verdicts import (NOT_HERMITIAN, Problem, as_solved, dense, residual_fault, set_fault, statement_fault,
                               vector_fault)
from common import print_head

# ---- problems -------------------------------------------------------------------------------------------------------

def draw_graded(rng):
    """An interval within the decades of a graded matrix, whose values are counted by the signs of factorisations."""
    matrix = graded(rng)
    low = 10.0 ** rng.uniform(*np.log10([matrix.diagonal().min(), matrix.diagonal().max() / 2]))
    high = low * float(rng.choice([1.5, 2, 10]))
    around = [[counted_below(matrix, end * (1 + side)) for side in (-1e-9, 1e-9)] for end in (low, high)]
    count = around[1][0] - around[0][0] if all(a == b for a, b in around) else None
    return Problem("graded", "graded", matrix, [f"--interval={low!r}:{high!r}"], None, 1, 1e-8,
                   np.linalg.eigvalsh(matrix.toarray()), None, (low, high), count=count)


def draw_copies(rng):
    """Zero has as many copies as a graph has components, and k cuts them."""
    matrix = components(rng)
    k = int(rng.choice([1, 2, 8, 8, 8, 16]))
    k = min(k, matrix.shape[0])
    return Problem("copies", "components", matrix, ["--which", "SA", "-k", str(k)], "SA", k, 1e-8,
                   np.linalg.eigvalsh(matrix.toarray()), None, None)


def draw_pencil(rng):
    """K x = lambda M x with rows of zeros in M: the finite eigenvalues are those of a Schur complement."""
    family = str(rng.choice(list(SINGULAR_PENCILS)))
    matrix, mass = SINGULAR_PENCILS[family](rng)
    full, none = np.flatnonzero(mass), np.flatnonzero(mass == 0)
    a = matrix.toarray()
    a = a[np.ix_(full, full)] - a[np.ix_(full, none)] @ np.linalg.solve(a[np.ix_(none, none)], a[np.ix_(none, full)])
    root = np.sqrt(mass[full])
    values = np.linalg.eigvalsh((a + a.T) / 2 / np.outer(root, root))
    k = int(rng.integers(1, min(12, len(values)) + 1))
    way = ["--sigma=0"] if rng.integers(2) else ["--which", "SM"]
    return Problem("pencil", family, matrix, [*way, "-k", str(k)], "SM", k, 1e-8, values, 0.0, None, sp.diags(mass))


def draw(number):
    rng = np.random.default_rng(number)
    special = {"graded": draw_graded, "copies": draw_copies, "pencil": draw_pencil}
    kind = str(rng.choice([*special, "others"], p=[.1, .05, .05, .8]))
    return special[kind](rng) if kind in special else draw_other(rng)


def draw_other(rng):
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
        values = np.linalg.eigvalsh(as_solved(kind, matrix))
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
    if p.mass is not None:
        scipy.io.mmwrite(os.path.join(folder, "mass.mtx"), sp.coo_matrix(p.mass), precision=17, symmetry="general")
        command += ["--mass", os.path.join(folder, "mass.mtx")]
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
    if fault := set_fault(p, found):
        return "wrong", fault
    if p.kind != "svd" and p.mass is None and len(found) > 0 and p.matrix.shape[0] <= 400:
        fault = residual_fault(p, out, told) or vector_fault(p, out)
    if not fault and p.kind not in NOT_HERMITIAN:
        fault = statement_fault(p, found, told)
    return ("false", fault) if fault else ("right", "")


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
    print()
    print_head()
    print(f"{sum(verdicts.values())} problems from number {numbers[0]}\n")
    words = ("right", "wrong", "false", "open", "failed")
    print("| kind | " + " | ".join(words) + " |\n|---|" + "---|" * len(words))
    kinds = sorted({kind for kind, _ in verdicts})
    for kind in kinds:
        print(f"| {kind} | " + " | ".join(str(verdicts[kind, word]) for word in words) + " |")
    print("| all | " + " | ".join(str(sum(verdicts[kind, word] for kind in kinds)) for word in words) + " |")
    raise SystemExit(1 if any(verdicts[kind, word] for kind in kinds for word in ("wrong", "false", "failed")) else 0)


if __name__ == "__main__":
    main()
