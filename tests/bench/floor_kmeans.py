#!/usr/bin/env python3
"""A floor under k-means: whole runs of ten iterations, over a grid of shapes that nobody tuned for, beside others.

  tests/bench/floor_kmeans.py gpu BIN    beside FlashLib (its own choice of route) and flash-kmeans
  tests/bench/floor_kmeans.py cpu BIN    beside scikit-learn, FAISS and SuperKMeans
  tests/bench/floor_kmeans.py budget BIN    the filter that tskmeans chooses beside each of them by hand, on a processor

All get the same points and the same first centres, in turns, and the fastest run of each counts: of tskmeans all
iterations as --log tells them on a GPU, the whole run but for its start and reading on a processor; of the others what
their call takes. SuperKMeans chooses first centres by itself. The ratio is the time of the fastest of them over that of
tskmeans, and the inertia that of tskmeans over theirs, less 1. The last lines tell the worst ratio and the geometric
mean. Peers that are not installed, or that fail, are left out (nan). On a processor threads of peers sleep while they
wait: spinning, they would keep each other from working where other programs run. The OpenBLAS 0.3.15 in faiss-cpu takes
a newer processor for a Prescott, and is told what to take it for.

On a busy machine --clock processor compares user and system times, of tskmeans those of the process but for its start.

`budget` takes processor time, too, and its ratio is that of --filter auto over the least of none, bounds, projection.
"""
import argparse
import importlib.util
import json
import math
import os
import resource
import statistics
import time

import numpy as np

from common import NAN, Table, fastest, output_of, print_head, timed
from kmeans_runs import Folder, from_centres, inertia, milliseconds, points, some_rows, tskmeans

# Rows, columns, clusters, kind of points. GPUs take each in float32 and in float16.
GPU_GRID = [
    (10_000, 2, 8, "blobs"), (10_000, 64, 64, "blobs"), (10_000, 784, 10, "normal"), (10_000, 3072, 256, "embeddings"),
    (20_000, 128, 4096, "normal"), (100_000, 1, 100, "normal"), (100_000, 16, 1000, "blobs"),
    (100_000, 128, 1024, "normal"), (100_000, 768, 1000, "embeddings"), (100_000, 3072, 1000, "embeddings"),
    (100_000, 32, 65_536, "normal"), (300_000, 128, 1000, "blobs"), (1_000_000, 1, 4096, "normal"),
    (1_000_000, 3, 10, "blobs"), (1_000_000, 10, 100, "normal"), (1_000_000, 32, 2, "normal"),
    (1_000_000, 48, 300, "blobs"), (1_000_000, 64, 1024, "blobs"), (1_000_000, 128, 1000, "blobs"),
    (1_000_000, 128, 16_384, "embeddings"), (1_000_000, 200, 50, "normal"), (1_000_000, 256, 1000, "blobs"),
    (1_000_000, 768, 1000, "blobs"), (3_000_000, 128, 1000, "blobs"), (10_000_000, 2, 100, "normal"),
    (10_000_000, 16, 16, "blobs"), (10_000_000, 32, 64, "normal"), (10_000_000, 64, 256, "blobs"),
    (30_000_000, 8, 64, "normal"), (30_000_000, 16, 8, "blobs"), (1_048_576, 512, 1000, "embeddings"),
    (1_048_576, 768, 4096, "embeddings"), (2_097_152, 128, 8192, "embeddings"), (524_288, 1024, 16_384, "embeddings"),
    (3_000_000, 96, 4096, "normal"), (1_280_000, 512, 16_384, "embeddings"), (769_000, 1024, 16_384, "embeddings"),
    (260_000, 3072, 16_384, "embeddings"), (6_553_600, 128, 65_536, "normal")]
