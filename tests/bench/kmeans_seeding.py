#!/usr/bin/env python3
"""First centres beside Lloyd iterations: what choosing them takes, in iterations of the same run.

    tests/bench/kmeans_seeding.py --tskmeans build/bin/tskmeans [--device cpu] [--shapes 8388608x64x1024]
        [--inits "k-means++,k-means||"] [--points embeddings]

Seconds of the first start, and on a GPU of a later one (the mean of those of --n-init 4 but the first, in which
kernels are loaded), beside the median iteration, which skips no points (--bounds off). Points are blobs on a GPU; on a
processor embeddings: of unit length, normal around 3000 centres, with columns of falling variance. Needs numpy.
"""
import json, statistics, tempfile
import numpy
from kmeans_runs import parse_options, run_tskmeans, shapes_of

SHAPES = {"cuda": "16777216x32x1024,8388608x64x1024,4194304x128x1024",
          "cpu": "300000x256x256,100000x768x1000,300000x256x4000,150000x1024x2000,50000x3072x500,1000000x64x16384,"
                 "300000x32x65536"}


def blobs(n, d, k):
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal((n, d), dtype=numpy.float32)
    box = 6 * rng.random((k, d), dtype=numpy.float32) - 3
    for i in range(0, n, 1 << 20):
        x[i:i + (1 << 20)] += box[rng.integers(0, k, len(x[i:i + (1 << 20)]))]
    return x


def embeddings(n, d, _):
    rng = numpy.random.default_rng(0)
    scale = (numpy.arange(1, d + 1) ** -.5).astype("f4")
    turn = numpy.linalg.qr(rng.standard_normal((d, d)))[0].astype("f4")
    centres = rng.standard_normal((3000, d)).astype("f4") * scale
    x = numpy.empty((n, d), "f4")
    for i in range(0, n, 1 << 17):
        part = x[i:i + (1 << 17)]
        noise = .8 * rng.standard_normal(part.shape, dtype="f4") * scale
        part[:] = (centres[rng.integers(0, len(centres), len(part))] + noise) @ turn
        part /= numpy.linalg.norm(part, axis=1, keepdims=True)
    return x


def run(options, file, folder, k, init, starts, iterations):
    log = f"{folder}/log"
    found = run_tskmeans(options.tskmeans, file, "-k", k, "--init", init, "--n-init", starts, "--max-iter",
                         iterations, "--device", options.device, "--bounds", "off", "--log", log)
    with open(log, encoding="utf-8") as steps:
        return found, [step["seconds"] for step in map(json.loads, steps) if step["run"] == 0]


def main():
    options = parse_options(__doc__, "", inits=("k-means++,k-means||,random", "comma-separated"),
                            device=("cuda", "cuda or cpu"), points=("", "blobs or embeddings"))
    on_gpu = options.device == "cuda"
    kind = options.points or ("blobs" if on_gpu else "embeddings")
    options.shapes = options.shapes or SHAPES[options.device]
    print(f"{'points':>9} {'feat.':>5} {'k':>5}  {'init':<10} {'first s':>8} {'later s':>8} {'iteration s':>11}"
          f" {'first / it.':>11} {'later / it.':>11}  inertia")
    for n, d, k in shapes_of(options):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            file = f"{folder}/x.npy"
            numpy.save(file, (blobs if kind == "blobs" else embeddings)(n, d, k))
            if on_gpu:
                run(options, file, folder, k, "random", 1, 12)  # kernels are compiled
            for init in options.inits.split(","):
                if on_gpu:
                    run(options, file, folder, k, init, 1, 12)
                one, times = run(options, file, folder, k, init, 1, 12 if on_gpu else 2)
                first, iteration = one["seeding_seconds"], statistics.median(times)
                later = first
                if on_gpu:
                    later = (run(options, file, folder, k, init, 4, 12)[0]["seeding_seconds"] - first) / 3
                print(f"{n:>9} {d:>5} {k:>5}  {init:<10} {first:>8.4f} {later:>8.4f} {iteration:>11.5f}"
                      f" {first / iteration:>11.2f} {later / iteration:>11.2f}  {one['inertia']:.6g}", flush=True)


main()
