#!/usr/bin/env python3
"""Matrices decomposed as a whole: tssolve on the processor (LAPACK) and on a GPU (cuSOLVER), in turns.

Each line: the least compute time of both (without reading, and without the start of the GPU and of cuSOLVER), their
ratio, the same of the whole runs, the largest difference of values over the largest value, the largest residual on the
GPU likewise, and who decomposed.

usage: dense_devices.py BIN [--rows N ...] [--only TEXT] [--turns N] [--threads N] [--folder FOLDER]
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

SIDES = {500: "5x10x10", 1000: "10x10x10", 2000: "10x10x20", 4000: "10x20x20", 8000: "20x20x20", 16000: "20x20x40"}


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def cases(n, folder, tsdata):
    """Name, file and options, the Hermitian ones first."""
    file = os.path.join(folder, f"a{n}.h5")
    run([tsdata, "gen", "anderson", "--n", SIDES[n], "-o", file])
    for k in (n, 3):
        yield f"Hermitian {n}, {k} pairs", [file, "--which", "SA", "-k", k, "--method", "dense"]
    points = os.path.join(folder, f"u{n}.h5")
    run([tsdata, "gen", "uniform", "--n", n, "--cols", n, "-o", points])
    points += ":/features"
    yield f"singular values {n} x {n}, all", [points, "--svd", "-k", n]
    for k in (n, 4):
        yield f"general {n}, {k} pairs", [points, "--general", "-k", k, "--method", "dense"]


def values_of(result):
    if "eigenvalues_real" in result:
        pairs = zip(result["eigenvalues_real"], result["eigenvalues_imag"])
        return sorted((round(abs(complex(*z)), 8), z[1], z[0]) for z in pairs)
    return [(x,) for x in sorted(result.get("singular_values", result.get("eigenvalues")))]


def difference(here, there):
    ours, theirs = values_of(here), values_of(there)
    if len(ours) != len(theirs):
        return float("nan")
    return max(max(abs(x - y) for x, y in zip(a, b)) for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 2000, 4000], choices=sorted(SIDES))
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder")
    asked = parser.parse_args()
    tssolve, tsdata = (os.path.join(asked.bin, name) for name in ("tssolve", "tsdata"))
    print(f"# {asked.threads} threads of {os.cpu_count()}, {time.strftime('%Y-%m-%d')}, least of {asked.turns} turns")
    print(f"{'problem':<36}{'cpu':>9}{'cuda':>9}{'ratio':>7}{'cpu run':>9}{'cuda run':>9}{'ratio':>7}{'off':>9}"
          f"{'residual':>9}  methods")
    for n in asked.rows:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            for name, options in cases(n, folder, tsdata):
                if asked.only not in name:
                    continue
                results = {device: [] for device in ("cpu", "cuda")}
                for _ in range(asked.turns):
                    for device, of_device in results.items():
                        command = [tssolve, *options, "--device", device, "--threads", asked.threads, "--json"]
                        start = time.perf_counter()
                        of_device.append(json.loads(run(command)))
                        of_device[-1]["run_seconds"] = time.perf_counter() - start
                times = [min(r[what] for r in results[device])
                         for what in ("elapsed_seconds", "run_seconds") for device in ("cpu", "cuda")]
                here, there = results["cpu"][0], results["cuda"][0]
                norm = max(abs(x) for z in values_of(here) for x in z)
                print(f"{name:<36}{times[0]:>9.3f}{times[1]:>9.3f}{times[0] / times[1]:>7.2f}"
                      f"{times[2]:>9.3f}{times[3]:>9.3f}{times[2] / times[3]:>7.2f}"
                      f"{difference(here, there) / norm:>9.1e}{max(there['residual_norms']) / norm:>9.1e}"
                      f"  {here['method']}; {there['method']}", flush=True)


if __name__ == "__main__":
    main()
