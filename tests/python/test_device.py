"""Arrays of PyTorch and CuPy on a GPU: what is not copied, where results lie, and that they are right.

Without pytest: python3 tests/python/test_device.py, one line for each test, those of test_device_eigen.py included.
"""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from device import (block, close, laplacian, libraries, main, OnlyInterface, products_are_right, raises,
                    skip_without_a_device, Triple, types)

import tallskinny as ts
from tallskinny._arrays import tall
from tallskinny._foreign import adopted

skip_without_a_device()


def test_nothing_is_copied():
    for lib in libraries:
        a = lib.array(block(1000, 6, "float64"))
        assert lib.pointer(tall(a, "a")) == lib.pointer(a)
        c = lib.array(np.full((6, 6), np.nan))
        assert ts.gram(a, out=c) is c and np.isfinite(lib.host(c)).all()
        at, before = lib.pointer(a), lib.host(a).copy()
        r = lib.array(np.triu(np.ones((6, 6))) + 4 * np.eye(6))
        assert ts.trsm(a, r, out=a) is a and lib.pointer(a) == at
        close(lib.host(a) @ lib.host(r), before)  # written where it lay
        q, r = ts.orthonormalise(a, out=a)
        assert lib.pointer(q) == at
        close(lib.host(ts.gram(q)), np.eye(6))


def test_dlpack_between_libraries():
    for lib in libraries:
        for other in libraries:
            a = lib.array(block(500, 4, "float32"))
            b = other.module.from_dlpack(a)
            g = ts.gram(b)
            assert other.owns(g) and lib.pointer(lib.module.from_dlpack(g)) == other.pointer(g)
            close(other.host(g), lib.host(a).T @ lib.host(a))


def test_cuda_array_interface():
    for lib in libraries:
        a = lib.array(block(800, 5, "float64"))
        only = OnlyInterface(a)
        taken = adopted(only)
        assert next(x for x in libraries if x.owns(taken)).pointer(taken) == lib.pointer(a)
        g = ts.gram(only)
        close(next(x for x in libraries if x.owns(g)).host(g), lib.host(a).T @ lib.host(a))


def test_products():
    for lib in libraries:
        for dtype in types:
            products_are_right(lib, 5000, dtype)


def test_layouts_and_half_precision():
    for lib in libraries:
        a = block(3000, 8, "float64")
        d = lib.array(a)
        for part in (np.s_[:, 2:6], np.s_[:, ::2], np.s_[::3], np.s_[:, 3:4], np.s_[5:6, ::2], np.s_[5:6]):
            close(lib.host(ts.gram(d[part])), a[part].T @ a[part])
        close(lib.host(ts.gram(d[:, 3])), a[:, 3:4].T @ a[:, 3:4])
        by_columns = lib.array(a.T).T
        assert lib.pointer(tall(by_columns, "a")) == lib.pointer(by_columns)
        close(lib.host(ts.gram(by_columns)), a.T @ a)
        half = a.astype(np.float16)
        close(lib.host(ts.gram(lib.array(half))), (half.astype(float).T @ half.astype(float)).astype(np.float32))
        if lib.module.__name__ == "torch":
            b = d.bfloat16()
            exact = b.double().cpu().numpy()
            close(lib.host(ts.gram(b)), (exact.T @ exact).astype(np.float32))
            z = lib.array(block(400, 3, "complex128"))
            close(lib.host(ts.gram(z.conj())), lib.host(z).T @ lib.host(z).conj())


def test_spmm():
    n = 2000
    for lib in libraries:
        for dtype in types:
            parts, _ = laplacian(n, dtype)
            x = block(n, 5, dtype)
            wanted = 2 * x
            wanted[1:] -= x[:-1]
            wanted[:-1] -= x[1:]
            for a in (lib.csr(*parts), Triple(lib, *parts)):
                close(lib.host(ts.spmm(a, lib.array(x))), wanted)
        indptr, indices, data, shape = laplacian(n)[0]
        wrong = indices.copy()
        wrong[5] = n
        x = lib.array(block(n, 2, "float64"))
        raises(ValueError, "column number", lambda: ts.spmm(Triple(lib, indptr, wrong, data, shape), x))
        raises(ValueError, "rows where", lambda: ts.spmm(lib.csr(indptr, indices, data, shape), x[:-1]))


def test_sentences_of_errors():
    for lib in libraries:
        a = lib.array(block(100, 3, "float64"))
        raises(ValueError, "different memory", lambda: ts.inner(a, block(100, 3, "float64")))
        raises(ValueError, "float64 is needed", lambda: ts.inner(a, lib.array(block(100, 3, "float32"))))
        raises(ValueError, "shape", lambda: ts.gram(a, out=lib.array(np.zeros((2, 2)))))
        raises(ValueError, "square", lambda: ts.eigsh(a))
        raises(ts.BadInput, "Hermitian", lambda: ts.eigsh(lib.array(block(50, 50, "float64"))))
        raises(ValueError, "features", lambda: ts.KMeans(2).fit(a).predict(a[:, :2]))


def blobs(n, dtype):
    rng = np.random.default_rng(3)
    centers = rng.uniform(-20, 20, (6, 5))
    truth = rng.integers(6, size=n)
    return (centers[truth] + 0.3 * rng.standard_normal((n, 5))).astype(dtype), truth, centers


