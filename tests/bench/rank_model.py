#!/usr/bin/env python3
"""What --dry-run --ranks predicts, beside what mpirun measures, of k-means and of block Lanczos.

The machine's file decides what is predicted (data/machines/README.md); without one, `tsbench machine` measures one for
each number of ranks just before, by other problems. A prediction counts one block step or pass; what is measured is the
time of the run, without reading, divided by its steps, and the median pass. Rows of the table say which. The machine
must be idle: the last column is the share of its processors that were busy before.

usage: rank_model.py BIN [MACHINE.json] [--ranks 1 2] [--points N] [--grid N] [--repeat N]
BIN holds tskmeans, tssolve, tsdata and tsbench
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time


def output_of(command, ranks=None):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    done = subprocess.run(launcher + [str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **root})
    if done.returncode not in (0, 3):  # 3: not converged
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def busy_share(seconds=1.0):
    """Of all processors, by others: measured while this script sleeps."""
    def ticks():
        numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    before = ticks()
    time.sleep(seconds)
    whole, idle = (after - then for after, then in zip(ticks(), before))
    return 1 - idle / max(1, whole)


def prediction(command, ranks, machine):
    told = output_of(command + ["--dry-run", "--json", "--ranks", ranks, "--machine", machine])
    return json.loads(told)["prediction"]


def of_kmeans(command, ranks, folder):
    """Seconds of a pass: the median of the log."""
    log = folder / f"steps{ranks}.jsonl"
    result = json.loads(output_of(command + ["--json", "--log", log], ranks))
    seconds = sorted(json.loads(line)["seconds"] for line in log.read_text().splitlines())
    return seconds[len(seconds) // 2], result["ranks"]


def of_lanczos(command, ranks, _):
    """Seconds of a block step, with its share of restarts and small problems."""
    result = json.loads(output_of(command + ["--json"], ranks))
    steps = result["operator_applications"] / result["block_size"]
    return sum(result["seconds"].values()) / steps, result["ranks"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("machine", nargs="?")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--grid", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=1)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        points, grid = folder / "points.h5", folder / "grid.h5"
        output_of([o.bin / "tsdata", "gen", "blobs", "--n", o.points, "--cols", 16, "--groups", 64, "--spread", 3,
                   "--dtype", "float32", "-o", points])
        output_of([o.bin / "tsdata", "gen", "lap3d", "--n", "x".join([str(o.grid)] * 3), "-o", grid])
        cases = (
            ("a pass of k-means", of_kmeans,
             [o.bin / "tskmeans", f"{points}:/features", "-k", 64, "--bounds", "off", "--max-iter", 20, "--tol", 0,
              "--device", "cpu"]),
            ("a step of block Lanczos", of_lanczos,
             [o.bin / "tssolve", grid, "--which", "LA", "-k", 20, "--method", "lanczos", "--device", "cpu",
              "--determinism", "gpu_to_gpu", "--max-iter", 60]))
        print(f"{'':26}{'ranks':>6}{'predicted s':>13}{'measured s':>12}{'measured / predicted':>22}{'busy':>7}")
        for _ in range(o.repeat):
            for ranks in o.ranks:
                machine = o.machine or folder / "machine.json"
                if o.machine is None:
                    output_of([o.bin / "tsbench", "machine", "-o", machine], ranks)
                for what, measure, command in cases:
                    predicted = prediction(command, ranks, machine)["step"]["seconds"]
                    busy = busy_share()
                    measured, worked = measure(command, ranks, folder)
                    note = "" if worked == ranks else f"  ({worked} rank)"
                    print(f"{what:26}{ranks:6}{predicted:13.3g}{measured:12.3g}{measured / predicted:22.2f}{busy:7.0%}"
                          f"{note}", flush=True)


if __name__ == "__main__":
    main()
