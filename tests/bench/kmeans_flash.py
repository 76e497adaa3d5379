#!/usr/bin/env python3
"""tskmeans beside flash-kmeans on one GPU: same points, same first centres, same number of Lloyd iterations, one run.

    tests/bench/kmeans_flash.py BIN [--shapes 8388608x64x1024] [--types float32,float16] [--kinds normal,blobs]
    tests/bench/kmeans_flash.py BIN --kinds embeddings --iterations 10
        --shapes 1048576x512x1000,1048576x768x4096,2097152x128x8192,524288x1024x16384

Milliseconds of all iterations, and of the median one: of flash-kmeans between two CUDA events, of tskmeans what its
--log says, from call to return; kernels are compiled in a run before. Normal points and blobs are clustered with
--bounds off, embeddings as tskmeans plans it, where the median is that of iterations after the third; their labels and
centres must be those with --bounds off. "products" is 2 n k d at the fastest rate of a float16 product of 8192 x 8192
matrices in this run. Inertias are those of the centres both end with, by float64 products; of 20000 labels of tskmeans
those are counted that are not the nearest centre in float64. Needs numpy, torch, triton and flash-kmeans.
"""
import argparse
import statistics
import sys

import torch
from flash_kmeans.kmeans_triton_impl import _euclid_iter

from kmeans_runs import (Folder, Table, from_centres, inertia, points, print_head, same, shapes_of, some_rows,
                         wrong_labels)

SHAPES = ("67108864x4x16,67108864x8x16,33554432x16x16,33554432x16x64,16777216x32x32,8388608x64x64,4194304x128x100,"
          "16777216x32x256,8388608x64x1024,4194304x128x1000,2097152x128x8192,1048576x512x1000,1048576x768x4096")


def milliseconds(work):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    result = work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end), result


def peak():
    """Flops a millisecond of float16 products."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    return 2 * 8192**3 / min(milliseconds(lambda: a @ a)[0] for _ in range(20))


def flash(x, c, iterations):
    """Milliseconds of each iteration, and the last centres."""
    x, c = x[None], c[None]
    squares = torch.empty(x.shape[:2], device="cuda", dtype=x.dtype)
    for i in range(0, x.shape[1], 1 << 20):
        squares[:, i:i + (1 << 20)] = (x[:, i:i + (1 << 20)] ** 2).sum(-1)
    for _ in range(2):
        _euclid_iter(x, squares, c)
    times = []
    for _ in range(iterations):
        time, (c, *_) = milliseconds(lambda: _euclid_iter(x, squares, c))
        times.append(time)
    return times, c[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of tskmeans")
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--types", default="float32,float16")
    parser.add_argument("--kinds", default="normal", help="normal, blobs, embeddings, comma-separated")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--folder", default="/dev/shm")
    o = parser.parse_args()
    print_head()
    rate = peak()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {o.iterations} iterations, "
          f"float16 products {rate / 1e9:.0f} TFLOPS")
    table = Table("points:20", "type:<8", "kind:<10", "all ms:8.2f", "median:8.3f", "flash all:9.2f", "median:8.3f",
                  "ratio:5.2f", "ratio:5.2f", "products:8.2f", "inertia:+8.1e", "wrong:5")
    for n, d, k in shapes_of(o.shapes):
        for dtype in o.types.split(","):
            for kind in o.kinds.split(","):
                planned = kind == "embeddings"
                x = points(kind, n, d, 3000 if planned else k, dtype)
                c = some_rows(x, k)
                there = torch.tensor(x, device="cuda")
                theirs, their_centres = flash(there, torch.tensor(c, device="cuda"), o.iterations)
                with Folder(dir=o.folder) as folder:
                    folder.write(x=x, c=c)
                    for bounds, name in (("auto" if planned else "off", "ours"), ("off", "plain"),
                                         ("auto" if planned else "off", "ours")):  # the first compiles kernels
                        steps = from_centres(o, folder, "--device", "cuda", "--bounds", bounds, name=name)[1]
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


if __name__ == "__main__":
    main()
