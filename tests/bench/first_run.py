#!/usr/bin/env python3
"""What the first run on a GPU takes longer than later ones: with an empty cache of kernels, with and without the pack
of kernels that are compiled ahead (`tsbench pack`), beside runs that find all of them in the cache.

Needs a GPU, and Python alone. Run as:
  first_run.py BIN [--arch sm_90a] [--pack FILE] [--repeat 3] [--only WORD]
BIN is the folder of tssolve, tskmeans, tsdata and tsbench. Without --pack one is made, and its time told.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from common import Table, print_head, timed


FILES = {"line": "lap1d --n 7", "small": "lap3d --n 20", "large": "lap3d --n 128",
         "ring": "fluxring --n 5000 --phi 0.3",
         "narrow": "blobs --n 1000000 --cols 16 --groups 64 --dtype float32",
         "wide": "blobs --n 100000 --cols 128 --groups 1000 --dtype float32",
         "double": "blobs --n 200000 --cols 32 --groups 16 --dtype float64"}
CASES = [("7 rows", "tssolve line -k 2"), ("lap3d 20^3 -k 20", "tssolve small -k 20 --which SA"),
         ("fluxring 5000 -k 12", "tssolve ring -k 12 --which SA"),
         ("lap3d 128^3 -k 20", "tssolve large -k 20 --which SA"),
         ("lap3d 128^3 -k 20 mixed", "tssolve large -k 20 --which SA --precision mixed"),
         ("k-means 1e6 x 16, k 64", "tskmeans narrow -k 64"), ("k-means 1e5 x 128, k 1000", "tskmeans wide -k 1000"),
         ("k-means 2e5 x 32 f64, k 16", "tskmeans double -k 16")]


def seconds_of(command, cache, pack):
    env = dict(os.environ, XDG_CACHE_HOME=cache, TALLSKINNY_KERNELS=pack)
    seconds, run = timed(lambda: subprocess.run(command, env=env, capture_output=True, text=True, check=False))
    if run.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr}")
    return seconds, run


def kernels_in(cache):
    folder = f"{cache}/tallskinny"
    return len(os.listdir(folder)) if os.path.isdir(folder) else 0


def cold_and_warm(command, pack, repeat):
    """Seconds of the first run and of the quickest later one, kernels compiled by the first and since, its log."""
    with tempfile.TemporaryDirectory() as cache:
        cold, first = seconds_of(command, cache, pack)
        compiled = kernels_in(cache)
        warm = min(seconds_of(command, cache, pack)[0] for _ in range(repeat))
        return cold, warm, compiled, kernels_in(cache) - compiled, first


def measure(table, name, command, pack, repeat):
    # Twice: a machine that is shared may take much longer once.
    cold, warm, compiled, late, first = min((cold_and_warm(command, "none", repeat) for _ in range(2)),
                                            key=lambda r: r[0])
    packed, warm_packed, missing, _, again = min((cold_and_warm(command, pack, repeat) for _ in range(2)),
                                                 key=lambda r: r[0])
    table.row(name, cold, warm, cold - warm, compiled, late, packed, warm_packed, packed - warm_packed, missing)
    for how, run in (("without", first), ("with", again)):
        for line in run.stderr.splitlines():
            if "compiled" in line:
                print(f"    {how} pack:", line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--pack")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    binaries = os.path.abspath(o.binaries)
    print_head()
    with tempfile.TemporaryDirectory() as folder:
        pack = o.pack and os.path.abspath(o.pack)
        if not pack:
            pack = f"{folder}/kernels.pack"
            command = [f"{binaries}/tsbench", "pack", "--arch", o.arch, "--output", pack]
            seconds, run = seconds_of(command, folder, "none")
            print(run.stdout.strip().splitlines()[-1], f"({seconds:.1f} s)", flush=True)
        print(f"seconds, least of {o.repeat} where warm; kernels compiled by the first run and by later ones")
        table = Table("without a pack, with it:<28", "cold:7.2f", "warm:7.2f", "more:8.2f", "kernels:8", "later:6",
                      "cold:9.2f", "warm:7.2f", "more:8.2f", "kernels:8")
        for name, words in CASES:
            program, file, *options = words.split()
            if o.only not in name:
                continue
            path = f"{folder}/{file}.h5"
            if not os.path.exists(path):
                subprocess.run([f"{binaries}/tsdata", "gen", *FILES[file].split(), "-o", path], check=True,
                               stdout=subprocess.DEVNULL)
            command = [f"{binaries}/{program}", path, *options, "--device", "cuda", "--json"]
            measure(table, name, command, pack, o.repeat)


main()
