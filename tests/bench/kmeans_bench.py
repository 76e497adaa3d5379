#!/usr/bin/env python3
"""k-means by tskmeans beside other programs, and beside itself: kmeans_bench.py COMMAND BIN [options]

BIN is the folder of tskmeans and tsdata. Compared programs get the same points, the same first centres and as many
iterations, in turns; the fastest run of each counts. tskmeans is timed by what it says, without reading and writing.
Needs NumPy and what the command names; FAISS and SuperKMeans are left out where they are not installed.
"""
import argparse
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from common import NAN, Table, fastest, print_head, timed
from kmeans_runs import (Folder, from_centres, inertia, milliseconds, points, same, shapes_of, some_rows, tskmeans,
                         wrong_labels)

SHAPES = {
    "peers": "1000000x16x64,1000000x32x16,200000x128x256,50000x784x64",
    "embeddings": "100000x768x1000,300000x256x4000,150000x1024x2000,50000x3072x500",
    "quick": "100000x768x1000,300000x256x4000",
    "seeding cuda": "16777216x32x1024,8388608x64x1024,4194304x128x1024",
    "seeding cpu": "300000x256x256,100000x768x1000,300000x256x4000,150000x1024x2000,50000x3072x500,1000000x64x16384,"
                   "300000x32x65536",
    "bounds": "67108864x4x16,33554432x16x64,8388608x64x64,16777216x32x256,8388608x64x1024,4194304x128x1000,"
              "2097152x128x8192,1048576x512x1000,1048576x768x4096",
    "flash": "67108864x4x16,67108864x8x16,33554432x16x16,33554432x16x64,16777216x32x32,8388608x64x64,4194304x128x100,"
             "16777216x32x256,8388608x64x1024,4194304x128x1000,2097152x128x8192,1048576x512x1000,1048576x768x4096"}


def installed(name):
    return importlib.util.find_spec(name) is not None


def by_faiss(x, c, iterations):
    import faiss
    kmeans = faiss.Kmeans(x.shape[1], len(c), niter=iterations, max_points_per_centroid=10**9)
    return timed(lambda: kmeans.train(x, init_centroids=c) and None)[0], kmeans.centroids


def peers(o):
    """beside scikit-learn and FAISS; inertia is compared with scikit-learn's, added up again in float64"""
    from sklearn.cluster import KMeans
    table = Table("points:18", "kind:8", "tskmeans:9.3f", "sklearn:9.3f", "faiss:9.3f", "ratio:6.2f", "inertia:+9.1e")
    for n, d, k in shapes_of(o.shapes):
        for kind in ("uniform", "blobs"):
            x = points(kind, n, d, k)
            c, ours, theirs, other = some_rows(x, k), [], [], []
            with Folder(dir=o.folder) as folder:
                folder.write(x=x, c=c)
                for _ in range(o.repeat):
                    found, _ = from_centres(o, folder, "--filter", o.filter)
                    ours.append((found["seconds"], found["inertia"]))
                    model = KMeans(k, init=c, n_init=1, max_iter=o.iterations, tol=0, algorithm="lloyd")
                    theirs.append(timed(lambda: model.fit(x)))
                    other += [by_faiss(x, c, o.iterations)] if installed("faiss") else []
            a, (seconds, model), f = map(fastest, (ours, theirs, other))
            exact = sum(float(((x[i:i + 65536].astype(float) - model.cluster_centers_[model.labels_[i:i + 65536]]) ** 2)
                              .sum()) for i in range(0, n, 65536))
            table.row(f"{n},{d},{k}", kind, a[0], seconds, f[0], np.nanmin([seconds, f[0]]) / a[0], a[1] / exact - 1)


