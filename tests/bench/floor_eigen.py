#!/usr/bin/env python3
"""A floor under eigenvalues and singular values: a grid of problems that nobody tuned for, beside others.

  tests/bench/floor_eigen.py BIN [--store FILE] [--part I/N] [--only NAME] [--limit S]

The families of floor_matrices.py, each in two sizes: ends, values near a number inside, intervals. Peers are LAPACK
(NumPy, SciPy) up to 2500 rows, SciPy's eigsh, eigs and svds (with a shift where that is the way) and SLEPc with MUMPS
where it is installed. All have the same matrix, tolerance (1e-8) and threads, in turns; of times below a second the
least of two counts, below 0.3 s of three: of tssolve elapsed_seconds, which leave reading out (whole: the whole
process), of the others what their call takes. Peers are told what tssolve has to find out: that a matrix is
semidefinite, how many values an interval holds.

Right: all values that were asked for, each as often as it occurs, to 1e-7 of it and rounding. The answer is a closed
form or LAPACK's. Beyond 2500 rows without a closed form it is what ARPACK finds to 1e-12 with more values than asked
for, and the signs of MUMPS's factors count as many; where they cannot, what ARPACK finds from two starts alike.

tssolve is right, WRONG (exit status 0, and another set), open (exit status 3; "open, right" where the values are right
all the same), slow (more than --limit seconds) or failed. The ratio is the seconds of the fastest peer that is right
over tssolve's, or over --limit where tssolve has no right values. --store keeps results and goes on from those that it
has, so that a run may be made in parts. `--only cube --size 64 --ask LM,20,1` takes another size and request, --keep
leaves the files there.
"""
import argparse
import collections
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import tempfile
import time
import zlib

# Before NumPy loads OpenBLAS, which takes new processors for old ones.
with open("/proc/cpuinfo", encoding="utf-8") as lines:
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if "avx512bw" in lines.read() else "Haswell")

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import campaign_verdicts as verdicts
from common import Table, print_head, timed
from eigen_bench import SLEPc, by_slepc, near, petsc, save, values_of
from floor_matrices import FAMILIES
from floor_problems import Matrix, Request, answer, chosen, problem, text_of

TOL = 1e-8


def attempt(limit, work, *arguments):
    """What work gives within so many seconds in a process of its own, else None."""
    def child(pipe):
        try:
            pipe.send(work(*arguments))
        except Exception:  # each library has its own
            pipe.send(None)
        os._exit(0)  # without MPI's end
    ours, its = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(its,))
    process.start()
    its.close()
    try:
        found = ours.recv() if ours.poll(limit) else None
    except EOFError:
        found = None
    process.kill()
    process.join()
    return found


def peers_of(m, r, p):
    """Name -> a function that gives seconds and values."""
    count = len(chosen(p, p.values))
    most, mass, found = m.kind, m.mass, {}

    def add(name, work):
        found[name] = lambda: timed(work)

    if m.small or not sp.issparse(m.a):
        a, b = m.dense(), None if mass is None else verdicts.dense(mass)
        if most == "svd":
            add("LAPACK", lambda: np.linalg.svd(a, full_matrices=False)[1])
        elif most == "general":
            add("LAPACK", lambda: np.linalg.eig(a)[0])
        elif b is not None and np.any(b.diagonal() == 0):
            add("LAPACK", lambda: m.pencil_values(a, b)[0])
        elif r.which in ("SA", "LA") and r.sigma is None:
            at = [0, r.k - 1] if r.which == "SA" else [m.rows - r.k, m.rows - 1]
            add("LAPACK", lambda: scipy.linalg.eigh(a, b, subset_by_index=at)[0])
        elif r.ends:
            add("LAPACK", lambda: scipy.linalg.eigh(a, b, subset_by_value=r.ends)[0])
        else:
            add("LAPACK", lambda: np.linalg.eigh(a)[0] if b is None else scipy.linalg.eigh(a, b)[0])
    if most == "svd":
        add("svds", lambda: sla.svds(m.a, r.k, which=r.which, tol=1e-4)[1])  # of A^H A: 1e-8
    if most == "svd" or count >= m.rows - 1 or not sp.issparse(m.a):
        return found
    shift, inverse = r.sigma, "LM"
    if r.which == "SM":
        shift = r.sigma or 0.0
    elif r.ends:
        shift = sum(r.ends) / 2
    elif r.sigma is not None:
        inverse = r.which
    elif r.which == "SA" and m.low > -1e-12 * m.norm:
        low, high = np.sort(p.values)[[0, count - 1]]
        shift = 0.0 if low > 1e-13 * m.norm else low - max(0.1 * (high - low), 1e-6 * m.norm)
    if most == "general":
        add("eigs", lambda: sla.eigs(m.a, count, which="LM" if r.which == "SM" else r.which, tol=TOL, sigma=shift)[0])
        return found
    if not r.ends and r.which != "SM" and r.sigma is None:
        add("eigsh", lambda: sla.eigsh(m.a, r.k, mass, which=r.which, tol=TOL)[0])
    if shift is not None:
        add("eigsh sigma", lambda: sla.eigsh(m.a, count, mass, sigma=shift, which=inverse, tol=TOL)[0])
    if shift is not None and SLEPc and inverse == "LM" and not np.iscomplexobj(m.a):
        found["SLEPc"] = lambda: by_slepc([petsc(x) for x in (m.a, mass) if x is not None], count,
                                          lambda eps: near(eps, shift, r.ends))
    return found


