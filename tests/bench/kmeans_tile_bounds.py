#!/usr/bin/env python3
"""What bounds from one pass of k-means to the next leave on embeddings, simulated: of rows, and of tiles of rows.

    tests/bench/kmeans_tile_bounds.py [--rows 262144] [--columns 512] [--clusters 1000] [--start 5] [--tile 128]

Points are embeddings of kmeans_runs.py, first centres random rows. For each pass: the share of labels that changed, the
mean move, and the shares that are left by
  rows     Hamerly's two bounds, of rows
  groups   bounds of rows and groups of --group centres (Yinyang), of pairs; and of tiles, one row of which suffices
  pairs    bounds of rows and centres (Elkan), of tiles again
all three from exact distances of the pass before. Last, bounds of tiles and centres as GPUs have them
(docs/notes/heads.md), kept from pass --start on, with rows in the order of their labels then. Needs numpy.
"""
import argparse
import numpy as np
from kmeans_runs import points


def lloyd(x, c, passes, rows=32768):
    """Centres before each pass, and the labels that it gives."""
    for _ in range(passes):
        labels = np.concatenate([((c * c).sum(1) / 2 - x[i:i + rows] @ c.T).argmin(1) for i in range(0, len(x), rows)])
        yield c, labels
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=len(c)))
        c = np.stack([x[order[a:b]].mean(0) if b > a else c[m] for m, (a, b) in enumerate(zip([0, *ends], ends))])


def groups_of(c, size):
    """Centres in groups, by halving along the axis in which they differ most."""
    parts = [np.arange(len(c))]
    while max(map(len, parts)) > size:
        halved = []
        for p in parts:
            order = p[np.argsort((c[p] - c[p].mean(0)) @ np.linalg.svd(c[p] - c[p].mean(0), full_matrices=False)[2][0])]
            halved += [order[:len(p) // 2], order[len(p) // 2:]] if len(p) > size else [p]
        parts = halved
    return parts


def distances(x, c):
    return np.sqrt(np.maximum((x * x).sum(1)[:, None] + (c * c).sum(1) - 2 * x @ c.T, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"rows": 1 << 18, "columns": 512, "clusters": 1000, "passes": 12, "start": 5, "tile": 128,
                        "group": 128, "tiles": 60}.items():
        parser.add_argument(f"--{name}", type=int, default=value, help="%(default)s")
    o = parser.parse_args()
    x = points("embeddings", o.rows, o.columns)
    x -= x.mean(0)
    rng = np.random.default_rng(2)
    before = labels_before = sample = bounds = None
    for number, (c, labels) in enumerate(lloyd(x, x[rng.choice(o.rows, o.clusters, replace=False)], o.passes), 1):
        if number == o.start:  # tiles of rows in the order of their labels
            first = rng.choice(o.rows // o.tile, o.tiles, replace=False) * o.tile
            rows = np.argsort(labels_before, kind="stable")[(first[:, None] + np.arange(o.tile)).ravel()]
            sample, parts = x[rows], groups_of(c, o.group)
        if sample is None:
            before, labels_before = c, labels
            continue
        tiles = lambda left: left.reshape(o.tiles, o.tile, -1).any(1).mean()
        moves, d = np.linalg.norm(c - before, axis=1), distances(sample, c)
        said = f"pass {number}: changed {(labels != labels_before).mean():.3f}, moved {moves.mean():.4f};"
        if bounds is None:
            upper = d[np.arange(len(d)), labels_before[rows]]
            bounds = (d - upper[:, None]).reshape(o.tiles, o.tile, -1).min(1)
        else:
            own, others = d[np.arange(len(d)), nearest], last.copy()
            others[np.arange(len(d)), nearest] = np.inf
            pairs = others - moves <= own[:, None]
            groups = np.stack([others[:, g].min(1) - moves[g].max() <= own for g in parts], 1)
            said += (f" rows {(others.min(1) - moves.max() <= own).mean():.3f}, groups {groups.mean():.3f} tiles"
                     f" {tiles(groups):.3f}, pairs {pairs.mean():.4f} tiles {tiles(pairs):.3f};")
            now = last.min(1) + moves[nearest]
            bounds -= moves + (now - upper).reshape(o.tiles, o.tile).max(1)[:, None]
            upper, listed = now, bounds <= 0
            bounds = np.where(listed, (d - upper[:, None]).reshape(o.tiles, o.tile, -1).min(1), bounds)
            said += f" bounds of tiles {listed.mean():.3f}, {np.ceil(listed.sum(1) / 128).mean():.2f} chunks of 128"
        print(said, flush=True)
        last, nearest, before, labels_before = d, d.argmin(1), c, labels


if __name__ == "__main__":
    main()
