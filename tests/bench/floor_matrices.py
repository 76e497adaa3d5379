"""The matrices of floor_eigen.py: families with a note of what is hard in them.

A family is a function of rows (or of the points each way of a grid) and a generator of NumPy. It gives a matrix, or a
matrix and all its eigenvalues (singular values) in closed form, or of a pencil matrix, mass and eigenvalues or None.
A text is a kind of `tsdata gen`, whose {} is the size, and "file" a file that ships with the project. Of sizes with
"ends" in the third place the inside of the spectrum is left out, since factors are as good as dense.
"""
import numpy as np
import scipy.sparse as sp

from campaign_matrices import (cube_of, laplacian, path, permutation, sparse_symmetric, star, stiffness_and_mass,
                               symmetric, with_values)
from eigen_bench import cube_of_corners, cube_values, cube, diagonal, hermitian, line_values, ring


def plane(a, b):
    return sp.csr_matrix(sp.kron(a, sp.identity(b.shape[0])) + sp.kron(sp.identity(a.shape[0]), b))


def graph(n, rows, cols, weights=None):
    """An adjacency matrix without loops; weights of equal edges add up."""
    a = sp.coo_matrix((np.ones(len(rows)) if weights is None else weights, (rows, cols)), (n, n)).tocsr()
    a.setdiag(0)
    a.eliminate_zeros()
    return a.maximum(a.T)


def grid_edges(m):
    number = np.arange(m * m).reshape(m, m)
    return (np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()]),
            np.concatenate([number[:, 1:].ravel(), number[1:].ravel()]))


def tree(n, rng):
    return laplacian(graph(n, np.arange(1, n), (rng.random(n - 1) * np.arange(1, n)).astype(int)))


def roads(m, rng):
    """A grid of which a fifth of the edges are gone, with lengths over two decades."""
    rows, cols = grid_edges(m)
    kept = rng.random(len(rows)) < 0.8
    return laplacian(graph(m * m, rows[kept], cols[kept], 10 ** rng.uniform(-1, 1, kept.sum())))


def power_law(n, rng):
    weight = np.arange(1, n + 1) ** -0.6
    ends = rng.choice(n, (2, 4 * n), p=weight / weight.sum())
    return graph(n, *ends)


def small_world(n, rng):
    rows = np.tile(np.arange(n), 3)
    cols = (rows + np.repeat([1, 2, 3], n)) % n
    moved = rng.random(3 * n) < 0.02
    cols[moved] = rng.integers(0, n, moved.sum())
    return laplacian(graph(n, rows, cols))


def blocks(parts, rng):
    """Symmetric blocks in a row, their rows mixed, and the values of all."""
    values = np.concatenate([np.linalg.eigvalsh(part) for part in parts])
    a, order = sp.csr_matrix(sp.block_diag(parts)), rng.permutation(len(values))
    return a[order][:, order], values