def test_kmeans():
    for lib in libraries:
        for dtype in ("float64", "float32", "float16"):
            X, truth, _ = blobs(20_000, dtype)
            d = lib.array(X)
            model = ts.KMeans(6, random_state=0).fit(d)
            labels, centers = lib.host(model.labels_), lib.host(model.cluster_centers_)
            assert labels.dtype == np.int32 and len(np.unique(truth * 6 + labels)) == 6
            assert centers.dtype == (np.float32 if dtype == "float32" else np.float64)
            for j in range(6):
                np.testing.assert_allclose(centers[j], X[labels == j].astype(float).mean(0), rtol=1e-5, atol=1e-5)
            assert (lib.host(model.predict(d)) == labels).all()
            np.testing.assert_allclose(-model.score(d), model.inertia_, rtol=1e-6)
            far = lib.host(model.transform(d[:100]))
            assert far.shape == (100, 6) and (far.argmin(1) == labels[:100]).all()
            on_processor = ts.KMeans(6, random_state=0).fit(X)
            assert abs(on_processor.inertia_ - model.inertia_) <= 1e-6 * model.inertia_


def test_other_models():
    X, truth, start = blobs(20_000, "float64")
    for lib in libraries:
        d = lib.array(X)
        for model in (ts.MiniBatchKMeans(6, random_state=0), ts.BisectingKMeans(6, random_state=0),
                      ts.KMeans(6, algorithm="two-level", random_state=0),
                      ts.KMeans(6, metric="cosine", random_state=0)):
            labels = model.fit_predict(d)
            assert (lib.host(labels) == lib.host(model.labels_)).all() and lib.owns(model.cluster_centers_)
        given = ts.KMeans(6, init=lib.array(start)).fit(d, sample_weight=lib.array(np.linspace(1, 2, len(X))))
        assert len(np.unique(truth * 6 + lib.host(given.labels_))) == 6
        steps = ts.MiniBatchKMeans(6, init=start)
        for first in range(0, 4000, 1000):
            steps.partial_fit(d[first:first + 1000])
        assert lib.owns(steps.cluster_centers_) and (lib.host(steps.predict(d)) == lib.host(given.labels_)).all()
        rows, columns = X.shape
        indptr, indices = np.arange(rows + 1) * columns, np.tile(np.arange(columns), rows)
        sparse = ts.KMeans(6, init=start).fit(lib.csr(indptr, indices, X.ravel(), X.shape))
        assert (lib.host(sparse.labels_) == lib.host(given.labels_)).all()


def test_streams():
    """What another stream still writes is waited for; what is returned is complete."""
    a = block(200_000, 8, "float64")
    for lib in libraries:
        if lib.module.__name__ != "torch":
            stream = lib.module.cuda.Stream(non_blocking=True)
            d, source = lib.array(np.zeros_like(a)), lib.array(a)
            lib.module.cuda.Device().synchronize()
            with stream:
                for _ in range(200):
                    d += 1
                d[...] = source
                close(lib.host(ts.gram(d)), a.T @ a)
            continue
        torch = lib.module
        d, source = torch.zeros_like(lib.array(a)), lib.array(a)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(200_000_000)
            d.copy_(source)
            close(lib.host(ts.gram(d)), a.T @ a)
            torch.cuda._sleep(200_000_000)
            d[:, 0] = 0
            assert (lib.host(ts.column_norms(d))[0] == 0).all()
            torch.cuda._sleep(200_000_000)
            q, r = ts.orthonormalise(source)
            assert abs(lib.host(q) @ r - a).max() < 1e-10


def test_threads():
    for lib in libraries:
        blocks = [block(50_000, 4 + i % 3, "float64", i) for i in range(8)]
        placed = [lib.array(a) for a in blocks]

        def work(i):
            model = ts.KMeans(3, random_state=0).fit(placed[i])
            return [lib.host(ts.gram(placed[i])) for _ in range(20)], lib.host(model.predict(placed[i])), model

        with ThreadPoolExecutor(4) as threads:
            for a, (found, labels, model) in zip(blocks, threads.map(work, range(8))):
                for g in found:
                    close(g, a.T @ a)
                assert (labels == lib.host(model.labels_)).all()


def test_memory_is_given_back():
    torch = next((lib.module for lib in libraries if lib.module.__name__ == "torch"), None)
    if torch is None:
        return
    a = torch.randn(1_000_000, 32, dtype=torch.float64, device="cuda")
    parts = laplacian(1_000_000)[0]
    sparse = libraries[0].csr(*parts)

    def once():
        ts.gram(a)
        ts.svds(a, k=3)
        try:
            ts.eigsh(sparse, k=8, which="LA", method="lanczos", maxiter=3)
        except ts.NoConvergence:
            pass

    def free():
        gc.collect()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    once()
    before = free()
    for _ in range(4):
        once()
    assert before - free() < 2**27, f"{before - free()} bytes of the GPU are gone after four rounds"


if __name__ == "__main__":
    import test_device_eigen

    main(sys.modules["__main__"], test_device_eigen)
