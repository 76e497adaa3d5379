#!/usr/bin/env python3
"""tssolve and tskmeans on ranks without GPUs: ranks_bench.py threads|slepc|cut BIN. GPUs: ranks_scaling.py.

BIN is the folder of the programs. Needs mpirun; slepc: NumPy and python3-slepc4py; cut: root, Open MPI, iproute2, h5py.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import MPI, json_of, output_of

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
    import json; print(json.dumps({"seconds": seconds, "values": values}))
"""
TWO = ["mpirun", "-n", "2", "--bind-to", "core"]


def generate(o, name, *words):
    output_of([f"{o.bin}/tsdata", "gen", *words, "-q", "-o", name])


def threads(o):
    """one process with two threads, then two ranks of one thread: lap3d 48^3 (20 smallest) and k-means of
    (1e6, 32, 16). Results must be equal, or the script ends"""
    generate(o, "lap.h5", "lap3d", "--n", 48)
    generate(o, "rows.h5", "blobs", "--n", 1000000, "--cols", 32, "--groups", 16, "--spread", 4)
    solve = [f"{o.bin}/tssolve", "lap.h5", "-k", 20, "--which", "SA", "--determinism", "gpu_to_gpu"]
    cluster = [f"{o.bin}/tskmeans", "rows.h5", "-k", 16, "--init", "random", "--tol", 0, "--max-iter", 60]
    for _ in range(o.repeat):
        for name, command, same in (("lap3d 48^3", solve, ["eigenvalues", "iterations"]),
                                    ("k-means", cluster, ["inertia", "n_iter", "cluster_sizes"])):
            one, two = json_of(command), json_of([*TWO, *command], MPI)
            for key in same:
                if one[key] != two[key]:
                    sys.exit(f"{key} of one process is {one[key]}, of two {two[key]}")
            print(f"{name}: {one['threads']} threads {one['elapsed_seconds']:.3f} s, 2 ranks "
                  f"{two['elapsed_seconds']:.3f} s, ratio {two['elapsed_seconds'] / one['elapsed_seconds']:.2f}",
                  flush=True)


def slepc(o):
    """lap3d 64^3, 20 smallest to 1e-8, tssolve and SLEPc on two ranks of one thread, errors against the closed form"""
    import json

    import numpy as np
    n = 64
    line = 2 - 2 * np.cos(np.pi / (n + 1) * np.arange(1, n + 1))
    exact = np.sort((line[:, None, None] + line[None, :, None] + line[None, None, :]).ravel())[:20]
    generate(o, "lap.h5", "lap3d", "--n", n)
    with open("peer.py", "w", encoding="utf-8") as file:
        file.write(SLEPC)
    for _ in range(o.repeat):
        peer = [*TWO, "env", "OPENBLAS_NUM_THREADS=1", "/usr/bin/python3", "peer.py", n]
        theirs = json.loads(output_of(peer, env=MPI))
        ours = json_of([*TWO, f"{o.bin}/tssolve", "lap.h5", "-k", 20, "--which", "SA", "--tol", 1e-8, "--conv", "norm"],
                       MPI)
        wrong = [np.abs(np.sort(v) - exact[:len(v)]).max() for v in (theirs["values"], ours["eigenvalues"])]
        peer_seconds, seconds = theirs["seconds"], ours["elapsed_seconds"]
        print(f"SLEPc {peer_seconds:.2f} s, largest error {wrong[0]:.1e}; tssolve {seconds:.2f} s, {wrong[1]:.1e}; "
              f"{peer_seconds / seconds:.2f} times as fast", flush=True)


# ---- ranks that are cut off -----------------------------------------------------------------------------------------

RANKS = range(1, 4)
NAMES = ("eigenvalues", "eigenvectors", "residual_norms")
OPTIONS = ["-k", "40", "--which", "SA", "--method", "lanczos", "--tol", "1e-12", "--quiet"]
AGENT = """#!/bin/sh
i=${1##*.}; shift
exec nsenter --net=/run/netns/cut$i unshare --uts sh -c "hostname cut$i; $*"
"""


def ip(words, check=True):
    subprocess.run(["ip", *words.split()], check=check, stderr=None if check else subprocess.DEVNULL)


def make_network():
    ip("link add cut0 type bridge")
    ip("link set cut0 up")
    for i in RANKS:
        for words in (f"netns add cut{i}", f"link add cut{i} type veth peer name eth0 netns cut{i}",
                      f"link set cut{i} master cut0 up", f"-n cut{i} addr add 10.99.0.{i}/24 dev eth0",
                      f"-n cut{i} link set eth0 up", f"-n cut{i} link set lo up"):
            ip(words)


def remove_network():
    for i in RANKS:
        ip(f"link del cut{i}", check=False)
        ip(f"netns del cut{i}", check=False)
    ip("link del cut0", check=False)


