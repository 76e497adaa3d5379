"""What the comparisons of k-means share: points, runs of tskmeans, and checks."""
import json
import tempfile

import numpy as np

from common import json_of


def points(kind, n, d, groups=3000, dtype=np.float32):
    """Uniform or normal numbers; blobs of deviation 1 around centres in a box of side 6, which overlap in few columns;
    or embeddings of unit length, around centres, with deviations that fall like 1 / sqrt(j) along hidden axes."""
    random = np.random.default_rng(1)
    scale = np.arange(1, d + 1, dtype=np.float32) ** np.float32(-.5)
    if kind == "embeddings":
        axes = np.linalg.qr(random.standard_normal((d, d)))[0].astype(np.float32)
        centres = random.standard_normal((groups, d), dtype=np.float32) * scale
    else:
        centres = 6 * random.random((groups, d), dtype=np.float32) - 3
    x = np.empty((n, d), dtype)
    for i in range(0, n, 1 << 17):
        some = len(x[i:i + (1 << 17)])
        if kind == "uniform":
            part = random.random((some, d), dtype=np.float32)
        else:
            part = random.standard_normal((some, d), dtype=np.float32)
        if kind == "blobs":
            part += centres[random.integers(0, groups, some)]
        if kind == "embeddings":
            part = (centres[random.integers(0, groups, some)] + np.float32(.8) * part * scale) @ axes
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        x[i:i + some] = part
    return x


def milliseconds(work):
    """Of work on a GPU, between two CUDA events; and its result."""
    import torch
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    result = work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end), result


def some_rows(x, k):
    return x[np.random.default_rng(2).choice(len(x), k, replace=False)].copy()


def shapes_of(text):
    return [tuple(map(int, shape.split("x"))) for shape in text.split(",") if shape]


class Folder(tempfile.TemporaryDirectory):
    """Of arrays for and from tskmeans, by name."""

    def __enter__(self):
        return self

    def write(self, **arrays):
        for name, array in arrays.items():
            np.save(f"{self.name}/{name}.npy", array)

    def path(self, name):
        return f"{self.name}/{name}.npy"

    def read(self, name):
        return np.load(self.path(name))


def tskmeans(o, *words):
    found = json_of([f"{o.bin}/tskmeans", *words])
    found["seconds"] = found["elapsed_seconds"] - found.get("read_seconds", 0)
    return found


def from_centres(o, folder, *words, name="ours", outputs=("labels", "centers")):
    """A run from x and c of the folder: what it says, its iterations, and labels and centres by `name`."""
    log = f"{folder.name}/log"
    files = {"labels": folder.path(name + "-labels"), "centers": folder.path(name + "-centres")}
    found = tskmeans(o, folder.path("x"), "--init", folder.path("c"), "--max-iter", o.iterations, "--tol", 0, *words,
                     *(word for what in outputs for word in (f"--{what}-out", files[what])), "--log", log)
    with open(log, encoding="utf-8") as lines:
        return found, [json.loads(line) for line in lines]


def same(folder, a, b):
    return all(np.array_equal(folder.read(f"{a}-{what}"), folder.read(f"{b}-{what}")) for what in ("labels", "centres"))


def squared_distances(x, c):
    """Of rows and centres, by float64 products, block by block; of NumPy's arrays or PyTorch's."""
    wide = (lambda a: a.double()) if hasattr(x, "double") else (lambda a: a.astype(np.float64))
    c = wide(c)
    rows = max(1, (1 << 26) // len(c))
    for i in range(0, len(x), rows):
        part = wide(x[i:i + rows])
        yield i, (part * part).sum(1)[:, None] + (c * c).sum(1) - 2 * part @ c.T


def inertia(x, c):
    return sum(float((d.amin(1) if hasattr(d, "amin") else d.min(1)).sum()) for _, d in squared_distances(x, c))


def wrong_labels(x, c, labels, count):
    """Among so many rows, those with a nearer centre."""
    rows = np.random.default_rng(1).choice(len(x), min(count, len(x)), replace=False)
    return sum(int((d[np.arange(len(d)), labels[rows[i:i + len(d)]]] > d.min(1) + 1e-12).sum())
               for i, d in squared_distances(x[rows], c))
