"""What calls through Python cost: gram of 1000 x 8, KMeans().fit beside tskmeans, eigsh beside tssolve, in one run.

Run as: python python_overhead.py FOLDER_OF_PROGRAMS, in an environment with tallskinny and h5py.
"""

import pathlib
import statistics
import sys
import tempfile

import numpy as np
import scipy.sparse as sp

import tallskinny as ts
from common import json_of, print_head, timed
from tallskinny import _core


def seconds(f, repeats):
    return statistics.median(timed(f)[0] for _ in range(repeats))


def program(name, *arguments):
    return json_of([pathlib.Path(sys.argv[1]) / name, *arguments])


print_head()
a, c = np.random.default_rng(0).random((1000, 8)), np.empty((8, 8))
one = ts.Context(threads=1)
whole = seconds(lambda: ts.gram(a, out=c, context=one), 20_000)
nothing = seconds(lambda: ts.gram(a[:1], out=c, context=one), 20_000)
inner = seconds(lambda: _core.gram(one._core, True, 1.0, a, 0.0, c), 20_000)
print(f"gram 1000 x 8, one thread: {whole * 1e6:.1f} us; of one row: {nothing * 1e6:.1f} us; "
      f"1000 x 8 without the layer in Python: {inner * 1e6:.1f} us")

folder = pathlib.Path(tempfile.mkdtemp())
X = np.random.default_rng(0).random((1_000_000, 32), dtype=np.float32)
ts.write(folder / "x.h5", x=X)
start = X[:64].astype(np.float64)
ts.write(folder / "start.h5", x=start)
theirs, ours = [], []
for _ in range(3):
    told = program("tskmeans", f"{folder}/x.h5", "-k", "64", "--init", f"{folder}/start.h5", "--max-iter", "30")
    theirs.append(told["elapsed_seconds"] - told["read_seconds"])
    model = ts.KMeans(64, init=start, max_iter=30)
    ours.append(seconds(lambda: model.fit(X), 1))
print(f"k-means of 1000000 x 32, 64 clusters: KMeans.fit {min(ours):.2f} s, tskmeans {min(theirs):.2f} s, "
      f"ratio {min(ours) / min(theirs):.3f}, same inertia {np.isclose(told['inertia'], model.inertia_, rtol=1e-9)}")

line = sp.diags_array([-np.ones(29), 2 * np.ones(30), -np.ones(29)], offsets=[-1, 0, 1])
eye = sp.eye_array(30)
cube = sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye) + sp.kron(sp.kron(eye, eye), line)
ts.write(folder / "a.h5", a=sp.csr_array(cube))
A = sp.csr_array(ts.read(folder / "a.h5"))
theirs, ours = [], []
for _ in range(3):
    told = program("tssolve", f"{folder}/a.h5", "-k", "10", "--which", "LA", "--tol", "1e-8")
    theirs.append(told["elapsed_seconds"])
    ours.append(seconds(lambda: ts.eigsh(A, k=10, which="LA", tol=1e-8, return_eigenvectors=False), 1))
print(f"ends of a spectrum of {A.shape[0]} rows: eigsh {min(ours):.2f} s, tssolve {min(theirs):.2f} s, "
      f"ratio {min(ours) / min(theirs):.3f}")
