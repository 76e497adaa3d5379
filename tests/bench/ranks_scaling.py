#!/usr/bin/env python3
"""How runs scale on ranks with a GPU each, beside what docs/scaling.py predicts.

  kmeans  a pass of k-means, (2^25, 16, 64) and (2^22, 128, 1000): the median of all passes of a run, from --log
  lap3d   tssolve, a grid of 128^3 for each rank, 20 smallest eigenvalues: seconds by phase; and steps of block Lanczos
  large   k-means of 4e9 x 16 float16 (128 GB) on all ranks, labels checked; needs NumPy and h5py
  grid    tssolve, a grid of 384^3, 10 smallest eigenvalues, on all ranks

strong: the same rows on any number of ranks; weak: as many rows for each. Results of one rank and of more must be equal
(k-means) or the closed form (grids), or the script ends. BIN is the folder of tskmeans, tssolve and tsdata.
`--device cpu --scale 0.001` is a trial.
"""
import argparse
import json
import math
import pathlib
import shlex
import statistics
import sys
import tempfile
import time

from common import MPI, json_of, output_of, print_head

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs"))
import scaling  # noqa: E402


def timed(what, command):
    begin = time.time()
    told = output_of(command).strip()
    print(f"  {what}: {time.time() - begin:.1f} s{'; ' + told if told else ''}", flush=True)


class Runs:
    """What all parts have in common: programs, ranks, where files lie."""

    def __init__(self, o, folder):
        self.o, self.folder = o, folder

    def tool(self, name):
        return self.o.bin / name

    def json_of(self, ranks, command):
        """Of a run on so many ranks, and the seconds of the whole command. 3: not converged."""
        launcher = shlex.split(self.o.mpirun.format(ranks=ranks)) if ranks > 1 else []
        begin = time.time()
        result = json_of(launcher + command + ["--device", self.o.device], MPI)
        if result["ranks"] > 1 and not result["ranks_work"].startswith("together"):
            print(f"  {ranks} ranks: {result['ranks_work']}", flush=True)
        return result, time.time() - begin

    def predicted(self, model, ranks, *sizes):
        """Seconds of a step or pass."""
        return model(scaling.MACHINES[self.o.machine], ranks, *sizes).step.seconds

    def sizes(self, base):
        """(strong or weak, ranks, rows): one rank first, which both ways begin with."""
        most = max(self.o.ranks)
        more = [ranks for ranks in self.o.ranks if ranks > 1]
        return ([("", 1, base)] + [("strong", ranks, base) for ranks in more]
                + [("weak", ranks, base * ranks) for ranks in more if ranks <= most])


def efficiency(how, ranks, one, seconds):
    return one / (seconds * (ranks if how == "strong" else 1))


def kmeans(runs):
    o = runs.o
    print(f"{'points':>24} {'k':>5} {'bounds':>6} {'ranks':>5} {'way':>6} {'passes':>6} {'a pass ms':>10} "
          f"{'efficiency':>10} {'predicted ms':>12} {'measured / predicted':>20}")
    for n, d, k, passes in ((2**25, 16, 64, 120), (2**22, 128, 1000, 40)):
        n = max(16384, int(n * o.scale))
        points = runs.folder / f"points{d}.h5"
        timed(points.name, [runs.tool("tsdata"), "gen", "blobs", "--n", n * max(o.ranks), "--cols", d,
                            "--groups", k, "--dtype", "float32", "-q", "-o", points])
        for bounds in o.bounds:
            for _ in range(o.repeat):
                one, kept = None, {}
                for how, ranks, rows in runs.sizes(n):
                    command = [runs.tool("tskmeans"), f"{points}:/features", "--rows", f"0:{rows}", "-k", k, "--init",
                               "random", "--tol", 0, "--max-iter", passes, "--filter", bounds]
                    log = runs.folder / "passes.jsonl"
                    result, _ = runs.json_of(ranks, command + ["--log", log, "--trust-input"])
                    seconds = statistics.median([json.loads(line)["seconds"] for line in log.read_text().splitlines()])
                    same = result["inertia"], result["n_iter"], result["cluster_sizes"]
                    if kept.setdefault(rows, same) != same:
                        sys.exit(f"{ranks} ranks have another result than one")
                    one = one or seconds
                    model = runs.predicted(scaling.kmeans, ranks, rows, d, k, 4)
                    print(f"{rows:>14} x {d:<3} float32 {k:>5} {bounds:>6} {ranks:>5} {how:>6} {result['n_iter']:>6} "
                          f"{1e3 * seconds:>10.3f} {efficiency(how, ranks, one, seconds):>10.2f} {1e3 * model:>12.3f} "
                          f"{seconds / model:>20.2f}", flush=True)
        points.unlink()


