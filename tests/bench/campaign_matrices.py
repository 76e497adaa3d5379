"""Matrices of known spectra, and the families that campaign.py draws from: each takes a generator of NumPy."""
import math

import numpy as np
import scipy.sparse as sp


def path(n):
    """The Dirichlet Laplacian of a path; Toeplitz, 2 on the diagonal and -1 beside it."""
    return sp.diags([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1], format="csr")


def laplacian(adjacency):
    return sp.csr_matrix(sp.diags(np.asarray(adjacency.sum(1)).ravel()) - adjacency)


def star(n):
    edges = sp.coo_matrix((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), (n, n))
    return laplacian(edges + edges.T)


def hypercube(d):
    corners = np.arange(2**d)
    rows, cols = np.concatenate([corners] * d), np.concatenate([corners ^ (1 << bit) for bit in range(d)])
    return sp.coo_matrix((np.ones(len(rows)), (rows, cols)), (2**d, 2**d)).tocsr()


def symmetric(rng, n):
    g = rng.standard_normal((n, n))
    return (g + g.T) / 2


def with_values(rng, values):
    """A dense symmetric matrix with these eigenvalues."""
    q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    a = q * values @ q.T
    return (a + a.T) / 2


def sparse_symmetric(rng, n):
    a = sp.random(n, n, min(1.0, 4 / n), random_state=rng, data_rvs=rng.standard_normal)
    return sp.csr_matrix(a + a.T)


def cube_of(a, i):
    """Sums over the three directions of A of one direction times I, or M of a pencil, of the others."""
    return sp.csr_matrix(sum(sp.kron(sp.kron(x, y), z) for x, y, z in ((a, i, i), (i, a, i), (i, i, a))))


def grid(m):
    return cube_of(path(m), sp.identity(m))


def size(rng, largest=700):
    return int(round(math.exp(rng.uniform(math.log(3), math.log(largest)))))


def graded(rng):
    """D T D, symmetric positive definite and tridiagonal, with D over up to nine decades."""
    n, low, high = size(rng), -rng.uniform(2, 4.5), rng.uniform(2, 4.5)
    d = 10.0 ** np.linspace(low, high, n)
    beside = -d[:-1] * d[1:]
    return sp.diags([beside, 2.3 * d * d, beside], [-1, 0, 1], format="csr")


def counted_below(tridiagonal, x):
    """How many eigenvalues lie below x: the signs of an LDL^T factorisation, right to a few units of each entry."""
    d, e = tridiagonal.diagonal(), tridiagonal.diagonal(1)
    count, pivot = 0, 1.0
    for i, entry in enumerate(d):
        pivot = entry - x - (e[i - 1] ** 2 / pivot if i else 0.0)
        pivot = pivot or 1e-300
        count += pivot < 0
    return int(count)


def components(rng):
    """The Laplacian of a graph of several components, which has zero as often."""
    def one():
        n = int(rng.integers(3, 21))
        a = sp.random(n, n, min(1.0, 6 / n), random_state=rng)
        return sp.csr_matrix(((a + a.T) > 0).astype(float))
    return laplacian(sp.csr_matrix(sp.block_diag([one() for _ in range(int(rng.integers(2, 61)))])))


def spectrum(rng):
    """Numbers of either sign: graded, in clusters, repeated, evenly apart."""
    n = size(rng, 300)
    kind = int(rng.integers(4))
    if kind == 0:
        values = 10.0 ** rng.uniform(-9, 3, n)
    elif kind == 1:
        values = rng.standard_normal(4)[rng.integers(0, 4, n)] + 10.0 ** -rng.uniform(4, 12) * rng.standard_normal(n)
    elif kind == 2:
        values = rng.integers(1, 5, n).astype(float)
    else:
        values = np.linspace(1, 2, n)
    return values * rng.choice([-1, 1], n) if rng.integers(2) else values


def float32_product(rng):
    """W C W^T in float32, symmetric to rounding alone."""
    n = size(rng, 300)
    w = rng.standard_normal((n, n)).astype(np.float32)
    return (w * rng.random(n).astype(np.float32)) @ w.T


