#!/usr/bin/env python3
"""tskmeans beside scikit-learn and FAISS: same points, same first centres, same number of iterations.

    tests/bench/kmeans_peers.py --tskmeans build/bin/tskmeans [--shapes 100000x16x64] [--repeat 3] [--json FILE]

Every program is run --repeat times and its fastest run counts; the order alternates, so that another user of
the machine hurts all alike. tskmeans is timed by what it says itself, without reading and writing files.
Inertias are compared in float64: scikit-learn adds up those of float32 points in float32, which alone is off by
some 1e-6; its labels and centres are therefore summed again here. The last column has both differences, first
from that sum, then from what scikit-learn says itself. Needs h5py, numpy, scikit-learn and faiss.
"""
import argparse, datetime, json, os, platform, subprocess, tempfile, time, warnings
import faiss, h5py, numpy as np, sklearn
from sklearn.cluster import KMeans
from kmeans_runs import run_tskmeans

SHAPES = "1000000x16x64,1000000x32x16,200000x128x256,50000x784x64"


def points(n, d, k, kind):
    r = np.random.default_rng(1)
    if kind == "uniform":
        x = r.random((n, d), dtype=np.float32)
    else:
        x = (r.uniform(-3, 3, (k, d))[r.integers(0, k, n)] + r.standard_normal((n, d))).astype(np.float32)
    return x, x[r.choice(n, k, replace=False)].copy()


def run_ours(program, folder, iterations, bounds):
    found = run_tskmeans(program, f"{folder}/x.h5:/x", "--init", f"{folder}/x.h5:/c", "--max-iter", iterations,
                         "--bounds", bounds)
    return found["elapsed_seconds"] - found["read_seconds"], found["n_iter"], found["inertia"], found["rescored"]


def run_sklearn(x, c, iterations):
    start = time.perf_counter()
    model = KMeans(len(c), init=c, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd").fit(x)
    return time.perf_counter() - start, model.n_iter_, model.inertia_, model


def inertia_in_float64(x, model):
    rows = 1 << 16
    total = 0.0
    for i in range(0, len(x), rows):
        centres = model.cluster_centers_[model.labels_[i:i + rows]].astype(np.float64)
        total += float(((x[i:i + rows].astype(np.float64) - centres) ** 2).sum())
    return total


def run_faiss(x, c, iterations):
    kmeans = faiss.Kmeans(x.shape[1], len(c), niter=iterations, max_points_per_centroid=10**9)
    start = time.perf_counter()
    kmeans.train(x, init_centroids=c)
    return time.perf_counter() - start, iterations, float(kmeans.obj[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", required=True)
    parser.add_argument("--shapes", default=SHAPES, help="points x features x clusters, comma-separated: %(default)s")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--bounds", default="auto", choices=["auto", "off"])
    parser.add_argument("--json")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")

    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    report = {"date": datetime.date.today().isoformat(), "commit": commit, "processor": model, "cores": os.cpu_count(),
              "load_at_start": os.getloadavg()[0], "iterations": options.iterations, "repeat": options.repeat,
              "scikit-learn": sklearn.__version__, "faiss": faiss.__version__, "python": platform.python_version(),
              "runs": []}
    print(f"{'shape':>18} {'points':>8} {'tskmeans':>9} {'sklearn':>9} {'faiss':>9} {'ratio':>6}"
          "  inertia/sklearn-1: in float64, as it says")
    for n, d, k in (map(int, shape.split("x")) for shape in options.shapes.split(",")):
        for kind in ("uniform", "blobs"):
            x, c = points(n, d, k, kind)
            ours, theirs, other = [], [], []
            with tempfile.TemporaryDirectory() as folder:
                with h5py.File(f"{folder}/x.h5", "w") as file:
                    file["x"], file["c"] = x, c
                for _ in range(options.repeat):
                    ours.append(run_ours(options.tskmeans, folder, options.iterations, options.bounds))
                    theirs.append(run_sklearn(x, c, options.iterations))
                    other.append(run_faiss(x, c, options.iterations))
            a, b, f = (min(runs, key=lambda run: run[0]) for runs in (ours, theirs, other))
            exact = inertia_in_float64(x, b[3])
            row = {"n": n, "d": d, "k": k, "points": kind, "tskmeans_seconds": a[0], "sklearn_seconds": b[0],
                   "faiss_seconds": f[0], "tskmeans_iterations": a[1], "sklearn_iterations": b[1],
                   "tskmeans_inertia": a[2], "sklearn_inertia": b[2], "sklearn_inertia_in_float64": exact,
                   "rescored": a[3], "ratio_to_better": min(b[0], f[0]) / a[0]}
            report["runs"].append(row)
            print(f"{f'{n},{d},{k}':>18} {kind:>8} {a[0]:9.3f} {b[0]:9.3f} {f[0]:9.3f} {row['ratio_to_better']:6.2f}"
                  f"  {a[2] / exact - 1:+.1e} {a[2] / b[2] - 1:+.1e}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