def exact(sides, count, largest):
    """Eigenvalues of the grid's Laplacian in closed form, the smallest or the largest."""
    ends = [[2 - 2 * math.cos(math.pi * i / (n + 1))
             for i in (range(n, max(0, n - count), -1) if largest else range(1, min(n, count) + 1))] for n in sides]
    return sorted((x + y + z for x in ends[0] for y in ends[1] for z in ends[2]), reverse=largest)[:count]


def expect_exact(values, sides, count, largest, tolerance=1e-7):
    found = sorted(values, reverse=largest)
    wanted = exact(sides, count, largest)
    if len(found) < count:
        sys.exit(f"{len(found)} of {count} eigenvalues were found")
    worst = max(abs(a - b) for a, b in zip(found, wanted))
    if worst > tolerance * 12:
        sys.exit(f"an eigenvalue is off by {worst:.1e}")
    return worst


def grid_file(runs, sides):
    file = runs.folder / f"grid{'x'.join(map(str, sides))}.h5"
    if not file.exists():
        timed(file.name, [runs.tool("tsdata"), "gen", "lap3d", "--n", "x".join(map(str, sides)), "--spectrum-count", 1,
                          "-q", "-o", file])
    return file


PHASES = ("operator", "orthogonalisation", "restarts", "projected_problem")


def solve(runs, ranks, sides, command, count, largest=False):
    """Phases as text, what is told, seconds of a step, the largest error."""
    result, whole = runs.json_of(ranks, command)
    steps = result["operator_applications"] / result["block_size"]
    seconds = result["seconds"]
    worst = expect_exact(result["eigenvalues"], sides, count, largest) if result["converged"] else math.nan
    step = (seconds["operator"] + seconds["orthogonalisation"]) / steps
    print(" ".join(f"{seconds.get(phase, 0):>10.3f}" for phase in PHASES)
          + f" {result['elapsed_seconds']:>9.3f} {whole:>9.1f} {steps:>7.0f} {1e3 * step:>9.3f} {worst:>8.1e}", end="")
    return result, step


HEAD = (f"{'grid':>14} {'ranks':>5} {'way':>6} " + " ".join(f"{phase[:10]:>10}" for phase in PHASES)
        + f" {'solving s':>9} {'command s':>9} {'steps':>7} {'a step ms':>9} {'error':>8}")


def lap3d(runs):
    o = runs.o
    side = max(16, round(128 * o.scale ** (1 / 3)))
    base = [runs.tool("tssolve"), "--determinism", "gpu_to_gpu"]
    cases = (("20 smallest", ["-k", 20, "--which", "SA"], False),
             ("block Lanczos, 20 largest, 60 steps beside the model",
              ["-k", 20, "--which", "LA", "--method", "lanczos", "--max-iter", 60], True))
    for what, options, models in cases:
        print(f"{what}\n{HEAD}" + (f" {'predicted ms':>12} {'measured / predicted':>20}" if models else ""))
        for _ in range(o.repeat):
            one, kept = {}, {}
            for how, ranks, layers in [("", 1, side * r) for r in o.ranks] + runs.sizes(side)[1:]:
                sides = (layers, side, side)
                command = base + [grid_file(runs, sides)] + options
                print(f"{'x'.join(map(str, sides)):>14} {ranks:>5} {how:>6} ", end="", flush=True)
                result, step = solve(runs, ranks, sides, command, 20, largest=models)
                if kept.setdefault(layers, result["eigenvalues"]) != result["eigenvalues"]:
                    sys.exit(f"\n{ranks} ranks have other eigenvalues than one")
                one.setdefault(layers, (result["elapsed_seconds"], step))
                if models:
                    model = runs.predicted(scaling.lattice, ranks, *sides)
                    print(f" {1e3 * model:>12.3f} {step / model:>20.2f}", end="")
                if ranks > 1:
                    first = one[layers if how == "strong" else side]
                    print(f"  {how}: {efficiency(how, ranks, first[0], result['elapsed_seconds']):.2f} of solving, "
                          f"{efficiency(how, ranks, first[1], step):.2f} of a step", end="")
                print(flush=True)


