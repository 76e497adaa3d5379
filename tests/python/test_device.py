"""Arrays of PyTorch and CuPy on a GPU: what is not copied, where results lie, and that they are right.

Without pytest: python3 tests/python/test_device.py, one line for each test.
"""

import gc
import importlib
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import tallskinny as ts
from tallskinny._arrays import tall
from tallskinny._foreign import adopted

types = ["float64", "complex128", "float32", "complex64"]


class Torch:
    def __init__(self):
        self.module = importlib.import_module("torch")
        if not self.module.cuda.is_available():
            raise ImportError("PyTorch sees no GPU")

    def array(self, a):
        return self.module.from_numpy(np.array(a, order="C")).cuda()

    def host(self, a):
        assert self.owns(a), f"{type(a)} is not PyTorch's, or not on the GPU"
        return a.resolve_conj().cpu().numpy()

    def owns(self, a):
        return isinstance(a, self.module.Tensor) and a.is_cuda

    def csr(self, indptr, indices, data, shape):
        return self.module.sparse_csr_tensor(self.array(indptr), self.array(indices), self.array(data), shape)

    def pointer(self, a):
        return a.data_ptr()


class CuPy:
    def __init__(self):
        self.module = importlib.import_module("cupy")
        self.module.cuda.runtime.getDeviceCount()

    def array(self, a):
        return self.module.asarray(a)

    def host(self, a):
        assert self.owns(a), f"{type(a)} is not CuPy's"
        return self.module.asnumpy(a)

    def owns(self, a):
        return isinstance(a, self.module.ndarray)

    def csr(self, indptr, indices, data, shape):
        sparse = importlib.import_module("cupyx.scipy.sparse")
        return sparse.csr_matrix((self.array(data), self.array(indices), self.array(indptr)), shape=shape)

    def pointer(self, a):
        return a.data.ptr


def found_libraries():
    """Those that can be used, and why others cannot."""
    found, missing = [], []
    for library in (Torch, CuPy):
        try:
            found.append(library())
        except Exception as e:  # of CuPy without a driver there are many
            missing.append(f"{library.__name__}: {e}")
    return found, missing


libraries, why_not = found_libraries()
if not ts.devices():
    libraries, why_not = [], ["the library finds no GPU"]
if not libraries and __name__ != "__main__":
    import pytest

    pytest.skip("no arrays on a GPU: " + "; ".join(why_not), allow_module_level=True)


def raises(error, words, call):
    """Asserts that call() raises this error with these words in its sentence."""
    try:
        call()
    except error as e:
        assert words in str(e), f"{words!r} is not in {e}"
    else:
        raise AssertionError(f"no {error.__name__} was raised")


def block(n, p, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, p))
    return (a + 1j * rng.standard_normal((n, p)) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def symmetric(n, dtype):
    a = block(n, n, dtype)
    return a + a.conj().T


def close(found, wanted, factor=200):
    assert found.dtype == wanted.dtype, f"{found.dtype} where {wanted.dtype} is wanted"
    np.testing.assert_allclose(found, wanted, rtol=0, atol=factor * np.finfo(found.dtype).eps * np.abs(wanted).max())


def laplacian(n, dtype="float64"):
    """(indptr, indices, data, shape) of the second difference, and its eigenvalues."""
    rows = np.repeat(np.arange(n), 3)
    columns = rows + np.tile([-1, 0, 1], n)
    inside = (columns >= 0) & (columns < n)
    data = np.tile([-1.0, 2.0, -1.0], n)[inside].astype(dtype)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[inside], minlength=n))))
    exact = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    return (indptr.astype(np.int32), columns[inside].astype(np.int32), data, (n, n)), exact


class OnlyInterface:
    """An array that tells where it lies, and no more."""

    def __init__(self, a):
        self.kept, self.__cuda_array_interface__ = a, a.__cuda_array_interface__


