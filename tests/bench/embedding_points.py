"""Points like embeddings, for benchmarks."""
import numpy as np


def points(n, d, groups=3000, decay=0.5):
    r = np.random.default_rng(0)
    s = (np.arange(1, d + 1) ** -decay).astype(np.float32)
    axes = np.linalg.qr(r.standard_normal((d, d)))[0].astype(np.float32)
    middles = r.standard_normal((groups, d)).astype(np.float32) * s
    x = (middles[r.integers(0, groups, n)] + 0.8 * r.standard_normal((n, d)).astype(np.float32) * s) @ axes
    return np.ascontiguousarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype=np.float32)
