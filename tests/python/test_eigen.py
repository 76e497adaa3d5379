"""Eigenvalues and singular values against NumPy, from every kind of matrix; what is raised; Ctrl-C."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from device import symmetric
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, splu

import tallskinny as ts


def laplacian(n):
    return sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")


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
    mass = sp.diags(np.full(n, 4.0), format="csr")
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
    big = sp.diags(np.arange(1.0, 2001))
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


def test_hermitian_to_rounding():
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.standard_normal((120, 120)))
    near = (q * np.logspace(-6, 0, 120)).astype(np.float32) @ q.T.astype(np.float32)
    exact = np.linalg.eigvalsh((near + near.T).astype(np.float64) / 2)
    for a in (near, sp.csr_array(near)):
        w, v = found = ts.eigsh(a, k=4, which="LA")
        np.testing.assert_allclose(w, exact[-4:], rtol=1e-6)
        assert 0 < found.asymmetry < 1e-5 and "(A + A^H) / 2" in found.note
        assert (found.error_bounds > 0).all()
    farthest = np.sort(exact[np.argsort(-abs(exact - 0.5))[:3]])
    np.testing.assert_allclose(ts.eigsh(near, k=3, sigma=0.5, which="SM")[0], farthest, atol=1e-6)
    far = near.astype(np.float64) + 0.01 * np.triu(q)
    with pytest.raises(ts.BadInput, match="symmetrise"):
        ts.eigsh(far, k=2)
    w = ts.eigsh(far, k=2, which="LA", symmetrise=True, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.linalg.eigvalsh((far + far.T) / 2)[-2:])
    for solve in (ts.eigsh, ts.eigs, ts.svds):
        broken = np.eye(5)
        broken[1, 2] = broken[2, 1] = np.nan
        with pytest.raises(ts.BadInput, match="NaN at row 1, column 2"):
            solve(broken, k=2)


def test_errors():
    a = symmetric(10)
    for wrong, sentence in ((dict(k=0), "k=0"), (dict(k=11), "k=11"), (dict(which="XX"), "which='XX'"),
                            (dict(mode="cayley"), "needs a sigma"), (dict(mode="x"), "mode='x'"),
                            (dict(sigma=0, mode="buckling"), "other than 0"), (dict(tol=-1), "tol=-1"),
                            (dict(k=3, ncv=3), "ncv=3")):
        with pytest.raises(ValueError, match=sentence):
            ts.eigsh(a, **wrong)
    with pytest.raises(ValueError, match="square"):
        ts.eigsh(np.ones((3, 4)), k=1)
    with pytest.raises(ts.BadInput, match="eigs"):
        ts.eigsh(np.triu(a), k=1)
    large = LinearOperator((30_000, 30_000), matvec=lambda x: x, dtype=float)
    with pytest.raises(ValueError, match="OPinv"):
        ts.eigsh(large, k=1, sigma=0)
    with pytest.raises(ValueError, match="OPpart"):
        ts.eigs(a, sigma=0.1, OPpart="i", k=2)
    assert (ts.eigsh(a, k=2, rng=5)[0] == ts.eigsh(a, k=2, rng=5)[0]).all()
    with pytest.raises(ValueError, match="wrong M dimensions"):
        ts.eigs(a, M=a[:5, :5])
    with pytest.raises(ValueError, match="up to 500 rows"):
        ts.eigsh(laplacian(600), k=2, sigma=1, mode="cayley", which="SM")


def positive(n, seed):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return a @ a.T / n + np.eye(n)


def as_scipy_chooses(nu, k, which):
    order = np.argsort(abs(nu) if which in ("LM", "SM") else nu)
    return {"LM": order[-k:], "LA": order[-k:], "SM": order[:k], "SA": order[:k],
            "BE": np.concatenate((order[:k // 2], order[k // 2 - k:]))}[which]


@pytest.mark.parametrize("n", [30, 520])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
@pytest.mark.parametrize("mode", ["normal", "buckling", "cayley"])
def test_modes_with_sigma(mode, which, n):
    if mode == "cayley" and which == "SM" and n > 500:
        return
    if n > 500:  # chosen without all eigenvalues
        a, m = laplacian(n) + sp.eye(n), None
        exact = 3 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    else:
        a, m = positive(n, 1), positive(n, 2)
        exact = scipy.linalg.eigh(a, m, eigvals_only=True)
    for sigma in (1.3, -0.7):
        if sigma < 0 and n > 500 and (which == "BE" or (mode, which) == ("cayley", "LM")):
            if mode != "normal":
                with pytest.raises(ValueError, match="one side of sigma"):
                    ts.eigsh(a, 3, m, sigma=sigma, which=which, mode=mode)
            continue
        nu = {"normal": 1 / (exact - sigma), "buckling": exact / (exact - sigma),
              "cayley": (exact + sigma) / (exact - sigma)}[mode]
        wanted = np.sort(exact[as_scipy_chooses(nu, 3, which)])
        found = ts.eigsh(a, 3, m, sigma=sigma, which=which, mode=mode)
        w, v = found
        if len(w) < 3:  # of one side there are no more: SciPy goes on from the far end of the other
            assert sigma < 0 and set(w.round(8)) <= set(wanted.round(8)) and found.converged
            continue
        np.testing.assert_allclose(w, wanted, rtol=1e-8)
        residuals = np.linalg.norm(a @ v - (v if m is None else m @ v) * w, axis=0)
        assert max(residuals) < 1e-7
        np.testing.assert_allclose(residuals, found.residuals, atol=1e-9)


def test_buckling_of_an_indefinite_mass():
    a, m = positive(40, 1), symmetric(40)
    exact = scipy.linalg.eig(a, m, right=False).real
    w, v = ts.eigsh(a, 4, m, sigma=0.5, mode="buckling")
    wanted = np.sort(exact[as_scipy_chooses(exact / (exact - 0.5), 4, "LM")])
    np.testing.assert_allclose(w, wanted, rtol=1e-8)
    np.testing.assert_allclose(a @ v, m @ v * w, atol=1e-8)


def test_operators_as_matrices():
    a, m = positive(100, 3), positive(100, 4)
    exact = scipy.linalg.eigh(a, m, eigvals_only=True)
    for sigma, wanted in ((None, exact[-3:]), (0, exact[:3])):
        w = ts.eigsh(aslinearoperator(a), 3, aslinearoperator(m), sigma=sigma, return_eigenvectors=False)
        np.testing.assert_allclose(w, wanted, rtol=1e-8)
    np.testing.assert_allclose(np.sort(ts.eigs(aslinearoperator(a), 3, sigma=0)[0].real),
                               np.linalg.eigvalsh(a)[:3], rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_pencils_that_are_not_hermitian(dtype, form):
    rng = np.random.default_rng(5)
    a = rng.standard_normal((60, 60)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a += 1j * rng.standard_normal((60, 60))
    m = positive(60, 6).astype(dtype)
    exact = scipy.linalg.eigvals(a, m)
    close = 1e-3 if dtype == np.float32 else 1e-8
    for sigma in (None, 0.4, 0.4 + 0.3j):
        nu = exact if sigma is None else 1 / (exact - sigma)
        for which in ("LM", "LR", "SI" if np.dtype(dtype).kind == "c" else "SR"):
            key = {"LM": -abs(nu), "LR": -nu.real, "SR": nu.real, "SI": nu.imag}[which]
            w, v = found = ts.eigs(form(a), 4, form(m), sigma=sigma, which=which)
            v = v / np.linalg.norm(v, axis=0)
            np.testing.assert_allclose(np.linalg.norm(a @ v - m @ v * w, axis=0), 0, atol=100 * close)
            at = w if sigma is None else 1 / (w - sigma)
            of = {"LM": -abs(at), "LR": -at.real, "SR": at.real, "SI": at.imag}[which]
            np.testing.assert_allclose(np.sort(of), np.sort(key)[:4], rtol=close, atol=close)
            assert found.converged and len(found.residuals) == 4


def test_far_from_sigma_parts_and_inverses_of_eigs():
    a, m = np.random.default_rng(7).standard_normal((50, 50)), positive(50, 8)
    exact = scipy.linalg.eigvals(a, m)
    w = ts.eigs(a, 4, m, sigma=0.5, which="SM")[0]
    np.testing.assert_allclose(np.sort(abs(w - 0.5)), np.sort(abs(exact - 0.5))[-4:], rtol=1e-8)
    sigma = 0.2 + 0.4j
    for part, of in (("r", lambda x: 0.5 * (1 / (x - sigma) + 1 / (x - sigma.conjugate()))),
                     ("i", lambda x: -0.5j * (1 / (x - sigma) - 1 / (x - sigma.conjugate())))):
        w, v = ts.eigs(a, 4, m, sigma=sigma, OPpart=part)
        np.testing.assert_allclose(np.sort(abs(of(w))), np.sort(abs(of(exact)))[-4:], rtol=1e-7)
        np.testing.assert_allclose(a @ v, m @ v * w, atol=1e-6)
    same = ts.eigs(a, 4, m, sigma=0.5)[0]
    given = ts.eigs(aslinearoperator(a), 4, m, sigma=0.5, OPinv=aslinearoperator(np.linalg.inv(a - 0.5 * m)))[0]
    np.testing.assert_allclose(np.sort_complex(given), np.sort_complex(same), rtol=1e-8)
    inverse = ts.eigs(a, 4, m, Minv=aslinearoperator(np.linalg.inv(m)))[0]
    np.testing.assert_allclose(np.sort_complex(inverse), np.sort_complex(ts.eigs(a, 4, m)[0]), rtol=1e-8)


def test_sides_without_vectors():
    a = laplacian(400) + sp.eye(400)  # nothing lies below 0.5: a crash, once
    assert len(ts.eigsh(a, 2, sigma=0.5, which="BE", return_eigenvectors=False)) == 1


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
a = sp.diags(np.sort(np.random.default_rng(0).random(200_000)))
def told(_):
    print("running", flush=True)
try:
    ts.eigsh(a.tocsr(), k=40, which="LA", tol=1e-14, method="lanczos", callback=told, maxiter=1000000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_call_without_end():
    run = subprocess.Popen([sys.executable, "-c", endless], stdout=subprocess.PIPE, text=True)
    while run.stdout.readline() != "running\n":
        assert run.poll() is None
    os.kill(run.pid, signal.SIGINT)
    rest, _ = run.communicate(timeout=60)
    assert rest.endswith("interrupted\n")