class Triple:
    """A sparse matrix of nobody's library."""

    def __init__(self, lib, indptr, indices, data, shape):
        self.indptr, self.indices, self.data, self.shape = (*map(lib.array, (indptr, indices, data)), shape)


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
            a, b, s = block(5000, 7, dtype), block(5000, 3, dtype, 1), block(7, 4, dtype, 2)
            da, db, ds = map(lib.array, (a, b, s))
            close(lib.host(ts.gram(da)), a.conj().T @ a)
            close(lib.host(ts.inner(da, db)), a.conj().T @ b)
            close(lib.host(ts.inner(da, db, conjugate=False)), a.T @ b)
            close(lib.host(ts.tsmm(da, ds)), a @ s)
            close(lib.host(ts.tsmm(da, ds, alpha=2, beta=3, out=lib.array(a @ s))), 5 * (a @ s))
            close(lib.host(ts.tsm2r(lib.array(a.T), db)), a.T @ b)
            close(lib.host(ts.column_norms(da)), np.linalg.norm(a, axis=0))
            r = np.triu(block(7, 7, dtype)) + 5 * np.eye(7, dtype=dtype)
            close(lib.host(ts.trsm(da, lib.array(r))) @ r, a)
            close(lib.host(da), a)  # as it was
            q, r = ts.orthonormalise(da)
            close(lib.host(q) @ r, a)
            close(lib.host(ts.gram(q)), np.eye(7, dtype=dtype))


def test_layouts_and_half_precision():
    for lib in libraries:
        a = block(3000, 8, "float64")
        d = lib.array(a)
        for view, same in ((d[:, 2:6], a[:, 2:6]), (d[:, ::2], a[:, ::2]), (d[::3], a[::3]), (d[:, 3], a[:, 3:4])):
            close(lib.host(ts.gram(view)), same.T @ same)
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


def pairs_are_right(lib, a, found, exact, tol):
    w, v = found
    assert found.converged and found.complete, found.reason
    scale = np.abs(exact).max()
    w, v = lib.host(w), lib.host(v)
    np.testing.assert_allclose(w, exact, atol=tol * scale)
    assert np.linalg.norm(a @ v - v * w) < 10 * tol * scale * np.sqrt(len(w))


def test_eigsh_of_dense():
    for lib in libraries:
        for dtype in types:
            a = symmetric(400, dtype)
            exact = np.linalg.eigvalsh(a)
            narrow = np.finfo(dtype).bits == 32
            tol = 1e-5 if narrow else 1e-10
            found = ts.eigsh(lib.array(a), k=5, which="LA", tol=1e-6 if narrow else 0)
            assert lib.host(found[1]).dtype == a.dtype and lib.host(found[0]).dtype == exact.dtype
            pairs_are_right(lib, a, found, exact[-5:], tol)
            w = ts.eigsh(lib.array(a), k=3, which="SA", tol=1e-6 if narrow else 0, return_eigenvectors=False)
            np.testing.assert_allclose(lib.host(w), exact[:3], atol=tol * exact[-1])


def test_eigsh_of_sparse():
    n = 4000
    parts, exact = laplacian(n)
    dense = np.zeros((n, n))
    dense[np.repeat(np.arange(n), np.diff(parts[0])), parts[1]] = parts[2]
    for lib in libraries:
        for a in (lib.csr(*parts), Triple(lib, *parts)):
            pairs_are_right(lib, dense, ts.eigsh(a, k=4, sigma=0), exact[:4], 1e-9)
        pairs_are_right(lib, dense, ts.eigsh(lib.csr(*parts), k=4, which="LA", method="lanczos", tol=1e-8),
                        exact[-4:], 1e-8)
        pairs_are_right(lib, dense, ts.eigsh(lib.csr(*parts), k=3, which="SM", context=ts.Context()), exact[:3], 1e-9)


def test_columns_in_any_order():
    indptr, indices, data, shape = laplacian(300)[0]
    exact = laplacian(300)[1]
    for i in range(0, 300, 2):  # every other row backwards, and the first entry in two pieces
        indices[indptr[i]:indptr[i + 1]] = indices[indptr[i]:indptr[i + 1]][::-1].copy()
        data[indptr[i]:indptr[i + 1]] = data[indptr[i]:indptr[i + 1]][::-1].copy()
    indices, data = np.insert(indices, 0, 0), np.insert(data, 0, 0.5)
    data[[1, 2]] = np.where(indices[[1, 2]] == 0, 1.5, data[[1, 2]])
    indptr[1:] += 1
    for lib in libraries:
        a = Triple(lib, indptr, indices, data, shape)
        np.testing.assert_allclose(lib.host(ts.eigsh(a, 3, which="SA", return_eigenvectors=False)), exact[:3])


