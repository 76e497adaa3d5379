#!/usr/bin/env python3
"""What it costs to read HDF5 files through a process without rights: tsdata info with and without --trust-input.

Contestants take turns; processor time (with the process's) and wall time, the least and the median.

usage: reader_process.py TSDATA [--turns N] [--rows N] [--folder FOLDER]
"""
import argparse
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import tempfile
import time


def measured(command):
    """Processor and wall seconds of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tsdata")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        folder = pathlib.Path(folder)
        features = ["gen", "uniform", "--cols", "64"]
        files = {
            "small": [*features, "--n", "10"],
            "contiguous": [*features, "--n", str(asked.rows)],
            "gzip": [*features, "--n", str(asked.rows // 8), "--compress", "4"],
            "gzip, sparse": ["gen", "lap3d", "--n", str(round((asked.rows / 2) ** (1 / 3))), "--compress", "4"],
        }
        print(f"# {platform.machine()}, {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}, {asked.turns} turns, "
              f"{asked.rows} rows")
        print(f"{'file':<14}{'MB':>7}  {'contestant':<15}{'cpu least':>10}{'median':>8}{'wall least':>12}{'median':>8}")
        for name, made in files.items():
            file = folder / (name.replace(", ", "-") + ".h5")
            subprocess.run([asked.tsdata, *made, "-o", file], check=True, stdout=subprocess.DEVNULL)
            contestants = {"own process": [], "--trust-input": ["--trust-input"]}
            seconds = {c: [] for c in contestants}
            for turn in range(asked.turns + 1):
                for contestant, options in contestants.items():
                    taken = measured([asked.tsdata, "info", file, *options])
                    if turn > 0:  # the first fills the page cache
                        seconds[contestant].append(taken)
            for contestant, taken in seconds.items():
                cpu, wall = zip(*taken)
                print(f"{name:<14}{file.stat().st_size / 1e6:>7.1f}  {contestant:<15}{min(cpu):>10.4f}"
                      f"{statistics.median(cpu):>8.4f}{min(wall):>12.4f}{statistics.median(wall):>8.4f}")


if __name__ == "__main__":
    main()