def embeddings(o):
    """with and without bounds, which must agree, beside SuperKMeans and FAISS; --real FILE.npy:CLUSTERS adds points"""
    table = Table("points:18", "tskmeans:9.2f", "without:8.2f", "SuperKMeans:11.2f", "FAISS:7.2f", "ratio:6.2f",
                  "ratio:6.2f", "inertia:+8.1e", "inertia:+8.1e", "wrong:5")
    cases = [("", *shape) for shape in shapes_of(o.shapes)]
    cases += [(name, *np.load(name, mmap_mode="r").shape, int(k)) for name, k in (r.rsplit(":", 1) for r in o.real)]
    for name, n, d, k in cases:
        x = np.ascontiguousarray(np.load(name), dtype=np.float32) if name else points("embeddings", n, d)
        c, pruned, plain, theirs = some_rows(x, k), [], [], []

        def superkmeans():
            from superkmeans import SuperKMeans
            model = SuperKMeans(n_clusters=k, dimensionality=d, iters=o.iterations, sampling_fraction=1.0,
                                max_points_per_cluster=10**9, early_termination=False, hierarchical=False, tol=0.0)
            return timed(lambda: np.asarray(model.train(x)).reshape(-1, d))

        with Folder(dir=o.folder) as folder:
            folder.write(x=x, c=c)
            for _ in range(o.repeat):
                pruned.append(from_centres(o, folder, name="pruned")[0]["seconds"])
                theirs += [superkmeans()] if installed("superkmeans") else []
                plain.append(from_centres(o, folder, "--filter", "none", name="plain")[0]["seconds"])
            if not same(folder, "pruned", "plain"):
                sys.exit("labels or centres with pruning differ from those without")
            centres, labels = folder.read("pruned-centres"), folder.read("pruned-labels")
        peers_found = [fastest(theirs), by_faiss(x, c, o.iterations) if installed("faiss") else (NAN, None)]
        ours = inertia(x, centres)
        table.row(f"{n},{d},{k}", min(pruned), min(plain), *(seconds for seconds, _ in peers_found),
                  *(seconds / min(pruned) for seconds, _ in peers_found),
                  *(NAN if found is None else ours / inertia(x, found) - 1 for _, found in peers_found),
                  wrong_labels(x, centres, labels, o.sample))


def quick(o):
    """quick modes beside the exact one: inertia over its, and k times the sum of squared shares of the clusters"""
    modes = {"exact": "", "two-level": "--algorithm two-level", "refined": "--algorithm two-level --refine 5",
             "sample 40": "--sample 40", "changed 0.001": "--tol-mode changed --tol 0.001",
             "changed 0.01": "--tol-mode changed --tol 0.01", "mini-batch": "--algorithm mini-batch"}
    table = Table("points:20", "mode:<14", "seconds:8.1f", "iter.:5", "ratio:8.4f", "balance:8.2f")
    cases = [(f"{n}x{d}x{k}", lambda n=n, d=d: points("embeddings", n, d), k) for n, d, k in shapes_of(o.shapes)]
    for real in o.real:
        name, k = real.rsplit(":", 1)
        cases.append((os.path.basename(name), lambda name=name: np.random.default_rng(5).permutation(np.load(name)), k))
    for name, make, k in cases:
        with Folder(dir=o.folder) as folder:
            folder.write(x=make())
            exact = None
            for mode, words in modes.items():
                found = tskmeans(o, folder.path("x"), "-k", k, *words.split())
                exact = exact or found["inertia"]
                sizes = np.array(found["cluster_sizes"], float)
                table.row(name, mode, found["seconds"], found["n_iter"], found["inertia"] / exact,
                          len(sizes) * (sizes ** 2).sum() / sizes.sum() ** 2)


def seeding(o):
    """first centres beside iterations without bounds; on a GPU the first start loads kernels, later ones do not"""
    on_gpu = o.device == "cuda"
    steps = 12 if on_gpu else 2
    table = Table("points:20", "init:<10", "first s:8.4f", "later s:8.4f", "iteration s:11.5f", "first / it.:11.2f",
                  "later / it.:11.2f", "inertia:12.6g")
    for n, d, k in shapes_of(o.shapes or SHAPES["seeding " + o.device]):
        with Folder(dir=o.folder) as folder:
            folder.write(x=points(o.kind or ("blobs" if on_gpu else "embeddings"), n, d, 3000 if not on_gpu else k))

            def run(init, starts):
                log = f"{folder.name}/log"
                found = tskmeans(o, folder.path("x"), "-k", k, "--init", init, "--n-init", starts, "--max-iter", steps,
                                 "--tol", 0, "--device", o.device, "--filter", "none", "--log", log)
                with open(log, encoding="utf-8") as lines:
                    return found, [line["seconds"] for line in map(json.loads, lines) if line["run"] == 0]

            for init in o.inits.split(","):
                if on_gpu:
                    run(init, 1)  # compiles kernels
                one, times = run(init, 1)
                first, iteration = one["seeding_seconds"], statistics.median(times)
                later = (run(init, 4)[0]["seeding_seconds"] - first) / 3 if on_gpu else first
                table.row(f"{n},{d},{k}", init, first, later, iteration, first / iteration, later / iteration,
                          one["inertia"])


