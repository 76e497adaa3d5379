"""What calls for eigenvalues tell of hard problems: pencils near to singular, and sets that cannot be proven."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import tallskinny as ts


def laplacian(n):
    return sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")


def stiff_and_loaded(n=250):
    """A beam of condition 6e8, pressed in one part and pulled in the other; its loads lambda, rising."""
    d2 = sp.diags([1.0, -2, 1], [-1, 0, 1], shape=(n, n))
    d1 = sp.diags([1.0, -1], [0, 1], shape=(n - 1, n))
    a = (2.1e9 * (d2.T @ d2)).tocsr()
    m = (d1.T @ sp.diags(np.where(np.arange(n - 1) < 0.6 * n, 1e6, -0.7e6)) @ d1).tocsr()
    mu = scipy.linalg.eigh(m.toarray(), a.toarray(), eigvals_only=True)
    return a, m, np.sort(1 / mu[abs(mu) > 1e-12 * abs(mu).max()])


def test_buckling_as_exactly_as_rounding_allows():
    a, m, loads = stiff_and_loaded()
    first = loads[loads > 0][0]
    for sigma, k in ((0.5 * first, 1), (1.5 * first, 4), (-0.3 * first, 4)):
        w, v = found = ts.eigsh(a, k, m, sigma=sigma, mode="buckling", tol=0)
        wanted = np.sort(loads[np.argsort(abs(loads / (loads - sigma)))[::-1][:k]])
        np.testing.assert_allclose(w, wanted, rtol=1e-6)
        assert found.complete and max(found.backward_errors) < 1e-12
        assert all(abs(w / wanted - 1) < found.error_bounds / abs(w) + 1e-7)


def test_tol_0_is_as_exact_as_rounding_allows():
    n = 300
    a, m = laplacian(n), (1e6 * laplacian(n) @ laplacian(n)).tocsr()  # of condition 1e9
    exact = np.sort(1e-6 / np.linalg.eigvalsh(a.toarray()))
    for sigma in (-0.4 * exact[3], 0.7 * exact[3]):
        w, v = ts.eigsh(a, 4, m, sigma=sigma, mode="buckling", tol=0)
        assert max(min(abs(x / exact - 1)) for x in w) < 1e-6
    np.testing.assert_allclose(ts.eigsh(a, 2, m, which="SA", tol=0)[0], exact[:2], rtol=1e-9)


def test_what_did_not_converge_is_told_in_the_terms_of_the_mode():
    n = 3000
    a, m = laplacian(n), sp.diags_array(np.linspace(1, 2, n), format="csr")
    exact = scipy.linalg.eigh_tridiagonal(2 / np.linspace(1, 2, n),
                                          -1 / np.sqrt(np.linspace(1, 2, n)[1:] * np.linspace(1, 2, n)[:-1]),
                                          eigvals_only=True, select="i", select_range=(0, 7))
    with pytest.raises(ts.NoConvergence) as raised:
        ts.eigsh(a, 8, m, sigma=0.5 * exact[0], mode="buckling", maxiter=2)
    result = raised.value.result
    np.testing.assert_allclose(result[0][0], exact[0], rtol=1e-3)  # not its inverse
    assert len(result[0]) == 8 and not result.converged and not all(result.converged_pairs)
    assert len(raised.value.eigenvalues) == sum(result.converged_pairs)


def test_masses_of_zero():
    n = 701
    mass = sp.diags_array((np.arange(n) % 2).astype(float), format="csr")
    wanted = np.linalg.eigvalsh(0.5 * laplacian(350).toarray())[:4]
    for form in (sp.csr_array, lambda x: x.toarray()):
        w, v = found = ts.eigsh(form(laplacian(n)), 4, form(mass), sigma=0)
        np.testing.assert_allclose(w, wanted, atol=1e-12)
        assert found.complete and "at least 351 eigenvalues are infinite" in found.note
        np.testing.assert_allclose(v.T @ (mass @ v), np.eye(4), atol=1e-10)
    with pytest.raises(ts.BadInput, match="of rank 350 in 701 rows"):
        ts.eigsh(laplacian(n), 4, mass)
    with pytest.raises(ts.BadInput, match="indefinite.*buckling"):
        ts.eigsh(laplacian(n), 4, mass - 0.1 * sp.eye_array(n), sigma=0)


def test_converged_is_one_thing_and_complete_another():
    n = 2000
    rng = np.random.default_rng(3)
    a = sp.random_array((n, n), density=4 / n, rng=rng, data_sampler=rng.random, format="csr") + sp.eye_array(n)
    a = (sp.diags_array(1 / np.asarray(a.sum(axis=1)).ravel()) @ a).tocsr()  # of a Markov chain
    with pytest.warns(ts.UnprovenWarning, match="not shown to be complete"):
        w, v = found = ts.eigs(a, 1)
    assert found.converged and not found.complete
    np.testing.assert_allclose(w, 1, rtol=1e-12)
    assert found.backward_errors[0] < 1e-12 and found.conditions[0] >= 1 and found.converged_pairs.all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ts.eigs(a, 1, verify=False)[0].shape == (1,)
