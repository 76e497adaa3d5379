#!/usr/bin/env python3
"""Mean inertia of one default run of tskmeans over that of scikit-learn's KMeans(n_init=10), on small data of many
kinds, and its processor time, less that of a run on two points, over that of one start of scikit-learn's.

  tests/bench/optima_kmeans.py --tskmeans build/bin/tskmeans > tests/bench/results/kmeans-optima-DATE.txt
"""
import argparse
import os
import resource
import tempfile
import time

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from common import Table, json_of, output_of, print_head

EQUAL = 1 + 1e-4  # inertias of one optimum, where tolerances stop


def blobs(n, d, k, spread, seed):
    return datasets.make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)[0]


def unequal(n, d, k, seed):
    random = np.random.default_rng(seed)
    shares, spreads = random.dirichlet(np.full(k, 0.7)), random.uniform(0.2, 3, k)
    centres, of = random.uniform(-10, 10, (k, d)), random.choice(k, n, p=shares)
    return centres[of] + spreads[of, None] * random.standard_normal((n, d))


def stretched(n, d, k, seed):
    return blobs(n, d, k, 1.0, seed) @ (np.eye(d) + 0.7 * np.random.default_rng(seed).standard_normal((d, d)))


def scaled(x):
    return (x - x.mean(0)) / x.std(0)


def sets(base):
    """Name, points and number of clusters; `base` is added to what random numbers start from."""
    def random(seed):
        return np.random.default_rng(base + seed)

    yield "iris", datasets.load_iris().data, 3
    yield "iris", datasets.load_iris().data, 8
    yield "wine", datasets.load_wine().data, 3
    yield "wine, scaled", scaled(datasets.load_wine().data), 6
    yield "digits", datasets.load_digits().data, 10
    yield "digits", datasets.load_digits().data, 40
    yield "breast cancer", datasets.load_breast_cancer().data, 2
    yield "breast cancer, scaled", scaled(datasets.load_breast_cancer().data), 10
    yield "diabetes", datasets.load_diabetes().data, 12
    yield "moons", datasets.make_moons(1000, noise=0.08, random_state=base + 1)[0], 16
    yield "circles", datasets.make_circles(1500, noise=0.05, factor=0.5, random_state=base + 2)[0], 20
    yield "swiss roll", datasets.make_swiss_roll(3000, noise=0.2, random_state=base + 3)[0], 25
    yield "S curve", datasets.make_s_curve(2000, noise=0.05, random_state=base + 4)[0], 15
    for n, d, truly, spread, k in ((1000, 2, 10, 0.4, 10), (5000, 3, 50, 0.3, 50), (2000, 2, 20, 1.0, 20),
                                   (4000, 5, 30, 3.0, 30), (3000, 50, 25, 4.0, 25), (6000, 8, 40, 1.5, 12),
                                   (2500, 4, 8, 1.0, 32), (20000, 10, 64, 2.0, 64), (20000, 2, 64, 0.5, 64)):
        yield f"{truly} blobs, spread {spread}", blobs(n, d, truly, spread, base + n + k), k
    for n, d, k in ((3000, 2, 15), (8000, 16, 32), (20000, 4, 48)):
        yield "unequal blobs", unequal(n, d, k, base + n), k
    for n, d, k in ((1500, 2, 3), (6000, 6, 24)):
        yield "stretched blobs", stretched(n, d, k, base + n), k
    yield "uniform", random(5).random((2000, 2)), 9
    yield "uniform", random(6).random((10000, 8)), 40
    for freedom, n, d, k in ((2.0, 5000, 6, 20), (1.5, 800, 3, 5), (3.0, 12000, 24, 16)):
        yield f"Student t, {freedom}", random(n).standard_t(freedom, (n, d)), k


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + time.process_time()


def timed(work):
    start = processor_time()
    result = work()
    return processor_time() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", default="tskmeans")
    parser.add_argument("--options", nargs="*", default=[], help="of tskmeans, as words, like n-init=1")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--base", type=int, default=20261129, help="what the random numbers of data start from")
    args = parser.parse_args()
    print_head()
    print(output_of([args.tskmeans, "--version"]).strip(), f"scikit-learn {sklearn.__version__} numpy {np.__version__}")
    options = [word for option in args.options for word in ("--" + option.split("=")[0], *option.split("=")[1:])]
    table = Table("points:<26", "n:6", "d:3", "k:3", "inertia ratio:14.5f", "not worse:9", "ms:8.2f",
                  "of one start:13.2f", "time ratio:10.2f")
    good = quick = count = 0
    for name, x, k in sets(args.base):
        def ours(points, clusters, seed):
            np.save(file, points)
            return timed(lambda: json_of([args.tskmeans, file, "-k", clusters, "--seed", seed, "--device", "cpu",
                                          "--threads", 1, *options])["inertia"])

        with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
            file = os.path.join(folder, "x.npy")
            found, of_ours, of_one = [], [], []
            for seed in range(args.seeds):  # in turns, since other programs may run
                least = ours(x[:2], 1, seed)[0]
                spent, inertia = ours(x, k, seed)
                found.append(inertia)
                of_ours.append(spent - least)
                of_one.append(timed(lambda seed=seed: KMeans(k, n_init=1, random_state=seed).fit(x))[0])
            theirs = np.mean([KMeans(k, n_init=10, random_state=seed).fit(x).inertia_ for seed in range(args.seeds)])
        inertia, seconds, one = np.mean(found), np.median(of_ours), np.median(of_one)
        not_worse = inertia <= theirs * EQUAL
        good, quick, count = good + not_worse, quick + (seconds <= 3 * one), count + 1
        table.row(name, *x.shape, k, inertia / theirs, "yes" if not_worse else "no", 1e3 * seconds, 1e3 * one,
                  seconds / one)
    print(f"not worse on {good} of {count}, in at most three times the time on {quick}")


if __name__ == "__main__":
    main()
