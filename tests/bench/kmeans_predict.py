#!/usr/bin/env python3
"""tskmeans --predict beside reading alone: seconds and GB/s, from the page cache and from the disk.

    kmeans_predict.py BIN [--rows 4000000] [--cols 96] [--clusters 16 64 256] [--before OLDER_BIN] [--runs 5]

The file (HDF5, float32, contiguous) is made by `tsdata gen blobs` in the folder of --folder, and stays there. Reading
alone is pread() into one buffer of 8 MiB. From the disk: the file was put out of the page cache before. The least
time of --runs runs counts.
"""
import argparse
import json
import os
import resource
import subprocess
import time


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(path):
    buffer = bytearray(8 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def least(runs, work, before=lambda: None):
    """Least seconds, and the processor seconds of that run and its processes."""
    best = None
    for _ in range(runs):
        before()
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        start = time.monotonic()
        work()
        seconds = time.monotonic() - start
        now = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        processor = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(used, now))
        best = min(best or (seconds, processor), (seconds, processor))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of tskmeans and tsdata")
    parser.add_argument("--before", help="the folder of an older tskmeans")
    parser.add_argument("--rows", type=int, default=4000000)
    parser.add_argument("--cols", type=int, default=96)
    parser.add_argument("--clusters", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--disk", action="store_true", help="from the disk, too")
    parser.add_argument("--folder", default=".")
    options = parser.parse_args()
    path = os.path.join(options.folder, f"predict-{options.rows}-{options.cols}.h5")
    if not os.path.exists(path):
        subprocess.run([os.path.join(options.bin, "tsdata"), "gen", "blobs", "--n", str(options.rows), "--cols",
                        str(options.cols), "--groups", "64", "--dtype", "float32", "-o", path], check=True)
    size = options.rows * options.cols * 4
    places = {"page cache": lambda: None, **({"disk": lambda: forget(path)} if options.disk else {})}
    print(f"{options.rows} x {options.cols} float32, {size / 1e9:.2f} GB, {os.cpu_count()} processors")
    print(f"{'what':32}{'from':12}{'seconds':>9}{'GB/s':>8}{'processor s':>13}")

    def row(what, place, work):
        seconds, processor = least(options.runs, work, places[place])
        print(f"{what:32}{place:12}{seconds:9.3f}{size / 1e9 / seconds:8.2f}{processor:13.2f}", flush=True)

    read(path)
    for place in places:
        row("reading alone", place, lambda: read(path))
    for clusters in options.clusters:
        centers = os.path.join(options.folder, f"predict-{clusters}.h5")
        subprocess.run([os.path.join(options.bin, "tskmeans"), path, "-k", str(clusters), "--init", "random",
                        "--max-iter", "2", "--rows", ":100000", "-q", "-o", centers], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        said = {}
        for name, folder in (("--predict", options.bin), ("--predict before", options.before)):
            if not folder:
                continue

            def predict(memory=(), name=name, folder=folder):
                done = subprocess.run([os.path.join(folder, "tskmeans"), path, "--predict", centers, "-o",
                                       os.path.join(options.folder, "predict-labels.h5"), "--device", "cpu", "-q",
                                       "--json", *memory], stdout=subprocess.PIPE, check=True)
                said[name] = json.loads(done.stdout)
            for place in places:
                row(f"{name}, {clusters} centroids", place, predict)
            if name != "--predict":
                row(f"{name}, --memory 600M", "page cache", lambda: predict(("--memory", "600M")))
        if options.before:
            same = all(said["--predict"][key] == said["--predict before"][key] for key in ("inertia", "cluster_sizes"))
            print("the same inertia and sizes" if same else "OTHER RESULTS")


if __name__ == "__main__":
    main()
