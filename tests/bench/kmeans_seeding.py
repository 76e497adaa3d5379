#!/usr/bin/env python3
"""First centres beside Lloyd iterations on one GPU: what choosing them takes, in iterations of the same run.

    tests/bench/kmeans_seeding.py --tskmeans build/bin/tskmeans [--shapes 8388608x64x1024]
        [--inits "k-means++,k-means||"]

Seconds of the first start, and of a later one (the mean of those of --n-init 4 but the first, in which kernels are
loaded), beside the sum of the first five iterations of the first start and five times the median iteration. Points are
blobs. Needs numpy and h5py.
"""
import json, statistics, tempfile
import h5py, numpy
from kmeans_runs import parse_options, run_tskmeans, shapes_of


def points(n, d, k):
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal((n, d), dtype=numpy.float32)
    box = 6 * rng.random((k, d), dtype=numpy.float32) - 3
    for i in range(0, n, 1 << 20):
        x[i:i + (1 << 20)] += box[rng.integers(0, k, len(x[i:i + (1 << 20)]))]
    return x


def run(program, file, folder, k, init, starts):
    log = f"{folder}/log"
    command = (program, f"{file}:/x", "-k", k, "--init", init, "--n-init", starts, "--max-iter", 12,
               "--device", "cuda", "--bounds", "off", "--log", log)
    found = run_tskmeans(*command)
    steps = map(json.loads, open(log))
    return found, [1e3 * step["seconds"] for step in steps if step["run"] == 0]


def main():
    options = parse_options(__doc__, "16777216x32x1024,8388608x64x1024,4194304x128x1024",
                            inits=("k-means++,k-means||,random,afk-mc2", "comma-separated"))
    print(f"{'points':>9} {'feat.':>5} {'k':>5}  {'init':<10} {'first ms':>8} {'later ms':>8}"
          f" {'5 iterations ms':>15} {'5 medians':>9} {'ratio':>6}  inertia")
    for n, d, k in shapes_of(options):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            file = f"{folder}/x.h5"
            with h5py.File(file, "w") as out:
                out["x"] = points(n, d, k)
            run(options.tskmeans, file, folder, k, "random", 1)  # kernels are compiled
            for init in options.inits.split(","):
                run(options.tskmeans, file, folder, k, init, 1)
                one, times = run(options.tskmeans, file, folder, k, init, 1)
                four, _ = run(options.tskmeans, file, folder, k, init, 4)
                first = 1e3 * one["seeding_seconds"]
                later = (1e3 * four["seeding_seconds"] - first) / 3
                five, medians = sum(times[:5]), 5 * statistics.median(times)
                print(f"{n:>9} {d:>5} {k:>5}  {init:<10} {first:>8.1f} {later:>8.1f} {five:>15.1f}"
                      f" {medians:>9.1f} {later / medians:>6.2f}  {one['inertia']:.6g}", flush=True)


main()