def start(o, words):
    """mpirun in the first namespace, a rank in each."""
    idle, interval, probes, grace = o.settings.split(",")
    values = {"plm_rsh_agent": os.path.abspath("agent"), "btl": "tcp,self", "btl_tcp_if_include": "10.99.0.0/24",
              "oob_tcp_if_include": "10.99.0.0/24", "hwloc_base_binding_policy": "none",
              "oob_tcp_keepalive_time": idle, "oob_tcp_keepalive_intvl": interval,
              "oob_tcp_keepalive_probes": probes, "odls_base_sigkill_timeout": grace}
    env = dict(MPI, **{"OMPI_MCA_" + name: value for name, value in values.items()})
    hosts = ",".join(f"10.99.0.{i}" for i in RANKS)
    return subprocess.Popen(["./agent", "10.99.0.1", "exec", "mpirun", "-n", "3", "--host", hosts, f"{o.bin}/tssolve",
                             *words], env=env, stdout=subprocess.DEVNULL, stderr=open("said", "w", encoding="utf-8"))


def ranks_left():
    """Processes of this folder that are ranks, by namespace."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd") == os.getcwd() and \
                    os.path.basename(os.readlink(f"/proc/{entry}/exe")) == "tssolve":
                space = subprocess.run(["ip", "netns", "identify", entry], capture_output=True, text=True, check=False)
                found[space.stdout.strip()] = int(entry)
        except OSError:
            pass
    return found


def same_bits(other):
    import h5py
    with h5py.File("one.h5") as x, h5py.File(other) as y:
        return all(x[name][()].tobytes() == y[name][()].tobytes() for name in NAMES)


def disturb(o, what, action):
    run = start(o, ["lap.h5", *OPTIONS, "-o", "three.h5", "--checkpoint", "state.h5", "--every", "1"])
    while not os.path.exists("state.h5"):
        time.sleep(0.05)
    time.sleep(1)
    begin = time.time()
    action()
    while run.poll() is None or ranks_left():
        time.sleep(0.1)
        if time.time() - begin > 600:
            sys.exit(f"{what}: ranks still run after ten minutes")
    seconds = time.time() - begin
    if run.returncode == 0:
        print(f"{what:40} goes on, bits of one process: {same_bits('three.h5')}", flush=True)
        return
    output_of([f"{o.bin}/tssolve", "lap.h5", *OPTIONS, "--determinism", "gpu_to_gpu", "-o", "rest.h5", "--checkpoint",
               "state.h5"])
    print(f"{what:40} status {run.returncode}, all ended after {seconds:.1f} s, bits after resuming: "
          f"{same_bits('rest.h5')}", flush=True)


def take_down(i, seconds=0.0):
    ip(f"link set cut{i} down")
    if seconds:
        time.sleep(seconds)
        ip(f"link set cut{i} up")


def cut(o):
    """three ranks in network namespaces of one machine, which talk over TCP alone. A run must have the bits of one
    process. Then, each time in a run that would go on: the last rank finds NaN, is killed, a namespace is cut off for
    one second, and each for good. Told are the exit status, how soon no rank was left, and whether one process that
    goes on from the checkpoint ends with the bits of a run that nothing disturbed"""
    import h5py
    with open("agent", "w", encoding="utf-8") as agent:
        agent.write(AGENT)
    os.chmod("agent", 0o700)
    try:
        make_network()
        generate(o, "lap.h5", "lap3d", "--n", 36)
        output_of([f"{o.bin}/tssolve", "lap.h5", *OPTIONS, "--determinism", "gpu_to_gpu", "-o", "one.h5"])
        status = start(o, ["lap.h5", *OPTIONS, "-o", "three.h5"]).wait(300)
        print(f"{'three ranks':40} status {status}, bits of one process: {same_bits('three.h5')}", flush=True)
        shutil.copy("lap.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as bad:
            bad["matrix/values"][-1] = float("nan")
        begin, status = time.time(), start(o, ["bad.h5", *OPTIONS]).wait(300)
        with open("said", encoding="utf-8") as said:
            lines = [line.strip() for line in said if line.startswith("tssolve: ")]
        print(f"{'NaN on the last':40} status {status}, {time.time() - begin:.1f} s from start to end: {lines}",
              flush=True)
        disturb(o, "the last is killed", lambda: os.kill(ranks_left()["cut3"], signal.SIGKILL))
        disturb(o, "the last is cut off for one second", lambda: take_down(3, 1))
        for i in reversed(RANKS):
            disturb(o, f"cut off for good: rank {i - 1}" + (", mpirun" if i == 1 else ""), lambda i=i: take_down(i))
            ip(f"link set cut{i} up")
    finally:
        remove_network()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (threads, slepc, cut):
        word = words.add_parser(command.__name__, help=command.__doc__, description=command.__doc__)
        word.add_argument("bin", type=os.path.abspath, help="the folder of the programs")
        if command is cut:
            word.add_argument("--settings", default="1,1,2,0", help="of Open MPI's daemons: time, interval, probes "
                              "of keepalive, seconds between the signals that end a rank; 300,20,9,1 as installed")
        else:
            word.add_argument("--repeat", type=int, default=3)
        word.set_defaults(command=command)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        o.command(o)


if __name__ == "__main__":
    main()
