#!/usr/bin/env python3
"""tskmeans on embeddings, beside SuperKMeans and FAISS: same points, all of them, same number of iterations, one run.

    tests/bench/kmeans_embeddings.py --tskmeans build/bin/tskmeans [--shapes 100000x768x1000] [--real FILE.npy:CLUSTERS]

Points are unit vectors of 3000 groups whose standard deviations fall like 1 / sqrt(j) along hidden axes; --real: rows
of a .npy file, as data/embeddings.py makes them. Each program runs --repeat times (FAISS once) and its fastest run
counts, the order alternates. tskmeans is timed by what it says, without reading and writing, with pruning and with
--bounds off, whose labels must be equal; --sample labels are compared with the nearest centres by float64. Inertias are
those of the last centres, in float64 over the nearest; first centres are random rows, of tskmeans and FAISS the same
ones. Needs h5py, numpy, superkmeans and faiss-cpu.
"""
import argparse, datetime, os, subprocess, sys, tempfile, time
import faiss, h5py, numpy as np
from superkmeans import SuperKMeans
from embedding_points import points
from kmeans_runs import run_tskmeans

SHAPES = "100000x768x1000,300000x256x4000,150000x1024x2000,50000x3072x500"


def nearest(x, c, rows=20000):
    """Squared distances of all centres, block by block: first row, least, which."""
    c = np.asarray(c, np.float64).reshape(-1, x.shape[1])
    norms = (c * c).sum(1)
    for i in range(0, len(x), rows):
        p = x[i:i + rows].astype(np.float64)
        distances = (p * p).sum(1)[:, None] + norms[None] - 2 * p @ c.T
        yield i, distances


def inertia(x, c):
    return sum(float(d.min(1).sum()) for _, d in nearest(x, c))


def wrong_labels(x, c, labels, sample):
    rows = np.random.default_rng(1).choice(len(x), min(sample, len(x)), replace=False)
    wrong = 0
    for i, d in nearest(x[rows], c):
        own = d[np.arange(len(d)), labels[rows[i:i + len(d)]]]
        wrong += int((own > d.min(1) + 1e-12).sum())
    return wrong, len(rows)


def ours(program, folder, k, iterations, bounds):
    found = run_tskmeans(program, f"{folder}/x.h5:/x", "-k", k, "--init", f"{folder}/x.h5:/c", "--max-iter", iterations,
                         "--bounds", bounds, "--output", f"{folder}/{bounds}.h5")
    with h5py.File(f"{folder}/{bounds}.h5") as file:
        return found["elapsed_seconds"] - found["read_seconds"], file["labels"][...], file["cluster_centers"][...]


def superkmeans(x, k, iterations):
    model = SuperKMeans(n_clusters=k, dimensionality=x.shape[1], iters=iterations, sampling_fraction=1.0,
                        max_points_per_cluster=10**9, early_termination=False, hierarchical=False, tol=0.0)
    start = time.perf_counter()
    c = model.train(x)
    return time.perf_counter() - start, c


def faiss_kmeans(x, c, iterations):
    kmeans = faiss.Kmeans(x.shape[1], len(c), niter=iterations, max_points_per_centroid=10**9)
    start = time.perf_counter()
    kmeans.train(x, init_centroids=c)
    return time.perf_counter() - start, kmeans.centroids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", required=True)
    parser.add_argument("--shapes", default=SHAPES, help="points x features x clusters, comma-separated: %(default)s")
    parser.add_argument("--real", action="append", default=[], help="FILE.npy:CLUSTERS")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--sample", type=int, default=20000)
    options = parser.parse_args()
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{datetime.date.today()}, commit {commit}, {model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
          f"{options.iterations} iterations, faiss {faiss.__version__}")
    print(f"{'points':>18} {'tskmeans s':>10} {'without':>8} {'SuperKMeans':>11} {'FAISS':>7}  ratios          "
          "inertia/theirs-1        wrong labels", flush=True)
    cases = [("", *map(int, shape.split("x"))) for shape in options.shapes.split(",") if shape]
    for real in options.real:
        name, k = real.rsplit(":", 1)
        cases.append((name, *np.load(name, mmap_mode="r").shape, int(k)))
    for name, n, d, k in cases:
        x = np.ascontiguousarray(np.load(name), dtype=np.float32) if name else points(n, d)
        c = x[np.random.default_rng(2).choice(n, k, replace=False)].copy()
        pruned, plain, theirs = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            with h5py.File(f"{folder}/x.h5", "w") as file:
                file["x"], file["c"] = x, c
            for _ in range(options.repeat):
                pruned.append(ours(options.tskmeans, folder, k, options.iterations, "auto"))
                theirs.append(superkmeans(x, k, options.iterations))
                plain.append(ours(options.tskmeans, folder, k, options.iterations, "off"))
            other = faiss_kmeans(x, c, options.iterations)
        if not np.array_equal(pruned[0][1], plain[0][1]) or not np.array_equal(pruned[0][2], plain[0][2]):
            sys.exit("labels or centres with pruning differ from those without")
        a, b, s = (min(runs, key=lambda run: run[0]) for runs in (pruned, plain, theirs))
        found, of_superkmeans, of_faiss = inertia(x, a[2]), inertia(x, s[1]), inertia(x, other[1])
        wrong, of = wrong_labels(x, a[2], a[1], options.sample)
        print(f"{f'{n},{d},{k}':>18} {a[0]:10.2f} {b[0]:8.2f} {s[0]:11.2f} {other[0]:7.2f}  {s[0] / a[0]:5.2f} "
              f"{other[0] / a[0]:5.2f}  {found / of_superkmeans - 1:+.1e} {found / of_faiss - 1:+.1e}  {wrong} of {of}",
              flush=True)


if __name__ == "__main__":
    main()