def by_tssolve(command, p, limit):
    """Seconds, verdict, seconds of the whole process."""
    try:
        whole, done = timed(lambda: subprocess.run(command, capture_output=True, text=True, timeout=limit))
    except subprocess.TimeoutExpired:
        return limit, "slow", limit
    if done.returncode not in (0, 3):
        return limit, f"failed {done.returncode}: {done.stderr.strip()[:120]}", whole
    told = json.loads(done.stdout)
    fault = verdicts.set_fault(p, values_of(told))
    if done.returncode == 3:
        return told["elapsed_seconds"], "open" if fault else "open, right", whole
    return told["elapsed_seconds"], f"WRONG: {fault}" if fault else "right", whole


def run(o, m, r, files, p):
    """A problem by all, in turns."""
    options = text_of(r) + {"general": ["--general"], "svd": ["--svd"]}.get(m.kind, [])
    command = [f"{o.bin}/tssolve", files[0], *options, *(["--mass", files[1]] if m.mass is not None else []), "--json",
               "-q", "--threads", str(o.threads)]
    ours, theirs, peers = [], collections.defaultdict(list), peers_of(m, r, p)
    for least in (math.inf, 1, 0.3):
        for name, work in peers.items():
            if not theirs[name] or (theirs[name][0] and theirs[name][0][0] < least):
                theirs[name].append(attempt(o.peer_limit, work))
        if not ours or (ours[0][0] < least and "right" in ours[0][1]):
            ours.append(by_tssolve(command, p, o.limit))
    told = {}
    for name, runs in theirs.items():
        known = [x for x in runs if x is not None]
        values = known[0][1] if known else None
        if known and name == "LAPACK":
            values = chosen(p, values)
        right = bool(known) and len(values) > 0 and not verdicts.set_fault(p, np.asarray(values))
        told[name] = (min(x[0] for x in known) if known else None, right)
    return {"ours": min(ours)[0], "whole": min(x[2] for x in ours), "verdict": ours[0][1], "peers": told,
            "command": " ".join(options)}


def solve(o, label, name, turn, size):
    """The rows of a matrix."""
    rows, m = [], Matrix(o, name, size)
    files = [os.path.join(o.keep or o.folder, f"{label.replace(' ', '-')}{end}.h5") for end in ("", "-mass")]
    for file, a in zip(files, (m.a, m.mass)):
        if a is not None:
            save(file, a)
    requests = m.requests(turn)
    if turn == 1:  # large ones take long
        requests = requests[zlib.crc32(name.encode()) % 2::2]
    if o.ask:
        which, *numbers = o.ask.split(",")
        requests = [Request(which, int(numbers[0]), *map(float, numbers[1:]))]
    for r in requests:
        row = {"name": f"{label} {' '.join(text_of(r))}", "rows": m.rows, "kind": m.kind}
        if not row["name"].startswith(o.only):
            continue
        values = m.values if m.values is not None else attempt(3 * o.limit, answer, m, r)
        if values is None:
            print(f"{row['name']}: no answer is known", flush=True)
            continue
        rows.append({**row, **run(o, m, r, files, problem(m, r, values))})
        show(o, rows[-1])
    if not o.keep:
        for file in filter(os.path.exists, files):
            os.remove(file)
    return rows


def ratio_of(o, row):
    right = [seconds for seconds, right in row["peers"].values() if right]
    ours = row["ours"] if row["verdict"] in ("right", "open, right") else max(o.limit, row["ours"])
    return min(right) / ours if right else math.nan


