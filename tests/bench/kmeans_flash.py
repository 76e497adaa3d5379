#!/usr/bin/env python3
"""tskmeans beside flash-kmeans on one GPU: same points, same first centres, same number of Lloyd iterations, one run.

    tests/bench/kmeans_flash.py --tskmeans build/bin/tskmeans [--shapes 8388608x64x1024] [--types float32,float16]
        [--data normal,blobs]

Both programs make --iterations iterations, of which the median is compared: of flash-kmeans between two CUDA events,
of tskmeans what its --log says, from call to return. The inertias are those of the centres they end with, summed in
float64 over the nearest centres by float64 products. Needs torch, triton, h5py and flash-kmeans.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile
import h5py, torch
from flash_kmeans.kmeans_triton_impl import _euclid_iter

SHAPES = ("67108864x4x16,67108864x8x16,33554432x16x16,33554432x16x64,16777216x32x32,8388608x64x64,4194304x128x100,"
          "16777216x32x256,8388608x64x1024,4194304x128x1000,2097152x128x8192,1048576x512x1000,1048576x768x4096")


def points(n, d, k, kind, dtype):
    torch.manual_seed(1)
    x = torch.randn(n, d, device="cuda", dtype=dtype)
    if kind == "blobs":
        box = 6 * torch.rand(k, d, device="cuda", dtype=dtype) - 3
        for i in range(0, n, 1 << 20):
            x[i:i + (1 << 20)] += box[torch.randint(0, k, (min(n, i + (1 << 20)) - i,), device="cuda")]
    return x, x[torch.randperm(n, device="cuda")[:k]].clone()


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
    command = [program, f"{folder}/x.h5:/x", "--init", f"{folder}/x.h5:/c", "--max-iter", str(iterations),
               "--tol", "0", "--device", "cuda", "--bounds", "off", "--json", "--quiet",
               "--log", f"{folder}/log", "--output", f"{folder}/out.h5"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    times = [1e3 * json.loads(line)["seconds"] for line in open(f"{folder}/log")]
    with h5py.File(f"{folder}/out.h5") as file:
        return times, torch.tensor(file["cluster_centers"][...], device="cuda", dtype=torch.float64)


def inertia(x, c):
    c, total = c.double(), 0.0
    norms = (c * c).sum(1)
    rows = max(1, (1 << 28) // len(c))
    for i in range(0, len(x), rows):
        part = x[i:i + rows].double()
        total += float(((part * part).sum(1) + (norms - 2 * part @ c.T).min(1).values).sum())
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", required=True)
    parser.add_argument("--shapes", default=SHAPES, help="points x features x clusters, comma-separated")
    parser.add_argument("--types", default="float32,float16")
    parser.add_argument("--data", default="normal", help="normal, blobs or both, comma-separated")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--folder", default="/dev/shm", help="where the points are written for tskmeans: %(default)s")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "iterations", options.iterations)
    print(f"{'rows':>9} {'cols':>4} {'centr.':>6}  {'type':<8} {'data':<7} {'tskmeans ms':>11} {'flash ms':>9}"
          f" {'ratio':>6}  inertia: tskmeans / flash - 1")
    for shape in options.shapes.split(","):
        n, d, k = map(int, shape.split("x"))
        for name in options.types.split(","):
            for kind in options.data.split(","):
                x, c = points(n, d, k, kind, getattr(torch, name))
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