# Processors take each in float32.
CPU_GRID = [
    (1000, 2, 8, "blobs"), (1000, 64, 10, "normal"), (5000, 784, 10, "blobs"), (10_000, 1, 16, "normal"),
    (10_000, 2, 50, "blobs"), (10_000, 16, 100, "normal"), (10_000, 128, 1000, "blobs"),
    (10_000, 768, 100, "embeddings"), (10_000, 3072, 50, "embeddings"), (20_000, 64, 4096, "normal"),
    (50_000, 3, 10, "blobs"), (50_000, 10, 300, "blobs"), (50_000, 32, 2, "normal"), (50_000, 128, 128, "normal"),
    (50_000, 784, 64, "blobs"), (50_000, 1536, 200, "embeddings"), (50_000, 3072, 500, "embeddings"),
    (80_000, 512, 700, "blobs"), (80_000, 512, 700, "embeddings"), (100_000, 1, 1000, "normal"),
    (100_000, 4, 1000, "blobs"), (100_000, 8, 16, "normal"), (100_000, 16, 64, "blobs"), (100_000, 48, 256, "normal"),
    (100_000, 96, 1024, "embeddings"), (100_000, 128, 1000, "blobs"), (100_000, 200, 50, "normal"),
    (100_000, 768, 1000, "embeddings"), (200_000, 128, 256, "blobs"), (200_000, 256, 1000, "normal"),
    (300_000, 2, 100, "normal"), (300_000, 32, 1000, "blobs"), (300_000, 256, 2000, "embeddings"),
    (500_000, 16, 16, "blobs"), (500_000, 64, 64, "normal"), (1_000_000, 2, 8, "blobs"), (1_000_000, 8, 256, "normal"),
    (1_000_000, 16, 64, "blobs"), (1_000_000, 32, 16, "normal"), (1_000_000, 128, 16_384, "embeddings")]


def part_of(grid, o):
    """The cases that --part I/N and --only choose."""
    part, parts = map(int, o.part.split("/"))
    chosen = {tuple(map(int, shape.split("x"))) for shape in o.only.split(",") if shape}
    return [case for case in grid[part - 1::parts] if not chosen or case[:3] in chosen]


def installed(name):
    return importlib.util.find_spec(name) is not None


def tell(ratios):
    """The worst and the geometric mean, over all cases and over those with more columns than one."""
    known = [r for r in ratios if not math.isnan(r)]
    if known:
        print(f"worst {min(known):.2f}, geometric mean {statistics.geometric_mean(known):.2f} of {len(known)} cases, "
              f"{sum(r < 1 for r in known)} below 1")


def points_on_gpu(kind, n, d, k, dtype):
    """As kmeans_runs.points(), made on the GPU: blobs overlap, so that first centres leave clusters empty."""
    import torch
    torch.manual_seed(1)
    groups = 3000 if kind == "embeddings" else k
    scale = torch.arange(1, d + 1, device="cuda", dtype=torch.float32) ** -.5
    axes = torch.linalg.qr(torch.randn(d, d, device="cuda"))[0] if kind == "embeddings" else None
    centres = torch.randn(groups, d, device="cuda") * (scale if kind == "embeddings" else 2)
    x = torch.empty(n, d, device="cuda", dtype=dtype)
    for i in range(0, n, 1 << 20):
        part = torch.randn(min(1 << 20, n - i), d, device="cuda")
        if kind != "normal":
            of = centres[torch.randint(0, groups, (len(part),), device="cuda")]
            part = of + (.8 * part * scale if kind == "embeddings" else part)
        if kind == "embeddings":
            part = torch.nn.functional.normalize(part @ axes)
        x[i:i + len(part)] = part
    return x


def flashlib_run(x, c, iterations):
    from flashlib.primitives.kmeans import flash_kmeans
    result = flash_kmeans(x, len(c), max_iters=iterations, tol=0.0, init_centroids=c)
    return next(r for r in result if r.shape[-2:] == c.shape).reshape(c.shape)


def flash_kmeans_run(x, c, iterations):
    from flash_kmeans.kmeans_triton_impl import _euclid_iter
    squares, c = (x * x).sum(-1)[None], c[None]
    for _ in range(iterations):
        c = _euclid_iter(x[None], squares, c)[0]
    return c[0]


