#!/usr/bin/python3
"""Two ranks beside one process, and beside SLEPc on two ranks: ranks_peers.py BIN [cpu|slepc] [RUNS]

BIN is the folder of the programs. cpu: lap3d 48^3 (20 smallest) and k-means of (1e6, 32, 16), one process with two
threads, then two ranks of one thread. slepc: lap3d 64^3, 20 smallest to 1e-8, both on two ranks of one thread, and the
error of each against the closed form. Results must be equal, or the script ends. GPUs: ranks_scaling.py.
"""
import json
import os
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
SLEPC = r"""
import glob, sys, time
for package in ("petsc", "slepc"):
    sys.path[:0] = glob.glob(f"/usr/lib/{package}dir/*/*-real/lib/python3/dist-packages")[:1]
import slepc4py; slepc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc
N = int(sys.argv[1]); n = N**3
A = PETSc.Mat().createAIJ([n, n], nnz=(7, 7), comm=PETSc.COMM_WORLD)
for r in range(*A.getOwnershipRange()):
    i, j, k = r // (N * N), (r // N) % N, r % N
    near = [(i, N * N), (j, N), (k, 1)]
    columns = [r] + [r - s for x, s in near if x > 0] + [r + s for x, s in near if x < N - 1]
    A.setValues([r], columns, [6.0] + [-1.0] * (len(columns) - 1))
A.assemble()
E = SLEPc.EPS().create(PETSc.COMM_WORLD)
E.setOperators(A); E.setProblemType(SLEPc.EPS.ProblemType.HEP); E.setDimensions(20)
E.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL); E.setTolerances(1e-8, 10**6)
E.setConvergenceTest(SLEPc.EPS.Conv.NORM)
begin = time.time(); E.solve(); seconds = time.time() - begin
values = [E.getEigenvalue(i).real for i in range(min(20, E.getConverged()))]
if PETSc.COMM_WORLD.rank == 0:
    import json; print(json.dumps([seconds, values]))
"""


def ranks(count, command, bind="core"):
    return (["mpirun", "-n", str(count), "--bind-to", bind] if count > 1 else []) + command


def output(command, may_end=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, env=ENV, check=False)
    if done.returncode not in may_end:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def program(count, command, bind="core"):
    return json.loads(output(ranks(count, command + ["--json", "--quiet"], bind), (0, 3)))


def expect_same(a, b, names):
    for name in names:
        if a[name] != b[name]:
            sys.exit(f"{name} of one process is {a[name]}, of two {b[name]}")


def cpu(bin_, folder, runs):
    lap, rows = f"{folder}/lap.h5", f"{folder}/rows.h5"
    output([f"{bin_}/tsdata", "gen", "lap3d", "--n", "48", "-q", "-o", lap])
    output([f"{bin_}/tsdata", "gen", "blobs", "--n", "1000000", "--cols", "32", "--groups", "16", "--spread", "4", "-q",
            "-o", rows])
    solve = [f"{bin_}/tssolve", lap, "-k", "20", "--which", "SA", "--determinism", "gpu_to_gpu"]
    cluster = [f"{bin_}/tskmeans", rows, "-k", "16", "--init", "random", "--tol", "0", "--max-iter", "60"]
    for _ in range(runs):
        for name, command, same in (("lap3d 48^3", solve, ["eigenvalues", "iterations"]),
                                    ("k-means", cluster, ["inertia", "n_iter", "cluster_sizes"])):
            one, two = program(1, command), program(2, command)
            expect_same(one, two, same)
            print(f"{name}: {one['threads']} threads {one['elapsed_seconds']:.3f} s, 2 ranks "
                  f"{two['elapsed_seconds']:.3f} s, ratio {two['elapsed_seconds'] / one['elapsed_seconds']:.2f}",
                  flush=True)


def slepc(bin_, folder, runs):
    import numpy as np
    n, lap = 64, f"{folder}/lap.h5"
    line = 2 - 2 * np.cos(np.pi / (n + 1) * np.arange(1, n + 1))
    exact = np.sort((line[:, None, None] + line[None, :, None] + line[None, None, :]).ravel())[:20]
    output([f"{bin_}/tsdata", "gen", "lap3d", "--n", str(n), "-q", "-o", lap])
    script = f"{folder}/peer.py"
    with open(script, "w", encoding="utf-8") as file:
        file.write(SLEPC)
    for _ in range(runs):
        peer = ranks(2, ["env", "OPENBLAS_NUM_THREADS=1", "/usr/bin/python3", script, str(n)])
        theirs, values = json.loads(output(peer))
        ours = program(2, [f"{bin_}/tssolve", lap, "-k", "20", "--which", "SA", "--tol", "1e-8", "--conv", "norm"])
        wrong = [np.abs(np.sort(v) - exact[:len(v)]).max() for v in (values, ours["eigenvalues"])]
        print(f"SLEPc {theirs:.2f} s, largest error {wrong[0]:.1e}; tssolve {ours['elapsed_seconds']:.2f} s, "
              f"{wrong[1]:.1e}; {theirs / ours['elapsed_seconds']:.2f} times as fast", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    what = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    with tempfile.TemporaryDirectory() as where:
        times = int(sys.argv[3]) if len(sys.argv) > 3 else 3
        {"cpu": cpu, "slepc": slepc}[what](sys.argv[1], where, times)