def of_components(n, rng):
    return blocks([laplacian(graph(20, *rng.integers(0, 20, (2, 60)))).toarray() for _ in range(n // 20)], rng)


def repeated_paths(n, rng):
    copies = n // 28
    lone = rng.uniform(1, 2, n - 22 * copies)
    a = sp.block_diag([sp.kron(sp.identity(copies), path(22)), sp.diags(lone)]).tocsr()
    return a, np.concatenate([np.tile(line_values(22), copies), lone])


def band(n, rng, width=8):
    parts = [rng.standard_normal(n - j) for j in range(width + 1)]
    return sp.diags(parts + parts[1:], [*range(width + 1), *range(-1, -width - 1, -1)], format="csr")


def arrow(n, rng):
    a = sp.diags(np.sort(rng.uniform(0, 1, n))).tolil()
    a[0, 1:] = rng.standard_normal(n - 1) / np.sqrt(n)
    return sp.csr_matrix(sp.triu(a) + sp.triu(a, 1).T)


def saddle(m, rng):
    """[[A, B], [B^T, 0]] of a diffusion and one constraint for four unknowns."""
    a = plane(path(m), path(m)) + sp.diags(rng.uniform(0, 0.1, m * m))
    b = sp.random(m * m, m * m // 4, 3 / (m * m // 4), random_state=rng) + sp.eye(m * m, m * m // 4)
    return sp.bmat([[a, b], [b.T, None]], format="csr")


def diffusion(m, rng):
    """Coefficients that jump over six decades."""
    rows, cols = grid_edges(m)
    where = 10.0 ** rng.integers(-3, 4, m * m)
    weights = 2 / (1 / where[rows] + 1 / where[cols])
    return sp.csr_matrix(laplacian(graph(m * m, rows, cols, weights)) + sp.diags(where) * 1e-3)


def plate(m, _):
    a = plane(path(m), path(m))
    return sp.csr_matrix(a @ a), np.add.outer(line_values(m), line_values(m)).ravel() ** 2


def square_grid(m, scale=1.0, minus=0.0):
    a, v = path(m), line_values(m)
    return plane(a, scale * a) - minus * sp.identity(m * m, format="csr"), np.add.outer(v, scale * v).ravel() - minus


def graded_of(n, _):
    d = 10.0 ** np.linspace(-3, 3, n)
    return sp.diags([-d[:-1] * d[1:], 2.3 * d * d, -d[:-1] * d[1:]], [-1, 0, 1], format="csr")


def covariance(n, rng):
    x = rng.standard_normal((2 * n, n)) * np.arange(1, n + 1) ** -0.5
    return x.T @ x / (2 * n)


def flow(m, _):
    """Convection and diffusion in a square, Peclet numbers of cells of 1/m: values are real, in closed form."""
    c = 1 / m
    a = sp.diags([-(1 + c) * np.ones(m - 1), 2 * np.ones(m), -(1 - c) * np.ones(m - 1)], [-1, 0, 1])
    v = 2 - 2 * np.sqrt(1 - c * c) * np.cos(np.arange(1, m + 1) * np.pi / (m + 1))
    return plane(a, a), np.add.outer(v, v).ravel().astype(complex)


def chain(n, rng, links=6):
    a = sp.coo_matrix((rng.random(links * n), (np.repeat(np.arange(n), links), rng.integers(0, n, links * n))), (n, n))
    a = sp.csr_matrix(a + 0.1 * sp.identity(n))
    return sp.csr_matrix(sp.diags(1 / np.asarray(a.sum(1)).ravel()) @ a)


def page_rank(n, rng):
    a = power_law(n, rng) + sp.identity(n)
    return sp.csr_matrix(0.85 * a @ sp.diags(1 / np.asarray(a.sum(0)).ravel()))


def damped(n, _):
    """[[0, I], [-K, -D]]: x'' + x' / 10 + K x = 0."""
    half = n // 2
    i, roots = sp.identity(half), np.sqrt((0.0025 - line_values(half)).astype(complex))
    return sp.bmat([[None, i], [-path(half), -0.1 * i]], format="csr"), np.concatenate([roots, -roots]) - 0.05


def companion(n, rng):
    return sp.csr_matrix(sp.diags([np.ones(n - 1)], [-1]) - sp.coo_matrix(
        (rng.standard_normal(n), (np.zeros(n, int), np.arange(n))), (n, n)))


def rotations(n, rng):
    size, angle = rng.uniform(0.5, 1, n // 2), rng.uniform(0, np.pi, n // 2)
    a = sp.block_diag([r * np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for r, t in zip(size, angle)])
    order, values = rng.permutation(2 * (n // 2)), size * np.exp(1j * angle)
    return sp.csr_matrix(a)[order][:, order], np.concatenate([values, values.conj()])


def triangular(n, rng):
    return np.diag(np.linspace(-1, 1, n)) + np.triu(rng.standard_normal((n, n)), 1) / n


def permuted(n, rng):
    a, left, values = permutation(rng, n), np.ones(n, bool), []
    while left.any():
        i, length = int(np.argmax(left)), 0
        while left[i]:
            left[i], i, length = False, int(a.indices[i]), length + 1
        values.append(np.exp(2j * np.pi * np.arange(length) / length))
    return a, np.concatenate(values)


def terms(n, rng):
    """Documents and words, whose frequencies are as 1 / rank."""
    words = max(n // 5, 50)
    p = 1 / np.arange(1, words + 1)
    a = sp.coo_matrix((np.ones(30 * n), (np.repeat(np.arange(n), 30), rng.choice(words, 30 * n, p=p / p.sum()))),
                      (n, words)).tocsr()
    return a.log1p()


def incidence(m, _):
    rows, cols = grid_edges(m)
    number, ones = np.arange(len(rows)), np.ones(len(rows))
    v = 2 - 2 * np.cos(np.arange(m) * np.pi / m)
    a = sp.coo_matrix((np.append(ones, -ones), (np.append(number, number), np.append(rows, cols))))
    return a.tocsr(), np.sqrt(np.add.outer(v, v).ravel())


def bidiagonal(n, _):
    return sp.diags([np.ones(n), -np.ones(n)], [0, -1], (n + 1, n), format="csr"), np.sqrt(line_values(n))


def line_pencil(n):
    a, mass, v = path(n) * (n + 1), sp.diags([1, 4, 1], [-1, 0, 1], shape=(n, n)) / (6 * (n + 1)), line_values(n)
    return a, sp.csr_matrix(mass), v * 6 * (n + 1) ** 2 / (6 - v)


def elements(n, _, sides=3):
    """Vibrations by bilinear or trilinear elements, 9 or 27 entries a row."""
    a, mass, v = line_pencil(n)
    if sides == 2:
        return sp.csr_matrix(sp.kron(a, mass) + sp.kron(mass, a)), sp.csr_matrix(sp.kron(mass, mass)), np.add.outer(
            v, v).ravel()
    return cube_of(a, mass), sp.csr_matrix(sp.kron(sp.kron(mass, mass), mass)), cube_values(v)


def lumped(n, rng, decades=0.5):
    return path(n), sp.diags(10 ** rng.uniform(-decades, decades, n), format="csr"), None


def massless(n, rng):
    a, mass = stiffness_and_mass(rng, np.ones(n))
    return a, sp.diags(mass, format="csr"), None


def dense_pencil(n, rng):
    return symmetric(rng, n), covariance(n, rng) + 0.01 * np.identity(n), None


# Name: kind, note, function, sizes; "ends" after a size: the inside is left out.
FAMILIES = {
    "path": ("hermitian", "gaps at both ends are 1/n^2 of the norm", lambda n, _: (path(n), line_values(n)),
             100, 50000),
    "ring": ("hermitian", "the same, values in pairs", lambda n, _: ring(n), 1000, 20000),
    "square": ("hermitian", "pairs; factors are cheap", lambda m, _: square_grid(m), 30, 200),
    "long cells": ("hermitian", "a grid with 1 : 1000 in its two directions", lambda m, _: square_grid(m, 1e-3),
                   40, 150),
    "cube": ("hermitian", "values three- and sixfold; factors fill", lambda m, _: cube(m), 12, 24),
    "tree": ("hermitian", "many values of leaves are equal", tree, 1000, 100000),
    "roads": ("hermitian", "planar, several components, lengths over two decades", roads, 30, 150),
    "power law": ("hermitian", "a Laplacian with hubs: rows of thousands", lambda n, r: laplacian(power_law(n, r)),
                  1500, (20000, "ends")),
    "power-law adjacency": ("hermitian", "hubs, ends of both signs", power_law, 1500, (20000, "ends")),
    "small world": ("hermitian", "few long links make factors fill", small_world, 1000, (5000, "ends")),
    "star": ("hermitian", "1 is (n - 2)-fold, one full row", lambda n, _: (
        star(n), np.concatenate([[0], np.ones(n - 2), [n]])), 500, 50000),
    "components": ("hermitian", "0 as often as there are components", of_components, 1200, 20000),
    "repeated paths": ("hermitian", "the lowest value has n / 28 copies", repeated_paths, 1334, 10000),
    "clustered": ("hermitian", "dense, clusters of 1e-9", lambda n, r: with_values(r, np.sort(np.repeat(
        r.standard_normal(n // 30), 30)) + 1e-9 * r.standard_normal(n // 30 * 30)), 390, 1200),
    "band": ("hermitian", "17 random diagonals", band, 1000, 20000),
    "arrow": ("hermitian", "one full row and column", arrow, 500, 2400),
    "sparse random": ("hermitian", "no structure: factors are dense", lambda n, r: sparse_symmetric(r, n),
                      1000, (10000, "ends")),
    "covariance": ("hermitian", "dense, a decaying spectrum", covariance, 300, 1500),
    "Toeplitz": ("hermitian", "dense, 0.9^|i - j|", lambda n, _: 0.9 ** abs(
        np.subtract.outer(np.arange(n), np.arange(n))), 400, 1500),
    "dense random": ("hermitian", "dense, no decay", lambda n, r: symmetric(r, n), 300, 1200),
    "hypercube": ("hermitian", "multiplicities are binomials", lambda d, _: cube_of_corners(d), 9, (15, "ends")),
    "complex random": ("hermitian", "dense, complex", lambda n, r: hermitian(r, n, 1j), 200, 1000),
    "saddle": ("hermitian", "indefinite, a zero block", saddle, 25, 80),
    "jumps": ("hermitian", "definite, six decades of coefficients", diffusion, 30, 120),
    "plate": ("hermitian", "a square of a Laplacian: condition n^2", plate, 25, 120),
    "Helmholtz": ("hermitian", "indefinite: zero is inside", lambda m, _: square_grid(m, minus=1.0), 30, 150),
    "graded": ("hermitian", "twelve decades of values", graded_of, 400, 10000),
    "1..n": ("hermitian", "diagonal, evenly apart", lambda n, _: diagonal(np.arange(1.0, n + 1)), 500, 300000),
    "low rank": ("hermitian", "dense, zero is (n - 5)-fold", lambda n, r: (lambda g: g @ g.T)(
        r.standard_normal((n, 5))), 200, 1200),
    "Neumann square": ("hermitian", "semidefinite, pairs", "lap2d --n {}x{} --boundary neumann", 30, 150),
    "flux ring": ("hermitian", "complex, pairs split by a flux", "fluxring --n {}", 500, 10000),
    "Hofstadter": ("hermitian", "complex, clusters", "hofstadter --n {}", 20, 60),
    "graphene": ("hermitian", "indefinite, six- and more-fold", "graphene --n {}", 16, 70),
    "Anderson": ("hermitian", "localised: values of the inside are dense", "anderson --n {}x{}x{}", 10,
                 (20, "ends")),
    "spin chain": ("hermitian", "indefinite, large multiplicities", "xxchain --n {}", 10, (14, "ends")),
    "Clement": ("hermitian", "integers of both signs", "clement --n {}", 500, 20000),
    "Wilkinson": ("hermitian", "pairs equal to the last digit", "wilkinson --n {}", 100, 2500),
    "Sakurai": ("hermitian", "condition n^4", "sakurai --n {}", 300, 5000),
    "minij": ("hermitian", "dense, values over n^2", "minij --n {}", 400, 1500),
    "complete": ("hermitian", "0 and an (n - 1)-fold value", "complete --n {}", 200, 1200),
    "tight clusters": ("hermitian", "ten clusters of 1e-6", "clusters --n {}", 1000, 20000),
    "membrane.h5": ("hermitian", "ships with the project", "file membrane.h5", 1200),
    "graphene.h5": ("hermitian", "ships with the project, up to 69-fold", "file graphene.h5", 1152),
    "flow": ("general", "convection and diffusion in a square", flow, 30, 100),
    "chain": ("general", "Markov: one value of 1, a disc of others", chain, 500, (5000, "ends")),
    "page rank": ("general", "power-law links", page_rank, 800, (20000, "ends")),
    "damped": ("general", "oscillators: pairs on a line", damped, 400, 10000),
    "companion": ("general", "values near the unit circle, ill-conditioned", companion, 100, 300),
    "triangular": ("general", "dense, not normal", triangular, 100, 600),
    "rotations": ("general", "normal, pairs", rotations, 500, 20000),
    "permutation": ("general", "normal, all of magnitude 1", permuted, 300, (2000, "ends")),
    "general random": ("general", "dense, a disc", lambda n, r: r.standard_normal((n, n)), 200, 800),
    "general sparse": ("general", "a disc", lambda n, r: sp.random(
        n, n, 5 / n, random_state=r, data_rvs=r.standard_normal, format="csr"), 600, (5000, "ends")),
    "circulant": ("general", "normal", "circulant --n {}", 400, (3000, "ends")),
    "lines": ("general", "not normal, condition (10/9)^(n/2)", "toeplitz --n {} --below 1.8 --above 2", 60, 150),
    "tall": ("svd", "dense, no decay", lambda n, r: r.standard_normal((n, 40)), 5000, 100000),
    "noise": ("svd", "dense, rank 10 and noise", lambda n, r: r.standard_normal((n, 10)) @ r.standard_normal(
        (10, 200)) + 0.1 * r.standard_normal((n, 200)), 1000, 10000),
    "terms": ("svd", "documents and words, a power law", terms, 2000, (50000, "ends")),
    "incidence": ("svd", "of a grid: pairs, rank n - 1", incidence, 25, (100, "ends")),
    "square random": ("svd", "dense, the least value is 1/n", lambda n, r: r.standard_normal((n, n)), 300, 1000),
    "graded columns": ("svd", "dense, ten decades", lambda n, r: r.standard_normal((n, 60)) * 10.0 ** -np.linspace(
        0, 10, 60), 1000, 20000),
    "wide": ("svd", "sparse, random", lambda n, r: sp.random(n, 10 * n, 0.005, random_state=r, format="csr"),
             300, (3000, "ends")),
    "differences": ("svd", "gaps of 1/n", bidiagonal, 500, (20000, "ends")),
    "Lauchli": ("svd", "all but one are 1e-7", "lauchli --n {}", 100, (1500, "ends")),
    "line elements": ("pencil", "consistent mass", lambda n, _: line_pencil(n), 500, 20000),
    "square elements": ("pencil", "consistent mass, pairs", lambda n, r: elements(n, r, 2), 25, 100),
    "cube elements": ("pencil", "consistent mass, threefold", elements, 9, 18),
    "lumped": ("pencil", "diagonal mass", lumped, 800, 10000),
    "graded masses": ("pencil", "diagonal mass, six decades", lambda n, r: lumped(n, r, 3), 600, 10000),
    "massless": ("pencil", "semidefinite mass", massless, 700, 10000),
    "dense pencil": ("pencil", "dense, random", dense_pencil, 200, 800),
    "Mikota": ("pencil", "squares of integers", "mikota --n {}", 200, 3000),
}
