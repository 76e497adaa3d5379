#!/usr/bin/env python3
"""What bounds spare tskmeans on a GPU: runs to the end with --bounds off and auto, on the same points from the same
first centroids.

    tests/bench/kmeans_bounds.py --tskmeans build/bin/tskmeans [--shapes 8388608x64x1024] [--types float32,float16]
        [--data blobs]

Of each run: the iterations, the seconds of all of them as --log has them, and of those behind the first ten; of the
run with bounds, which part of all rows its passes left alone. Labels and centroids must be the same, bit for bit. Data:
normal (no clusters at all), or blobs (2 k of them, of standard deviation 1 in a box of side 6, which overlap in few
columns). Needs torch and h5py.
"""
import tempfile
import h5py, numpy, torch
from kmeans_runs import cases_of, parse_options, points, steps_of

SHAPES = ("67108864x4x16,33554432x16x64,8388608x64x64,16777216x32x256,8388608x64x1024,4194304x128x1000,"
          "2097152x128x8192,1048576x512x1000,1048576x768x4096")


def write_points(path, n, d, k, kind, dtype):
    x = points(n, d, 2 * k, kind, dtype)
    with h5py.File(path, "w") as file:
        file["x"], file["c"] = x.cpu().numpy(), x[torch.randperm(n, device="cuda")[:k]].cpu().numpy()


def run(program, folder, iterations, bounds, name):
    return steps_of(program, f"{folder}/x.h5:/x", "--init", f"{folder}/x.h5:/c", "--max-iter", iterations,
                    "--bounds", bounds, "--output", f"{folder}/{name}.h5", log=f"{folder}/{name}.log")


def same(folder):
    with h5py.File(f"{folder}/off.h5") as a, h5py.File(f"{folder}/auto.h5") as b:
        return all(numpy.array_equal(a[name][...], b[name][...]) for name in ("labels", "cluster_centers"))


def side_by_side(off, auto):
    return f"{off:8.4f} {auto:8.4f} {off / auto:6.2f}"


def main():
    options = parse_options(__doc__, SHAPES, types="float32,float16", data="normal,blobs", iterations=100)
    print(torch.cuda.get_device_name(), "at most", options.iterations, "iterations")
    seconds = f"{'off s':>8} {'auto s':>8} {'ratio':>6}"
    print(f"{'rows':>9} {'cols':>4} {'centr.':>6}  {'type':<8} {'data':<7} {'iter.':>5} {seconds}"
          f"  from the 11th on: {seconds}  {'left alone':>10}  same")
    for n, d, k, name, kind in cases_of(options):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            write_points(f"{folder}/x.h5", n, d, k, kind, getattr(torch, name))
            run(options.tskmeans, folder, options.iterations, "auto", "first")  # compiles kernels
            logs = {bounds: run(options.tskmeans, folder, options.iterations, bounds, bounds)
                    for bounds in ("off", "auto")}
            off, auto = ([step["seconds"] for step in logs[bounds]] for bounds in ("off", "auto"))
            late = side_by_side(sum(off[10:]), sum(auto[10:])) if len(off) > 10 else 24 * " "
            alone = sum(step["skipped"] for step in logs["auto"]) / (n * len(auto))
            equal = "yes" if same(folder) and len(off) == len(auto) else "NO"
            print(f"{n:9} {d:4} {k:6}  {name:<8} {kind:<7} {len(auto):5} {side_by_side(sum(off), sum(auto))}"
                  f"  {'':17} {late}  {100 * alone:8.1f} %  {equal}", flush=True)


if __name__ == "__main__":
    main()