def test_what_did_not_converge_is_on_the_device():
    parts, _ = laplacian(20_000)
    for lib in libraries:
        try:
            ts.eigsh(lib.csr(*parts), k=4, which="LA", method="lanczos", maxiter=2)
        except ts.NoConvergence as e:
            assert lib.owns(e.eigenvalues) and lib.owns(e.eigenvectors) and lib.owns(e.result[1])
        else:
            raise AssertionError("two steps were enough")


def test_eigs():
    for lib in libraries:
        for dtype in types:
            a = block(300, 300, dtype)
            exact = np.linalg.eigvals(a)
            narrow = np.finfo(dtype).bits == 32
            w, v = ts.eigs(lib.array(a), k=4, tol=1e-5 if narrow else 0)
            w, v = lib.host(w), lib.host(v)
            assert w.dtype == v.dtype == (np.complex64 if narrow else np.complex128)
            size = np.abs(exact)
            np.testing.assert_allclose(np.abs(w), np.sort(size)[::-1][:4], atol=size.max() * (1e-4 if narrow else 1e-9))
            assert np.linalg.norm(a @ v - v * w) < size.max() * (1e-3 if narrow else 1e-8)


def test_svds():
    for lib in libraries:
        for dtype in types:
            a = block(3000, 60, dtype) * np.linspace(1, 5, 60).astype(np.finfo(dtype).dtype)
            narrow = np.finfo(dtype).bits == 32
            tol = 1e-5 if narrow else 1e-10
            exact = np.linalg.svd(a, compute_uv=False)[::-1]
            for options, wanted in (({}, exact[-4:]), ({"which": "SM"}, exact[:4])):
                u, s, vh = (lib.host(x) for x in ts.svds(lib.array(a), k=4, tol=1e-6 if narrow else 0, **options))
                assert u.dtype == vh.dtype == a.dtype and u.shape == (3000, 4) and vh.shape == (4, 60)
                np.testing.assert_allclose(s, wanted, rtol=10 * tol)
                assert np.linalg.norm(a @ vh.conj().T - u * s) < 100 * tol * exact[-1]
        a = block(3000, 60, "float64") + 7
        centred = np.linalg.svd(a - a.mean(0), compute_uv=False)[:3][::-1]
        np.testing.assert_allclose(lib.host(ts.svds(lib.array(a), k=3, centre=True)[1]), centred, rtol=1e-9)
        left = ts.svds(lib.array(a), k=2, return_singular_vectors="u")
        assert lib.owns(left[0]) and left[2] is None
        parts, exact = laplacian(2000)
        s = ts.svds(lib.csr(*parts), k=3, tol=1e-8, return_singular_vectors=False)
        np.testing.assert_allclose(lib.host(s), exact[-3:], rtol=1e-7)


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


def test_vectors_outlive_the_call():
    a = symmetric(600, "float64")
    for lib in libraries:
        d = lib.array(a)
        w, v = ts.eigsh(d, k=4)
        kept = lib.host(v)
        for _ in range(5):
            del w
            w, other = ts.eigsh(d, k=40)
        gc.collect()
        assert (lib.host(v) == kept).all()


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


def main():
    """Runs all tests, prints a line for each. Returns how many failed."""
    print(f"tallskinny {ts.__version__}, GPUs: {ts.devices()}, libraries: "
          f"{[lib.module.__name__ + ' ' + lib.module.__version__ for lib in libraries]}, not: {why_not}", flush=True)
    if not libraries:
        return 1
    failed = 0
    wanted = sys.argv[1:]
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        begin = time.monotonic()
        try:
            test()
            print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)
        except Exception as e:
            failed += 1
            print(f"FAILED {name}: {type(e).__name__}: {str(e)[:600]}", flush=True)
            traceback.print_exc()
    print(f"{failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main() != 0)