def gpu(o):
    """Milliseconds, by CUDA events for those in Python."""
    import torch
    peers = {"FlashLib": flashlib_run, "flash-kmeans": flash_kmeans_run}
    peers = {name: run for name, run in peers.items() if name in o.peers.split(",")}
    table = Table("points:20", "type:<8", "kind:<10", "all ms:9.2f", "first:8.2f", "median:8.3f",
                  *(f"{name}:12.2f" for name in peers), "ratio:6.2f", "relocated:9", "inertia:+8.1e", "filters:<20")
    ratios = []
    for n, d, k, kind in part_of(GPU_GRID, o):
        for dtype in o.types.split(","):
            x = points_on_gpu(kind, n, d, k, getattr(torch, dtype))
            c = x[torch.randperm(n, device="cuda")[:k]].contiguous()
            theirs = {}
            for name, run in peers.items():
                try:
                    # FlashLib writes into the centres that it is given. The first run compiles kernels.
                    run(x, c.clone(), 1)
                    starts = [c.clone() for _ in range(o.repeat)]
                    theirs[name] = fastest([milliseconds(lambda: run(x, own, o.iterations)) for own in starts])
                except Exception as failure:
                    print(f"{name} fails at {n},{d},{k} {dtype}: {str(failure).splitlines()[:1]}")
                    theirs[name] = (NAN, None)
                torch.cuda.empty_cache()
            ours = []
            with Folder(dir=o.folder) as folder:
                folder.write(x=x.cpu().numpy(), c=c.cpu().numpy())
                for _ in range(1 + o.repeat):  # the first compiles kernels
                    found, steps = from_centres(o, folder, "--device", "cuda", outputs=("centers",))
                    ours.append(([1e3 * step["seconds"] for step in steps], steps))
                centres = torch.tensor(folder.read("ours-centres"), device="cuda")
            passes, steps = min(ours, key=lambda run: sum(run[0]))
            seconds, theirs_at_end = min((t for t in theirs.values() if t[1] is not None), key=lambda t: t[0],
                                         default=(NAN, None))
            ratios.append(seconds / sum(passes))
            beside = NAN if theirs_at_end is None or n * k > 10**11 else (
                inertia(x, centres) / inertia(x, theirs_at_end) - 1)
            used = sorted({f"{step['filter']}/{step['scorer']}" for step in steps})
            table.row(f"{n},{d},{k}", dtype, kind, sum(passes), passes[0], statistics.median(passes),
                      *(t[0] for t in theirs.values()), ratios[-1], steps[-1]["relocated"], beside, " ".join(used))
            del x, c, theirs, theirs_at_end
            torch.cuda.empty_cache()
    tell(ratios)


def spent(o, work):
    """What `work` takes by --clock, and its result."""
    before = time.process_time()
    seconds, result = timed(work)
    return time.process_time() - before if o.clock == "processor" else seconds, result


def sklearn_run(x, c, o):
    from sklearn.cluster import KMeans
    model = KMeans(len(c), init=c, n_init=1, max_iter=o.iterations, tol=0, algorithm="lloyd")
    return spent(o, lambda: model.fit(x))[0], model.cluster_centers_


def faiss_run(x, c, o):
    import faiss
    faiss.omp_set_num_threads(o.threads)
    kmeans = faiss.Kmeans(x.shape[1], len(c), niter=o.iterations, max_points_per_centroid=10**9,
                          min_points_per_centroid=1)
    return spent(o, lambda: kmeans.train(x, init_centroids=c) and None)[0], kmeans.centroids


def superkmeans_run(x, c, o):
    from superkmeans import SuperKMeans
    model = SuperKMeans(n_clusters=len(c), dimensionality=x.shape[1], iters=o.iterations, sampling_fraction=1.0,
                        max_points_per_cluster=10**9, early_termination=False, hierarchical=False, tol=0.0,
                        n_threads=o.threads)
    return spent(o, lambda: np.asarray(model.train(x)).reshape(c.shape))


def words_of(o, folder, *more):
    """A run of tskmeans from x and c of the folder, without files written."""
    return [folder.path("x"), "--init", folder.path("c"), "--max-iter", o.iterations, "--tol", 0, "--threads",
            o.threads, *more]


