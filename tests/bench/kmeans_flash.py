#!/usr/bin/env python3
"""tskmeans beside flash-kmeans on one GPU: same points, same first centres, same number of Lloyd iterations, one run.

    tests/bench/kmeans_flash.py --tskmeans build/bin/tskmeans [--shapes 8388608x64x1024] [--types float32,float16]
        [--data normal,blobs]

Both programs make --iterations iterations, of which the median is compared: of flash-kmeans between two CUDA events,
of tskmeans what its --log says, from call to return. The inertias are those of the centres they end with, summed in
float64 over the nearest centres by float64 products. Needs torch, triton, h5py and flash-kmeans.
"""
import statistics, tempfile
import h5py, torch
from flash_kmeans.kmeans_triton_impl import _euclid_iter
from kmeans_runs import cases_of, parse_options, points, steps_of

SHAPES = ("67108864x4x16,67108864x8x16,33554432x16x16,33554432x16x64,16777216x32x32,8388608x64x64,4194304x128x100,"
          "16777216x32x256,8388608x64x1024,4194304x128x1000,2097152x128x8192,1048576x512x1000,1048576x768x4096")


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
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        c = _euclid_iter(x, squares, c)[0]
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return times, c[0]


def tskmeans(program, folder, iterations):
    steps = steps_of(program, f"{folder}/x.h5:/x", "--init", f"{folder}/x.h5:/c", "--max-iter", iterations,
                     "--bounds", "off", "--output", f"{folder}/out.h5", log=f"{folder}/log")
    with h5py.File(f"{folder}/out.h5") as file:
        return [1e3 * step["seconds"] for step in steps], torch.tensor(file["cluster_centers"][...], device="cuda",
                                                                       dtype=torch.float64)


def inertia(x, c):
    c, total = c.double(), 0.0
    norms = (c * c).sum(1)
    rows = max(1, (1 << 28) // len(c))
    for i in range(0, len(x), rows):
        part = x[i:i + rows].double()
        total += float(((part * part).sum(1) + (norms - 2 * part @ c.T).min(1).values).sum())
    return total


def main():
    options = parse_options(__doc__, SHAPES, types="float32,float16",
                            data=("normal", "normal, blobs or both, comma-separated"), iterations=12)
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "iterations", options.iterations)
    print(f"{'rows':>9} {'cols':>4} {'centr.':>6}  {'type':<8} {'data':<7} {'tskmeans ms':>11} {'flash ms':>9}"
          f" {'ratio':>6}  inertia: tskmeans / flash - 1")
    for n, d, k, name, kind in cases_of(options):
        x = points(n, d, k, kind, getattr(torch, name))
        c = x[torch.randperm(n, device="cuda")[:k]].clone()
        theirs, their_centres = flash(x, c, options.iterations)
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            with h5py.File(f"{folder}/x.h5", "w") as file:
                file["x"], file["c"] = x.cpu().numpy(), c.cpu().numpy()
            ours, our_centres = tskmeans(options.tskmeans, folder, options.iterations)
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"{n:9} {d:4} {k:6}  {name:<8} {kind:<7} {a:11.3f} {b:9.3f} {b / a:6.2f}"
              f"  {inertia(x, our_centres) / inertia(x, their_centres) - 1:+.1e}", flush=True)
        del x, c, their_centres, our_centres
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