def bounds(o):
    """on a GPU with --filter none and auto, which must agree: all iterations, those from the 11th on,
    rows left alone"""
    table = Table("points:20", "type:<8", "kind:<7", "iter.:5", "off s:8.4f", "auto s:8.4f", "ratio:6.2f", "late:6.2f",
                  "alone %:7.1f", "same:4")
    for n, d, k in shapes_of(o.shapes):
        for dtype in o.types.split(","):
            for kind in o.kinds.split(","):
                x = points(kind, n, d, 2 * k, dtype)
                with Folder(dir=o.folder) as folder:
                    folder.write(x=x, c=some_rows(x, k))
                    logs = {}
                    for way in ("auto", "none", "auto"):  # the first compiles kernels
                        logs[way] = from_centres(o, folder, "--device", o.device, "--filter", way, name=way)[1]
                    equal = same(folder, "none", "auto") and len(logs["none"]) == len(logs["auto"])
                off, auto = ([step["seconds"] for step in logs[way]] for way in ("none", "auto"))
                alone = sum(step["skipped"] for step in logs["auto"]) / (n * len(auto))
                table.row(f"{n},{d},{k}", dtype, kind, len(auto), sum(off), sum(auto), sum(off) / sum(auto),
                          sum(off[10:]) / sum(auto[10:]) if len(auto) > 10 else NAN, 100 * alone,
                          "yes" if equal else "NO")


def predict(o):
    """labels of points in an HDF5 file beside dd, from the page cache and, with --disk, from the disk; the file stays.
    --before: an older BIN. --check: labels compared with distances in float64 (h5py)"""
    path = os.path.join(o.folder or ".", f"predict-{o.rows}-{o.cols}-{o.dtype}.h5")
    if not os.path.exists(path):
        subprocess.run([f"{o.bin}/tsdata", "gen", "blobs", "--n", str(o.rows), "--cols", str(o.cols), "--groups", "64",
                        "--dtype", o.dtype, "-q", "-o", path], check=True, stdout=subprocess.DEVNULL)
        os.sync()
    size, points_of = o.rows * o.cols * np.dtype(o.dtype).itemsize, path + ":/features"
    print(f"{o.rows} x {o.cols} {o.dtype}, {size / 1e9:.2f} GB")
    table = Table("what:<34", "from:<10", "seconds:8.3f", "GB/s:7.2f", "Mrows/s:8.2f", "processor:9.2f",
                  "peak MB:8.0f")

    def row(what, place, command):
        """The least time of --repeat runs, with the processor seconds and the peak memory of that run."""
        runs = []
        for _ in range(o.repeat):
            if place == "disk":
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            said = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
            runs.append((time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, said))
        seconds, processor, peak, said = fastest(runs)
        table.row(what, place, seconds, size / 1e9 / seconds, o.rows / 1e6 / seconds, processor, peak)
        return json.loads(said) if said else None

    for place in ("disk", "page cache") if o.disk else ("page cache",):
        row("dd bs=8M", place, ["dd", f"if={path}", "of=/dev/null", "bs=8M"])
    with Folder(dir=o.folder) as folder:
        for k in o.clusters:
            tskmeans(o, points_of, "-k", k, "--init", "random", "--max-iter", 2, "--rows", f":{min(o.rows, 100000)}",
                     "--centers-out", folder.path("c"))
            said = []
            for program in filter(None, (o.bin, o.before)):
                command = [f"{program}/tskmeans", points_of, "--predict", folder.path("c"), "--labels-out",
                           folder.path("labels"), "-q", "--json"]
                name = f"{'before' if program != o.bin else '--predict'}, {k} centroids"
                if o.disk:
                    row(name, "disk", command)
                said.append(row(name, "page cache", command))
                row(f"{name}, --memory", "page cache", [*command, "--memory", o.memory])
            if any(said[0][key] != other[key] for other in said for key in ("inertia", "cluster_sizes")):
                sys.exit("other results than before")
            if o.check:
                import h5py
                with h5py.File(path) as file:
                    wrong = wrong_labels(file["features"][:], folder.read("c"), folder.read("labels"), o.check)
                print(f"  of {o.check} rows {wrong} have a nearer centroid in float64")


