#!/usr/bin/env python3
"""tskmeans --predict of many rows that are streamed from a file: rows a second, peak memory, and what the disk gives.

    kmeans_predict_large.py BIN [--rows 100000000] [--cols 16] [--clusters 256 1000] [--check 20000] [--folder .]

Makes HDF5 of float16 in --folder (32 bytes a row; it stays there): rows about 1000 points. Each run begins with the
file outside the page cache (posix_fadvise), and once more with what the page cache still has of it. Beside it: dd.
Labels of --check rows are compared with distances in float64. Needs numpy and h5py.
"""
import argparse
import json
import os
import subprocess
import time

import h5py
import numpy as np

GROUPS = 1000


def make(path, n, d):
    """Rows of groups whose means lie 3 standard deviations of a row's noise about 0."""
    random = np.random.default_rng(1)
    means = (random.standard_normal((GROUPS, d)) * 3).astype(np.float16)
    block = 1 << 20
    noise = random.standard_normal((block, d)).astype(np.float16)
    with h5py.File(path, "w") as file:
        x = file.create_dataset("points", (n, d), dtype="f2")
        for i in range(0, n, block):
            m = min(block, n - i)
            x[i:i + m] = means[random.integers(0, GROUPS, m)] + np.roll(noise, int(random.integers(block)), 0)[:m]


def centers_of(d, k):
    random = np.random.default_rng(1)
    means = (random.standard_normal((GROUPS, d)) * 3).astype(np.float16).astype(np.float64)
    moved = np.random.default_rng(2)
    return means[moved.integers(0, GROUPS, k) if k > GROUPS else np.arange(k)] + 0.05 * moved.standard_normal((k, d))


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(command, **more):
    """Seconds, and the processor seconds and peak MB of the process."""
    start = time.monotonic()
    process = subprocess.Popen(command, **more)
    out = process.stdout.read() if process.stdout else None
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, out


def wrong_labels(path, labels, centers, count):
    n = len(labels)
    rows = np.sort(np.random.default_rng(3).choice(n, count, replace=False))
    wrong = 0
    with h5py.File(path) as file:
        x = file["points"]
        for part in np.array_split(rows, 200):
            points = np.stack([x[i] for i in part]).astype(np.float64)
            squared = ((points[:, None, :] - centers[None]) ** 2).sum(2)
            mine = squared[np.arange(len(part)), labels[part]]
            wrong += int((mine > squared.min(1) * (1 + 1e-14)).sum())
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of tskmeans")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--cols", type=int, default=16)
    parser.add_argument("--clusters", type=int, nargs="+", default=[256, 1000])
    parser.add_argument("--check", type=int, default=20000)
    parser.add_argument("--folder", default=".")
    o = parser.parse_args()
    path = os.path.join(o.folder, f"predict-large-{o.rows}-{o.cols}.h5")
    if not os.path.exists(path):
        make(path, o.rows, o.cols)
        os.sync()
    size = o.rows * o.cols * 2
    print(f"{o.rows} x {o.cols} float16, {size / 1e9:.2f} GB, {len(os.sched_getaffinity(0))} processors")
    print("what                        from          seconds    GB/s  Mrows/s  processor s  peak MB")

    def line(what, source, seconds, used, peak):
        print(f"{what:27} {source:11} {seconds:9.2f} {size / seconds / 1e9:7.2f} {o.rows / seconds / 1e6:8.2f} "
              f"{used:12.2f} {peak:8.0f}", flush=True)

    for source in ("disk", "page cache"):
        def begin():
            if source == "disk":
                forget(path)
        begin()
        line("dd bs=8M", source, *timed(["dd", f"if={path}", "of=/dev/null", "bs=8M"], stderr=subprocess.DEVNULL)[:3])
        for k in o.clusters:
            centers = centers_of(o.cols, k)
            files = [os.path.join(o.folder, name) for name in (f"centers-{k}.npy", f"labels-{k}.npy")]
            np.save(files[0], centers)
            begin()
            seconds, used, peak, out = timed(
                [os.path.join(o.bin, "tskmeans"), path, "--predict", files[0], "--labels-out", files[1], "--json"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            line(f"--predict, {k} centroids", source, seconds, used, peak)
            if source != "disk":
                stream = json.loads(out).get("streamed", {})
                labels = np.load(files[1], mmap_mode="r")
                print(f"  in blocks of {stream.get('block_rows')} rows; of {o.check} rows "
                      f"{wrong_labels(path, labels, centers, o.check)} have a nearer centroid in float64")
            os.remove(files[1])


if __name__ == "__main__":
    main()
