"""Eigenvalues and singular values against NumPy, from every kind of matrix; what is raised; Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, aslinearoperator, splu

import tallskinny as ts


def symmetric(n, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal((n, n))
    return (a + a.conj().T).astype(dtype)


def laplacian(n):
    return sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")


forms = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array,
         "coo": sp.coo_array, "operator": aslinearoperator}


@pytest.mark.parametrize("form", forms)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32, np.complex64])
def test_eigsh_of_every_form(form, dtype):
    a = symmetric(60, dtype)
    w, v = found = ts.eigsh(forms[form](a), k=5, which="LA", tol=1e-6 if np.finfo(dtype).bits == 32 else 0)
    eps = np.finfo(dtype).eps
    assert w.dtype == np.zeros(0, dtype).real.dtype and v.dtype == dtype and v.shape == (60, 5)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a)[-5:], rtol=2e3 * eps)
    assert np.linalg.norm(a @ v - v * w) < 1e4 * eps * np.linalg.norm(a)
    assert found.converged and found.complete and len(found.residuals) == 5


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_which(which):
    a = symmetric(80)
    exact = np.linalg.eigvalsh(a)
    chosen = {"LM": np.argsort(-abs(exact))[:4], "SM": np.argsort(abs(exact))[:4], "LA": [-1, -2, -3, -4],
              "SA": [0, 1, 2, 3], "BE": [0, 1, -1, -2]}[which]
    w = ts.eigsh(a, k=4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.sort(exact[chosen]), atol=1e-10)


def test_large_sparse_shift_and_pencil():
    n = 3000
    a = laplacian(n)
    exact = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    w, v = ts.eigsh(a, k=4, sigma=0)
    np.testing.assert_allclose(w, exact[:4], rtol=1e-8)
    mass = sp.diags_array(np.full(n, 4.0), format="csr")
    w, v = ts.eigsh(a, k=4, M=mass, sigma=0)
    np.testing.assert_allclose(w, exact[:4] / 4, rtol=1e-8)
    np.testing.assert_allclose(v.T @ (mass @ v), np.eye(4), atol=1e-8)
    inverse = aslinearoperator(sp.csc_array(a))
    inverse = type("Inverse", (), {"matvec": staticmethod(splu(sp.csc_array(a)).solve)})()
    w = ts.eigsh(aslinearoperator(a), k=3, sigma=0, OPinv=inverse, return_eigenvectors=False)
    np.testing.assert_allclose(w, exact[:3], rtol=1e-8)


def test_eigs():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((50, 50))
    exact = np.linalg.eigvals(a)
    for which, key in (("LM", abs), ("LR", np.real), ("SR", lambda z: -z.real)):
        w, v = ts.eigs(a, k=6, which=which)
        assert w.shape == (6,) and v.shape == (50, 6)
        wanted = np.sort(key(exact))[::-1][:6]
        np.testing.assert_allclose(np.sort(key(w))[::-1], wanted, atol=1e-10)
        np.testing.assert_allclose(a @ v, v * w, atol=1e-9)
    w, _ = ts.eigs(sp.csr_array(a), k=2, sigma=0.1 + 0.5j)
    near = np.sort(abs(exact - (0.1 + 0.5j)))[:1]
    np.testing.assert_allclose(abs(w - (0.1 + 0.5j)).min(), near[0], atol=1e-9)
    big = sp.diags_array(np.arange(1.0, 2001))
    w, _ = ts.eigs(aslinearoperator(big), k=3)
    np.testing.assert_allclose(np.sort(w.real), [1998, 1999, 2000], rtol=1e-9)


@pytest.mark.parametrize("form", forms)
def test_svds(form):
    a = np.random.default_rng(0).standard_normal((70, 30))
    u, s, vh = found = ts.svds(forms[form](a), k=4)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False)[3::-1], rtol=1e-9)
    np.testing.assert_allclose(a @ vh.T, u * s, atol=1e-8)
    assert u.shape == (70, 4) and vh.shape == (4, 30) and found.complete
    if form != "operator":
        s = ts.svds(forms[form](a), k=2, which="SM", return_singular_vectors=False)
        np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False)[:-3:-1], rtol=1e-9)


def test_principal_components():
    a = np.random.default_rng(0).standard_normal((200, 6)) + 5
    s = ts.svds(a, k=3, centre=True, return_singular_vectors=False)
    np.testing.assert_allclose(s, np.linalg.svd(a - a.mean(0), compute_uv=False)[2::-1], rtol=1e-9)


def test_tables():
    pandas = pytest.importorskip("pandas")
    a = symmetric(20)
    np.testing.assert_allclose(ts.eigsh(pandas.DataFrame(a), k=2, which="LA")[0], np.linalg.eigvalsh(a)[-2:])


def test_not_converged_is_raised_as_by_scipy():
    with pytest.raises(ArpackNoConvergence) as raised:
        ts.eigsh(laplacian(3000), k=8, which="SA", maxiter=2, method="lanczos")
    assert isinstance(raised.value, ts.NoConvergence)
    assert raised.value.eigenvectors.shape == (3000, len(raised.value.eigenvalues))
    assert len(raised.value.result[0]) == 8
    assert "raise `maxiter`" in str(raised.value) and "max_basis" not in str(raised.value)


def test_errors():
    a = symmetric(10)
    for wrong, sentence in ((dict(k=0), "k=0"), (dict(k=11), "k=11"), (dict(which="XX"), "which='XX'"),
                            (dict(mode="cayley"), "mode"), (dict(tol=-1), "tol=-1")):
        with pytest.raises(ValueError, match=sentence):
            ts.eigsh(a, **wrong)
    with pytest.raises(ValueError, match="square"):
        ts.eigsh(np.ones((3, 4)), k=1)
    with pytest.raises(ts.BadInput, match="eigs"):
        ts.eigsh(np.triu(a), k=1)
    with pytest.raises(ValueError, match="OPinv"):
        ts.eigsh(aslinearoperator(a), k=1, sigma=0)
    with pytest.raises(ValueError, match="which='LR' with sigma"):
        ts.eigs(a, sigma=0.1, which="LR", k=2)
    assert (ts.eigsh(a, k=2, rng=5)[0] == ts.eigsh(a, k=2, rng=5)[0]).all()
    with pytest.raises(ValueError, match="M of eigs"):
        ts.eigs(a, M=a)


def test_an_exception_of_the_operator_is_raised():
    class Broken:
        shape, dtype = (2000, 2000), np.dtype(float)

        def matvec(self, x):
            raise LookupError("from the operator")

    with pytest.raises(LookupError, match="from the operator"):
        ts.eigsh(Broken(), k=2)


endless = """
import signal, numpy as np, scipy.sparse as sp, tallskinny as ts
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background has switched off
a = sp.diags_array(np.sort(np.random.default_rng(0).random(200_000)))
def told(_):
    print("running", flush=True)
try:
    ts.eigsh(a.tocsr(), k=40, which="LA", tol=1e-14, method="lanczos", callback=told, maxiter=1000000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_within_a_second():
    run = subprocess.Popen([sys.executable, "-c", endless], stdout=subprocess.PIPE, text=True)
    while run.stdout.readline() != "running\n":
        assert run.poll() is None
    begin = time.monotonic()
    os.kill(run.pid, signal.SIGINT)
    rest, _ = run.communicate(timeout=60)
    took = time.monotonic() - begin
    assert rest.endswith("interrupted\n")
    assert took < 3, took