def make_points(path, n, d, k):
    """Rows around k centres, block by block, without their labels: tsdata has no memory for so many."""
    import h5py
    import numpy as np
    random = np.random.default_rng(1)
    centres = (20 * random.random((k, d)) - 10).astype(np.float16)
    noise = random.standard_normal((min(n, 1 << 20), d)).astype(np.float16)
    with h5py.File(path, "w") as file:
        x = file.create_dataset("features", (n, d), "f2")
        for i in range(0, n, len(noise)):
            rows = min(len(noise), n - i)
            x[i:i + rows] = centres[random.integers(0, k, rows)] + np.roll(noise, random.integers(rows), 0)[:rows]


def expect_labels(points, found, sizes, runs=100, rows=10_000):
    """Labels of some runs of rows are the nearest centres in float64, and the labels of all have these counts."""
    import h5py
    import numpy as np
    with h5py.File(points) as file, h5py.File(found) as result:
        x, labels, centres = file["features"], result["labels"], result["cluster_centers"][...]
        for first in np.linspace(0, max(0, len(x) - rows), runs).astype(int):
            part = x[first:first + rows].astype(float)
            d = ((part[:, None] - centres) ** 2).sum(2)
            if (d[np.arange(len(d)), labels[first:first + rows]] > d.min(1) * (1 + 1e-12)).any():
                sys.exit("a label is not that of the nearest centre")
        counts = sum(np.bincount(labels[i:i + (1 << 26)], minlength=len(centres)) for i in range(0, len(x), 1 << 26))
    if counts.tolist() != sizes:
        sys.exit("the sizes of clusters are not those of the labels")


def large(runs):
    o = runs.o
    n, d, k, ranks = max(100_000, int(o.rows * o.scale)), 16, 64, max(o.ranks)
    points, found, log = runs.folder / "large.h5", pathlib.Path(o.results or runs.folder) / "found.h5", \
        runs.folder / "passes.jsonl"
    print(f"k-means of {n} x {d} float16 ({n * d * 2e-9:.3g} GB), k = {k}, on {ranks} ranks")
    make_points(points, n, d, k)
    command = [runs.tool("tskmeans"), f"{points}:/features", "-k", k, "--init", "random", "--max-iter", 25,
               "--filter", "none"]
    model = runs.predicted(scaling.kmeans, ranks, n, d, k, 2)
    result, whole = runs.json_of(ranks, command + ["--trust-input", "--log", log, "-o", found])
    seconds = statistics.median([json.loads(line)["seconds"] for line in log.read_text().splitlines()])
    expect_labels(points, found, result["cluster_sizes"])
    print(f"  the command {whole:.1f} s: reading {result['read_seconds']:.1f} s, {result['n_iter']} passes of "
          f"{1e3 * seconds:.2f} ms ({n * d * 2 / seconds * 1e-12:.3f} TB/s in all); predicted "
          f"{1e3 * model:.2f} ms, measured / predicted {seconds / model:.2f}; inertia {result['inertia']:.6e}",
          flush=True)
    points.unlink(), found.unlink()


def grid(runs):
    o = runs.o
    side, ranks = max(16, round(o.side * o.scale ** (1 / 3))), max(o.ranks)
    print(f"grid of {side}^3, 10 smallest, on {ranks} ranks\n{HEAD}")
    sides = (side, side, side)
    command = [runs.tool("tssolve"), grid_file(runs, sides), "-k", 10, "--which", "SA", "--determinism", "gpu_to_gpu"]
    print(f"{'x'.join(map(str, sides)):>14} {ranks:>5} {'':>6} ", end="", flush=True)
    result, _ = solve(runs, ranks, sides, command, 10)
    print(f"\n  {result['method']}; {result['reason']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("part", choices=("kmeans", "lap3d", "large", "grid"))
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--mpirun", default="mpirun -n {ranks} --bind-to none")
    parser.add_argument("--machine", choices=scaling.MACHINES, default="h100-pair", help="what predictions go by")
    parser.add_argument("--folder", help="for files; large takes 128 GB there")
    parser.add_argument("--results", help="large: for labels, 16 GB; where --folder is unless given")
    parser.add_argument("--scale", type=float, default=1, help="of the number of rows")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--bounds", nargs="+", default=["none"], help="kmeans: auto, none or both; the model has none")
    parser.add_argument("--rows", type=float, default=4e9, help="large: points")
    parser.add_argument("--side", type=int, default=384, help="grid: points each way")
    o = parser.parse_args()
    print_head()
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        {"kmeans": kmeans, "lap3d": lap3d, "large": large, "grid": grid}[o.part](Runs(o, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
