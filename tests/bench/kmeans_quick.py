#!/usr/bin/env python3
"""Quick modes of tskmeans beside the exact mode: seconds, and inertia.

    tests/bench/kmeans_quick.py --tskmeans build/bin/tskmeans [--shapes 100000x768x1000,300000x256x4000]
        [--real FILE.npy --clusters 1000] [--folder FOLDER]

Points are made like embeddings: 3000 groups on the sphere. --real adds points of a file, in a random order.

"ratio" is the inertia by the mode over that of the exact mode. "seconds" are without reading the file. "balance" is k
times the sum of the squared shares of clusters: 1 if all sizes are equal. Needs numpy, h5py.
"""
import argparse, datetime, json, os, subprocess
import h5py, numpy as np
from embedding_points import points

MODES = {"exact": [], "two-level": ["--algorithm", "two-level"],
         "two-level, refine 5": ["--algorithm", "two-level", "--refine", "5"], "sample 40": ["--sample", "40"],
         "changed 0.001": ["--tol-mode", "changed", "--tol", "0.001"],
         "changed 0.01": ["--tol-mode", "changed", "--tol", "0.01"], "mini-batch": ["--algorithm", "mini-batch"]}


def run(program, file, k, mode):
    done = subprocess.run([program, file, "-k", str(k), "--json", "--quiet", *mode], capture_output=True, text=True)
    return json.loads(done.stdout)


def compare(program, file, name, k):
    exact = None
    for mode, options in MODES.items():
        found = run(program, file, k, options)
        exact = exact or found["inertia"]
        seconds = found["elapsed_seconds"] - found["read_seconds"]
        sizes = np.array(found["cluster_sizes"], float)
        balance = len(sizes) * (sizes ** 2).sum() / sizes.sum() ** 2
        print(f"{name:>20} {mode:<20} {seconds:8.1f} {found['n_iter']:5d} {found['inertia'] / exact:8.4f}"
              f" {balance:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", required=True)
    parser.add_argument("--shapes", default="100000x768x1000,300000x256x4000")
    parser.add_argument("--real")
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--folder", default="/dev/shm")
    options = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"kmeans_quick.py, {datetime.date.today()}, commit {commit}, {os.cpu_count()} cores,"
          f" load at start {os.getloadavg()[0]:.1f}")
    print(f"{'points':>20} {'mode':<20} {'seconds':>8} {'iter.':>5} {'ratio':>8} {'balance':>8}")
    file = f"{options.folder}/quick.h5"
    cases = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",") if shape]
    try:
        for n, d, k in cases:
            with h5py.File(file, "w") as out:
                out["x"] = points(n, d)
            compare(options.tskmeans, file + ":/x", f"{n}x{d}x{k}", k)
        if options.real:
            x = np.load(options.real)
            with h5py.File(file, "w") as out:
                out["x"] = x[np.random.default_rng(5).permutation(len(x))]
            compare(options.tskmeans, file + ":/x", f"real {len(x)}x{x.shape[1]}x{options.clusters}", options.clusters)
    finally:
        if os.path.exists(file):
            os.remove(file)


if __name__ == "__main__":
    main()
