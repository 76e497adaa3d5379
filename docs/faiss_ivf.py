#!/usr/bin/env python3
"""A FAISS IVF index filled from the centres and labels of tskmeans, and its recall beside FAISS's own k-means.

    pip install faiss-cpu h5py
    python3 docs/faiss_ivf.py                                     # points made by tsdata
    python3 docs/faiss_ivf.py embeddings.h5 --lists 1024          # data/embeddings.py makes these

tskmeans and tsdata must be on the PATH. FILE is .npy, or HDF5 with the points in /features. The first --queries rows
are queries, all others are indexed. Recall@10 is the share of the ten nearest rows that a search finds. Exit status 77:
FAISS or h5py is not there.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

try:
    import faiss
    import h5py
    import numpy as np
except ImportError as error:
    print(f"faiss_ivf.py: skipped, {error}: pip install faiss-cpu h5py")
    sys.exit(77)


def read_rows(path):
    if path.endswith(".npy"):
        return np.load(path).astype(np.float32, copy=False)
    with h5py.File(path) as file:
        return file["features"][:].astype(np.float32, copy=False)


def index_of_tskmeans(rows, path, first, lists, folder):
    """The index, and the seconds that finding its lists and filling them took."""
    centers, labels = os.path.join(folder, "centers.npy"), os.path.join(folder, "labels.npy")
    start = time.monotonic()
    subprocess.run(["tskmeans", path, "--rows", f"{first}:", "-k", str(lists), "--init", "random", "--max-iter", "10",
                    "--device", "cpu", "--centers-type", "float32", "--centers-out", centers, "--labels-out", labels,
                    "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # 3: not converged
    trained = time.monotonic() - start
    start = time.monotonic()
    quantizer = faiss.IndexFlatL2(rows.shape[1])
    quantizer.add(np.load(centers))
    index = faiss.IndexIVFFlat(quantizer, rows.shape[1], lists)
    index.is_trained = True
    list_of_row, ids = np.load(labels).astype(np.int64), np.arange(len(rows))
    index.add_core(len(rows), faiss.swig_ptr(rows), faiss.swig_ptr(ids), faiss.swig_ptr(list_of_row))
    return index, trained, time.monotonic() - start


def index_of_faiss(rows, lists):
    start = time.monotonic()
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], lists)
    index.cp.niter, index.cp.max_points_per_centroid = 10, len(rows)  # all rows, as above
    index.train(rows)
    trained = time.monotonic() - start
    start = time.monotonic()
    index.add(rows)
    return index, trained, time.monotonic() - start


def recall(index, queries, truth, probes):
    index.nprobe = probes
    found = index.search(queries, truth.shape[1])[1]
    return np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, truth)]) / truth.shape[1]


def inertia(index, rows):
    return float(index.quantizer.search(rows, 1)[0].sum(dtype=np.float64))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", metavar="FILE", help="points (default: 40,000 x 48, made by tsdata)")
    parser.add_argument("--lists", type=int, default=256, metavar="N", help="clusters (default 256)")
    parser.add_argument("--queries", type=int, default=1000, metavar="N", help="rows that are queries (default 1000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or os.path.join(folder, "points.h5")
        if not options.file:
            subprocess.run(["tsdata", "gen", "blobs", "--n", "40000", "--cols", "48", "--groups", "2000", "--spread",
                            "2", "--dtype", "float32", "-o", path], stdout=subprocess.DEVNULL, check=True)
        everything = read_rows(path)
        queries, rows = everything[:options.queries], np.ascontiguousarray(everything[options.queries:])
        exact = faiss.IndexFlatL2(rows.shape[1])
        exact.add(rows)
        truth = exact.search(queries, 10)[1]
        ours, theirs = index_of_tskmeans(rows, path, options.queries, options.lists, folder), \
            index_of_faiss(rows, options.lists)
    print(f"{options.file or 'points of tsdata'}: {rows.shape[0]} rows x {rows.shape[1]}, {options.lists} lists, "
          f"{options.queries} queries, FAISS {faiss.__version__}")
    print(f"{'':24}{'tskmeans':>12}{'FAISS':>12}")
    print(f"{'centres, seconds':24}{ours[1]:12.2f}{theirs[1]:12.2f}")
    print(f"{'filling, seconds':24}{ours[2]:12.2f}{theirs[2]:12.2f}")
    print(f"{'inertia':24}{inertia(ours[0], rows):12.6g}{inertia(theirs[0], rows):12.6g}")
    for probes in [p for p in (1, 2, 4, 8, 16, 32, 64) if p < options.lists] + [options.lists]:
        shares = [recall(index, queries, truth, probes) for index, *_ in (ours, theirs)]
        print(f"{f'recall@10, nprobe {probes}':24}{shares[0]:12.4f}{shares[1]:12.4f}")
    if shares[0] < 0.999:
        sys.exit("faiss_ivf.py: a search of all lists misses neighbours: labels and rows do not belong together")


if __name__ == "__main__":
    main()