def flash(o):
    """on a GPU beside flash-kmeans, milliseconds of all iterations and of the median one: of flash-kmeans between two
    CUDA events, of tskmeans what its --log says; kernels are compiled in a run before. Normal points and blobs are
    clustered with --filter none, embeddings as tskmeans plans it: the median is that of iterations after the third, and
    labels and centres must be those with --filter none. Products: 2 n k d at the fastest rate of a float16 product of
    8192 x 8192 matrices. Inertias are those of the centres both end with. Needs torch, triton and flash-kmeans"""
    import torch
    from flash_kmeans.kmeans_triton_impl import _euclid_iter

    def theirs_of(x, c):
        """Milliseconds of each iteration, and the last centres."""
        x, c = x[None], c[None]
        squares = torch.empty(x.shape[:2], device="cuda", dtype=x.dtype)
        for i in range(0, x.shape[1], 1 << 20):
            squares[:, i:i + (1 << 20)] = (x[:, i:i + (1 << 20)] ** 2).sum(-1)
        for _ in range(2):
            _euclid_iter(x, squares, c)
        times = []
        for _ in range(o.iterations):
            passed, (c, *_) = milliseconds(lambda: _euclid_iter(x, squares, c))
            times.append(passed)
        return times, c[0]

    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    rate = 2 * 8192**3 / min(milliseconds(lambda: a @ a)[0] for _ in range(20))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {o.iterations} iterations, "
          f"float16 products {rate / 1e9:.0f} TFLOPS")
    table = Table("points:20", "type:<8", "kind:<10", "all ms:8.2f", "median:8.3f", "flash all:9.2f", "median:8.3f",
                  "ratio:5.2f", "ratio:5.2f", "products:8.2f", "inertia:+8.1e", "wrong:5")
    for n, d, k in shapes_of(o.shapes):
        for dtype, kind in itertools.product(o.types.split(","), o.kinds.split(",")):
            planned = kind == "embeddings"
            x = points(kind, n, d, 3000 if planned else k, dtype)
            c, there = some_rows(x, k), torch.tensor(x, device="cuda")
            theirs, their_centres = theirs_of(there, torch.tensor(c, device="cuda"))
            with Folder(dir=o.folder) as folder:
                folder.write(x=x, c=c)
                ways = [("auto" if planned else "none", "ours"), ("none", "plain")]
                for way, name in (*ways, ways[0]):  # the first compiles kernels
                    steps = from_centres(o, folder, "--device", "cuda", "--filter", way, name=name)[1]
                if not same(folder, "ours", "plain"):
                    sys.exit("labels or centres differ between runs with and without bounds")
                centres, labels = folder.read("ours-centres"), folder.read("ours-labels")
            ours = [1e3 * step["seconds"] for step in steps]
            a, b = statistics.median(ours[3 if planned else 0:]), statistics.median(theirs)
            beside = inertia(there, torch.tensor(centres, device="cuda")) / inertia(there, their_centres) - 1
            table.row(f"{n},{d},{k}", dtype, kind, sum(ours), a, sum(theirs), b, sum(theirs) / sum(ours), b / a,
                      2 * n * d * k / rate, beside, wrong_labels(x, centres, labels, 20000))
            del there, their_centres
            torch.cuda.empty_cache()


def main():
    count, shapes = {"type": int}, "points x features x clusters, comma-separated: %(default)s"
    options = {
        "shapes": {"help": shapes}, "iterations": count, "repeat": {**count, "help": "runs of each: %(default)s"},
        "filter": {"choices": ("auto", "none")}, "real": {"action": "append", "help": "FILE.npy:CLUSTERS"},
        "sample": {**count, "help": "labels that are checked: %(default)s"}, "device": {"choices": ("cuda", "cpu")},
        "inits": {}, "kind": {"choices": ("blobs", "embeddings")}, "types": {},
        "kinds": {"help": "normal, blobs, embeddings, comma-separated"}, "rows": count, "cols": count,
        "dtype": {"choices": ("float32", "float16")}, "clusters": {**count, "nargs": "+"}, "before": {},
        "memory": {}, "disk": {"action": "store_true"}, "check": count}
    commands = {
        peers: {"shapes": SHAPES["peers"], "iterations": 25, "repeat": 3, "filter": "auto"},
        embeddings: {"shapes": SHAPES["embeddings"], "iterations": 10, "repeat": 2, "real": [], "sample": 20000},
        quick: {"shapes": SHAPES["quick"], "real": []},
        seeding: {"shapes": "", "device": "cuda", "inits": "k-means++,k-means||,random", "kind": None},
        bounds: {"shapes": SHAPES["bounds"], "iterations": 100, "device": "cuda", "types": "float32,float16",
                 "kinds": "normal,blobs"},
        flash: {"shapes": SHAPES["flash"], "iterations": 12, "types": "float32,float16", "kinds": "normal"},
        predict: {"rows": 4000000, "cols": 96, "dtype": "float32", "clusters": [16, 64, 256], "repeat": 5,
                  "before": None, "memory": "600M", "disk": False, "check": 0}}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, defaults in commands.items():
        word = words.add_parser(command.__name__, help=command.__doc__, description=command.__doc__)
        word.add_argument("bin", help="the folder of tskmeans and tsdata")
        word.add_argument("--folder", help="where files are written")
        for name, value in defaults.items():
            word.add_argument("--" + name, default=value, **options[name])
        word.set_defaults(command=command)
    o = parser.parse_args()
    print_head()
    o.command(o)


if __name__ == "__main__":
    main()