def processor_seconds(o, *words):
    """User and system time of tskmeans with such words, and what it says; None if it reads nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = output_of([f"{o.bin}/tskmeans", *words, "--json", "--quiet"], (0, 3))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, None if "--dry-run" in words else json.loads(text)


def cpu(o):
    """Milliseconds by --clock; processor time of tskmeans has that of reading in it."""
    peers = {"sklearn": sklearn_run, "faiss": faiss_run, "superkmeans": superkmeans_run}
    peers = {name: run for name, run in peers.items() if installed(name)}
    table = Table("points:20", "kind:<10", "run ms:10.2f", "passes:9.2f", *(f"{name}:11.2f" for name in peers),
                  "ratio:6.2f", "iterations:10", "relocated:9", "inertia:+8.1e", "its:+8.1e", "filters:<20")
    print("passes: all iterations of a run with --log; inertia: beside the fastest of them; its: beside SuperKMeans")
    ratios, embeddings = [], []
    for n, d, k, kind in part_of(CPU_GRID, o):
        x = points(kind, n, d, k if kind == "blobs" else 3000)
        c, theirs, ours, starts = some_rows(x, k), {name: [] for name in peers}, [], []
        with Folder(dir=o.folder) as folder:
            folder.write(x=x, c=c)
            start = time.perf_counter()
            while len(ours) < o.repeat or (time.perf_counter() - start < o.least and len(ours) < 10 * o.repeat):
                if o.clock == "processor":
                    starts.append(processor_seconds(o, *words_of(o, folder, "--dry-run"))[0])
                    ours.append(processor_seconds(o, *words_of(o, folder)))
                else:
                    found = tskmeans(o, *words_of(o, folder))
                    ours.append((found["seconds"], found))
                for name, run in peers.items():
                    try:
                        theirs[name].append(run(x, c, o))
                    except Exception as failure:
                        print(f"{name} fails at {n},{d},{k}: {str(failure).splitlines()[:1]}")
            steps = from_centres(o, folder, "--threads", o.threads, outputs=())[1]
        total, found = fastest(ours)
        total -= min(starts, default=0)
        best = {name: fastest(runs) for name, runs in theirs.items()}
        seconds, centres = min((run for run in best.values() if run[1] is not None), key=lambda run: run[0],
                               default=(NAN, None))
        ratios.append(seconds / total)
        its, its_centres = best.get("superkmeans", (NAN, None))
        if kind == "embeddings":
            embeddings.append(its / total)

        def beside(those, all_products=n * k * d):
            return NAN if those is None or all_products > 10**12 else found["inertia"] / inertia(x, those) - 1

        used = sorted({f"{step['filter']}/{step['scorer']}" for step in steps})
        table.row(f"{n},{d},{k}", kind, 1e3 * total, 1e3 * sum(step["seconds"] for step in steps),
                  *(1e3 * run[0] for run in best.values()), ratios[-1], len(steps), steps[-1]["relocated"],
                  beside(centres), beside(its_centres), " ".join(used))
    tell(ratios)
    if embeddings:
        print("embeddings beside SuperKMeans: ", end="")
        tell(embeddings)


def budget(o):
    """Milliseconds of processor time."""
    filters = ("auto", "none", "bounds", "projection")
    table = Table("points:20", "kind:<10", *(f"{name}:11.2f" for name in filters), "ratio:6.2f")
    ratios = []
    for n, d, k, kind in part_of(CPU_GRID, o):
        x = points(kind, n, d, k if kind == "blobs" else 3000)
        with Folder(dir=o.folder) as folder:
            folder.write(x=x, c=some_rows(x, k))
            least, start, runs = {}, time.perf_counter(), 0
            while runs < o.repeat or (time.perf_counter() - start < o.least and runs < 10 * o.repeat):
                runs += 1
                for name in ("start", *filters):
                    words = ("--dry-run",) if name == "start" else ("--filter", name)
                    seconds = processor_seconds(o, *words_of(o, folder, *words))[0]
                    least[name] = min(seconds, least.get(name, seconds))
        passes = {name: least[name] - least["start"] for name in filters}
        ratios.append(passes["auto"] / min(passes[name] for name in filters[1:]))
        table.row(f"{n},{d},{k}", kind, *(1e3 * passes[name] for name in filters), ratios[-1])
    if ratios:
        print(f"worst {max(ratios):.2f} of {len(ratios)} cases, {sum(r > 1.1 for r in ratios)} above 1.1")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", choices=("gpu", "cpu", "budget"))
    parser.add_argument("bin", help="the folder of tskmeans")
    parser.add_argument("--folder", help="where files are written")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=2, help="runs of each, at least: %(default)s")
    parser.add_argument("--least", type=float, default=4, help="seconds of a case on processors: %(default)s")
    parser.add_argument("--clock", default="wall", choices=("wall", "processor"), help="of cpu: %(default)s")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of all: %(default)s")
    parser.add_argument("--types", default="float32,float16", help="of points on GPUs: %(default)s")
    parser.add_argument("--peers", default="FlashLib,flash-kmeans", help="on GPUs: %(default)s")
    parser.add_argument("--part", default="1/1", help="I/N: every Nth case, from the Ith on")
    parser.add_argument("--only", default="", help="these shapes of the grid: ROWSxCOLUMNSxCLUSTERS, comma-separated")
    o = parser.parse_args()
    # For what is imported from here on.
    os.environ.update(OMP_NUM_THREADS=str(o.threads), OPENBLAS_NUM_THREADS=str(o.threads), OMP_WAIT_POLICY="PASSIVE")
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if "avx512bw" in lines.read() else "Haswell")
    print_head()
    start = time.perf_counter()
    {"gpu": gpu, "cpu": cpu, "budget": budget}[o.where](o)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
