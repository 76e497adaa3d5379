#!/usr/bin/env python3
"""tskmeans beside flash-kmeans on one GPU: same points, same first centres, same number of Lloyd iterations, one run.

    tests/bench/kmeans_flash.py --tskmeans build/bin/tskmeans [--shapes 8388608x64x1024] [--types float32,float16]
        [--data normal,blobs] [--iterations 12]
    tests/bench/kmeans_flash.py --tskmeans build/bin/tskmeans --data embeddings --iterations 10
        --shapes 1048576x512x1000,1048576x768x4096,2097152x128x8192,524288x1024x16384

Milliseconds of all iterations, and of the median one: of flash-kmeans between two CUDA events, of tskmeans what its
--log says, from call to return; kernels are compiled in a run before. Normal points and blobs are clustered with
--bounds off, embeddings as tskmeans plans it, where the median is that of iterations after the third; their labels and
centres must be those with --bounds off. "products" is 2 n k d at the fastest rate of a float16 product of 8192 x 8192
matrices in this run. Inertias are those of the centres both end with, by float64 products; of 20000 labels of tskmeans
those are counted that are not the nearest centre in float64. Needs numpy, torch, triton and flash-kmeans.
"""
import statistics, sys, tempfile
import numpy, torch
from flash_kmeans.kmeans_triton_impl import _euclid_iter
from kmeans_runs import cases_of, parse_options, points, steps_of

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


def tskmeans(program, folder, iterations, bounds):
    """Milliseconds of each iteration, the last centres, and labels."""
    steps = steps_of(program, f"{folder}/x.npy", "--init", f"{folder}/c.npy", "--max-iter", iterations, "--bounds",
                     bounds, "--centers-out", f"{folder}/centers.npy", "--labels-out", f"{folder}/labels.npy",
                     log=f"{folder}/log")
    centres, labels = (torch.tensor(numpy.load(f"{folder}/{name}.npy"), device="cuda")
                       for name in ("centers", "labels"))
    return [1e3 * step["seconds"] for step in steps], centres.double(), labels.long()


def distances(x, c):
    """Squared, of all rows and centres, block by block."""
    c = c.double()
    for part in x.split(max(1, (1 << 28) // len(c))):
        part = part.double()
        yield (part * part).sum(1)[:, None] + (c * c).sum(1) - 2 * part @ c.T


def inertia(x, c):
    return sum(float(d.min(1).values.sum()) for d in distances(x, c))


def wrong_labels(x, c, labels, count=20000):
    rows = torch.randperm(len(x), device="cuda")[:count]
    own = labels[rows].split(max(1, (1 << 28) // len(c)))
    return sum(int((d.gather(1, of[:, None])[:, 0] > d.min(1).values + 1e-12).sum())
               for d, of in zip(distances(x[rows], c), own))


def main():
    options = parse_options(__doc__, SHAPES, types="float32,float16",
                            data=("normal", "normal, blobs, embeddings, comma-separated"), iterations=12)
    rate = peak()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {options.iterations} iterations, "
          f"float16 products {rate / 1e9:.0f} TFLOPS")
    print(f"{'':41} {'tskmeans ms':>17}  {'flash ms':>17}  {'ratio':>11}")
    print(f"{'rows':>9} {'cols':>4} {'centr.':>6}  {'type':<8} {'data':<10} {'all':>8} {'median':>8}  {'all':>8}"
          f" {'median':>8}  {'all':>5} {'med.':>5} {'products':>8}  "
          "inertia/theirs-1, wrong")
    for n, d, k, name, kind in cases_of(options):
        x = points(n, d, k, kind, getattr(torch, name))
        c = x[torch.randperm(n, device="cuda")[:k]].clone()
        theirs, their_centres = flash(x, c, options.iterations)
        planned = kind == "embeddings"
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            numpy.save(f"{folder}/x.npy", x.cpu().numpy())
            numpy.save(f"{folder}/c.npy", c.cpu().numpy())
            runs = [tskmeans(options.tskmeans, folder, options.iterations, bounds)
                    for bounds in (("off", "auto", "auto") if planned else ("off", "off"))]
        if not torch.equal(runs[0][1], runs[-1][1]) or not torch.equal(runs[0][2], runs[-1][2]):
            sys.exit("labels or centres differ between runs with and without bounds")
        ours, centres, labels = runs[-1]
        a, b = statistics.median(ours[3 if planned else 0:]), statistics.median(theirs)
        print(f"{n:9} {d:4} {k:6}  {name:<8} {kind:<10} {sum(ours):8.2f} {a:8.3f}  {sum(theirs):8.2f} {b:8.3f}  "
              f"{sum(theirs) / sum(ours):5.2f} {b / a:5.2f} {2 * n * d * k / rate:8.2f}  "
              f"{inertia(x, centres) / inertia(x, their_centres) - 1:+.1e}, {wrong_labels(x, centres, labels)}",
              flush=True)
        if planned:
            print("   iterations:", " ".join(f"{ms:.2f}" for ms in ours), flush=True)
        del x, c, their_centres, centres, runs
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
