#!/usr/bin/env python3
"""The numbers in app/common/time_left.cpp: makes points of many kinds, runs tskmeans on them, and fits by least squares
how many iterations are to come. Then says how often the time left is right within a factor of 2 for runs that were left
out of the fit.

Needs NumPy. Run as: meter_fit.py TSKMEANS [--runs N] [--seed S] [--keep FOLDER]. With --keep the logs of the runs stay
there, and are used again.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import numpy as np

LEAST, USUAL_COST, FOLDS = 8, -0.2, 12
MOMENTS = (0.1, 0.3, 0.5)


def points(kind, random, n, d):
    def groups(count, spread):
        centers = random.uniform(-10, 10, (count, d))
        return centers[random.integers(0, count, n)] + spread * random.standard_normal((n, d))
    normal, place = random.standard_normal((n, d)), 6 * random.random((n, 2))
    if kind == "mixture":
        side = random.standard_normal((min(d, 8), d))
        return groups(int(random.integers(5, 200)), 0.3) / 5 + random.standard_normal((n, len(side))) @ side
    return {"uniform": lambda: random.random((n, d)), "normal": lambda: normal, "logarithmic": lambda: np.exp(normal),
            "decaying": lambda: normal / np.arange(1, d + 1), "walks": lambda: np.cumsum(normal, 1),
            "groups": lambda: groups(int(random.integers(5, 300)), random.uniform(0.5, 7)),
            "surface": lambda: 0.05 * normal + np.sin(place @ random.standard_normal((2, d)))}[kind]()


def record(tskmeans, folder, number, seed):
    """A run: its log, and in `name`.json what the log lacks."""
    name = f"{folder}/{seed}-{number}"
    if os.path.exists(name + ".json"):
        return
    random = np.random.default_rng((seed, number))
    kinds = ["uniform", "normal", "logarithmic", "decaying", "walks", "groups", "surface", "mixture"]
    n, d, k = int(10**random.uniform(5, 6.2)), int(2**random.uniform(1, 5.3)), int(2**random.uniform(3, 8))
    n, most = min(n, 24_000_000 // d), 1000 if random.random() < 0.3 else 300
    made = points(kinds[number % len(kinds)], random, n, d).astype(np.float32)
    np.save(name + ".npy", made)
    words = [tskmeans, name + ".npy", "-k", str(k), "--max-iter", str(most), "--log", name + ".log", "-q", "--json"]
    result = subprocess.run(words + (["--init", "random"] if random.random() < 0.25 else []), stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    os.remove(name + ".npy")
    found = json.loads(result.stdout)
    about = {"n": n, "d": d, "k": k, "most": most, "enough": 1e-4 * float(made.var(0, dtype=float).mean()),
             "took": found["elapsed_seconds"] - found["read_seconds"], "ended": found["converged"]}
    with open(name + ".json", "w") as out:
        json.dump(about, out)


def read(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(f"{folder}/{name}") as about, open(f"{folder}/{name[:-5]}.log") as log:
                lines = [json.loads(line) for line in log]
                run = json.load(about) | {"seconds": [line["seconds"] for line in lines]}
            run["shift"] = np.array([line["squared_shift"] for line in lines]) / run["enough"]
            run["moved"] = np.array([line["moved"] for line in lines])
            if len(lines) >= 12:
                yield run


def now(values, usual):
    """The logarithm of the last one, by the trend of the later half."""
    first = max(2, len(values) / 2)
    x = np.log([i + 1 for i in range(len(values)) if i + 1 >= first])
    y = np.log(np.maximum(values[-len(x):], 1e-9))
    slope = (((x - x.mean()) * (y - y.mean())).sum() + 0.05 * usual) / (((x - x.mean())**2).sum() + 0.05)
    return y.mean() + slope * (x[-1] - x.mean())


def told(run, i):
    """What the law goes by after iteration i."""
    return [1, math.log(i), now(run["shift"][:i], -1.5), now(run["moved"][:i], -1) - math.log(run["n"]),
            math.log(run["k"]), math.log(run["d"])]


def fit(runs):
    rows, wanted = [], []
    for run in runs:
        count = len(run["seconds"]) * (1 if run["ended"] else 1.4)  # how many more there would have been is unknown
        at = sorted({round(5 * 1.3**q) for q in range(25)} & set(range(5, int(0.6 * len(run["seconds"])) + 1)))
        for i in at:
            weight = 1 / math.sqrt(len(at))  # all runs the same
            rows.append(np.multiply(weight, told(run, i)))
            wanted.append(weight * math.log(count - i))
    return np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]


def ratio(law, run, moment):
    """Of what is said from then on to what it took."""
    seconds, at = run["seconds"], run["took"] - sum(run["seconds"]) - run["seconds"][1]
    for i in range(1, len(seconds)):
        at += seconds[i - 1]
        if i >= LEAST and at >= moment * run["took"]:
            left = min(max(1, math.exp(np.dot(law, told(run, i)))), run["most"] - i)
            said = np.median(seconds[i - 5:i]) * left * (1 + left / i)**USUAL_COST + seconds[1]
            return said / (run["took"] - at)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tskmeans")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as other:
        folder = asked.keep or other
        os.makedirs(folder, exist_ok=True)
        for number in range(asked.runs):
            record(asked.tskmeans, folder, number, asked.seed)
        runs = list(read(folder))
    print("by_shift:", *(f"{number:.2f}" for number in fit(runs)))
    laws = [fit([run for q, run in enumerate(runs) if q % FOLDS != fold]) for fold in range(FOLDS)]
    for moment in MOMENTS:
        found = [r for q, run in enumerate(runs) if (r := ratio(laws[q % FOLDS], run, moment))]
        print(f"from {moment:.0%} on: {sum(0.5 < r < 2 for r in found)} of {len(found)} within a factor of 2")


if __name__ == "__main__":
    main()