def show(o, row):
    right = [(seconds, name) for name, (seconds, right) in row["peers"].items() if right]
    told = (f"{name} {'-' if seconds is None else format(seconds, '.3f')}{'' if right else ' wrong'}"
            for name, (seconds, right) in row["peers"].items())
    o.table.row(row["name"], row["rows"], row["ours"], row["whole"], min(right)[0] if right else math.nan,
                ratio_of(o, row), row["verdict"].split(":")[0], ", ".join(told))


def tell(o, rows):
    ratios = {name: ratio_of(o, row) for name, row in rows.items()}
    known = sorted((x, name) for name, x in ratios.items() if not math.isnan(x))
    print(f"\n{len(rows)} problems. tssolve: " + ", ".join(f"{n} {word}" for word, n in collections.Counter(
        row["verdict"].split(":")[0] for row in rows.values()).most_common()))
    for peer in ("LAPACK", "eigsh", "eigsh sigma", "eigs", "svds", "SLEPc"):
        tried = [row["peers"][peer] for row in rows.values() if peer in row["peers"]]
        print(f"{peer}: right {sum(right for _, right in tried)} of {len(tried)}, no answer "
              f"{sum(seconds is None for seconds, _ in tried)}")
    for kind in ("hermitian", "general", "svd", "pencil", "all"):
        its = [(x, name) for x, name in known if kind in (rows[name]["kind"], "all")]
        if its:
            of = [x for x, _ in its]
            print(f"{kind}: worst {min(of):.4f}, geometric mean {statistics.geometric_mean(of):.2f} of {len(of)} "
                  f"problems where a peer is right, {sum(x < 1 for x in of)} below 1, {sum(x < 0.5 for x in of)} below "
                  f"0.5")
    print(f"no peer is right in {len(rows) - len(known)}")
    print("the ten worst:", *(f"  {x:.4f} {name}: {rows[name]['ours']:.3f} s, {rows[name]['verdict']}"
                              for x, name in known[:10]), sep="\n")
    wrong = [name for name, row in rows.items() if row["verdict"].startswith("WRONG")]
    print("\n".join(f"WRONG SET: {name}: {rows[name]['verdict']}" for name in wrong) or "no wrong set")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of tssolve and tsdata")
    parser.add_argument("--store", help="keep results in this file, and take up what it has")
    parser.add_argument("--tell", action="store_true", help="run nothing, tell what the store has")
    parser.add_argument("--part", default="1/1", help="I/N: every Nth matrix, from the Ith on")
    parser.add_argument("--only", default="", help="problems whose names begin so")
    parser.add_argument("--size", type=int, help="of the families of --only, in place of their own")
    parser.add_argument("--ask", help="this alone of each matrix: WHICH,K[,SIGMA]")
    parser.add_argument("--keep", help="leave the files of --only in this folder")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a run of tssolve: %(default)s")
    parser.add_argument("--peer-limit", type=float, default=20, help="seconds of a peer: %(default)s")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of all: %(default)s")
    o = parser.parse_args()
    print_head()
    stored, rows, start = {}, {}, time.perf_counter()
    part, parts = map(int, o.part.split("/"))
    if o.store and os.path.exists(o.store):
        with open(o.store, encoding="utf-8") as file:
            stored = {matrix["label"]: matrix["rows"] for matrix in map(json.loads, file)}
    o.table = Table("problem:<58", "rows:7", "tssolve:9.4f", "whole:8.3f", "peer:9.4f", "ratio:8.3f", "verdict:<12",
                    "peers:<1")
    matrices = [(name, turn, size) for turn in (0, 1) for name, family in FAMILIES.items()
                for size in (family[3 + turn:4 + turn] if o.size is None else [o.size][turn:])]
    with tempfile.TemporaryDirectory() as o.folder:
        for name, turn, size in matrices[part - 1::parts]:
            label = f"{name} {size[0] if isinstance(size, tuple) else size}"
            if o.only and not label.startswith(o.only) and not o.only.startswith(label):
                continue
            if label in stored:
                for row in stored[label]:
                    show(o, row)
            elif o.tell:
                continue
            else:
                stored[label] = solve(o, label, name, turn, size)
                if o.store and label.startswith(o.only) and not o.ask:
                    with open(o.store, "a", encoding="utf-8") as file:
                        file.write(json.dumps({"label": label, "rows": stored[label]}) + "\n")
            rows.update((row["name"], row) for row in stored[label])
    tell(o, rows)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
