"""Eigenvalues and singular values of matrices of PyTorch and CuPy on a GPU. Without pytest: see test_device.py."""

import gc

import numpy as np
from device import block, laplacian, libraries, skip_without_a_device, symmetric, Triple, types

import tallskinny as ts

skip_without_a_device()


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