HERMITIAN = {
    "diagonal, few values": lambda rng: sp.diags(rng.integers(-4, 5, size(rng)).astype(float), format="csr"),
    "1..n": lambda rng: sp.diags(np.arange(1.0, size(rng) + 1), format="csr"),
    "zero": lambda rng: (lambda n: sp.csr_matrix((n, n)))(size(rng)),
    "copies of random": lambda rng: sp.csr_matrix(
        sp.kron(sp.identity(int(rng.integers(2, 41))), symmetric(rng, int(rng.integers(2, 17))))),
    "copies of a path": lambda rng: sp.csr_matrix(sp.kron(sp.identity(int(rng.integers(2, 9))),
                                                          path(int(rng.integers(5, 80))))),
    "hypercube": lambda rng: hypercube(int(rng.integers(2, 10))),
    "hypercube Laplacian": lambda rng: laplacian(hypercube(int(rng.integers(2, 10)))),
    "star": lambda rng: star(size(rng)),
    "cube of paths": lambda rng: grid(int(rng.integers(2, 9))),
    "path": lambda rng: path(size(rng)),
    "sparse random": lambda rng: sparse_symmetric(rng, size(rng)),
    "badly scaled": lambda rng: (lambda d: sp.csr_matrix(
        sp.diags(d) @ (path(len(d)) + sp.identity(len(d))) @ sp.diags(d)))(10.0 ** rng.uniform(-2, 2, size(rng))),
    "clusters": lambda rng: with_values(rng, np.sort(np.repeat(rng.standard_normal(6), 30))
                                        + 1e-9 * rng.standard_normal(180)),
    "rotated spectrum": lambda rng: with_values(rng, spectrum(rng)),
    "float32 product": float32_product,
    "graded": graded,
    "components": components,
    "low rank": lambda rng: (lambda g: g @ g.T)(rng.standard_normal((size(rng, 400), 5))),
    "dense random": lambda rng: symmetric(rng, size(rng, 400)),
}


def shift(n):
    return sp.csr_matrix(np.roll(np.identity(n), 1, axis=0))


def skew_copies(rng):
    """Normal: copies of K = (X - X^T) (+) C and one lone eigenvalue just left of all of them."""
    p, q = int(rng.integers(3, 13)), int(rng.integers(3, 26))
    x = rng.standard_normal((p, p))
    k = sp.kron(sp.csr_matrix(x - x.T), sp.identity(q)) + sp.kron(sp.identity(p), shift(q))
    lowest = np.cos(2 * np.pi * (q // 2) / q)
    return sp.csr_matrix(sp.block_diag([k, k, sp.csr_matrix([[lowest - 1e-4]])]))


def grcar(n):
    a = sp.diags([-np.ones(n - 1)] + [np.ones(n - j) for j in range(4)], [-1, 0, 1, 2, 3])
    return sp.csr_matrix(a)


def convection(rng, n):
    c = rng.uniform(0, 0.99)
    return sp.diags([-(1 + c) * np.ones(n - 1), 2 * np.ones(n), -(1 - c) * np.ones(n - 1)], [-1, 0, 1], format="csr")


def permutation(rng, n):
    return sp.csr_matrix((np.ones(n), (np.arange(n), rng.permutation(n))), (n, n))


GENERAL = {
    "copies of random": lambda rng: sp.csr_matrix(
        sp.kron(sp.identity(int(rng.integers(2, 41))), rng.standard_normal((20, 20)) / 4)),
    "skew copies": skew_copies,
    "permutation": lambda rng: permutation(rng, size(rng, 1000)),
    "Grcar": lambda rng: grcar(size(rng, 60) + 4),
    "convection": lambda rng: convection(rng, size(rng, 150)),
    "sparse random": lambda rng: (lambda n: sp.csr_matrix(sp.random(
        n, n, min(1.0, 5 / n), random_state=rng, data_rvs=rng.standard_normal)))(size(rng)),
    "dense random": lambda rng: rng.standard_normal((lambda n: (n, n))(size(rng, 400))),
    "upper triangle": lambda rng: (lambda n: np.diag(np.repeat(np.arange(1.0, n + 1), 2))
                                   + np.triu(rng.standard_normal((2 * n, 2 * n)), 1) / 8)(int(rng.integers(3, 13))),
    "symmetric": lambda rng: sparse_symmetric(rng, size(rng)),
}

RECTANGULAR = {
    "tall": lambda rng: rng.standard_normal((size(rng, 600), int(rng.integers(3, 240)))),
    "square": lambda rng: rng.standard_normal((lambda n: (n, n))(size(rng, 300))),
    "rank deficient": lambda rng: rng.standard_normal((size(rng, 500), 6)) @ rng.standard_normal((6, size(rng, 200))),
    "graded": lambda rng: rng.standard_normal((300, 40)) * 10.0 ** -np.linspace(0, 10, 40),
    "sparse": lambda rng: sp.csr_matrix(sp.random(size(rng), size(rng), 0.05, random_state=rng)),
}


def stiffness_and_mass(rng, mass):
    """K, and the diagonal of a mass matrix in which some masses are zero."""
    n = len(mass)
    return sp.csr_matrix(path(n) + sp.diags(rng.random(n))), np.where(rng.random(n) < rng.uniform(0.05, 0.6), 0.0, mass)


SINGULAR_PENCILS = {
    "massless rows": lambda rng: stiffness_and_mass(rng, np.ones(size(rng) + 5)),
    "massless rows, graded masses": lambda rng: stiffness_and_mass(rng, 10.0 ** rng.uniform(-3, 3, size(rng) + 5)),
}
