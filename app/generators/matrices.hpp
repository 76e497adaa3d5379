// All generated matrices: Laplacians of grids and graphs, whose spectra catch a solver that misses copies of an
// eigenvalue; model Hamiltonians of physics on lattices and chains; test matrices of the literature, sparse and dense.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "tallskinny/app/generators/spectrum.hpp"
#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::generators {

/// Graphene: a periodic honeycomb of lx x ly cells with two atoms each, hopping -1.
/// Eigenvalues: +-|1 + e^(i k1) + e^(i k2)|, k1 = 2 pi x / lx, k2 = 2 pi y / ly. Four are zero when 3 divides
/// both lx and ly.
CsrMatrix<double> graphene(index_t lx, index_t ly);
Spectrum graphene_spectrum(index_t lx, index_t ly);

/// Complex Hermitian: a ring of n sites with hopping -1 through which a magnetic flux phi passes.
/// Eigenvalues: -2 cos((2 pi j - phi) / n), j = 0..n-1; pairs that phi splits.
CsrMatrix<std::complex<double>> flux_ring(index_t n, double phi);
Spectrum flux_ring_spectrum(index_t n, double phi);

/// The spin-1/2 XX chain with open ends: sum over neighbours of S+ S- + S- S+, 2^length states.
/// Eigenvalues: all sums of a subset of 2 cos(k pi / (length + 1)), k = 1..length.
CsrMatrix<double> xx_chain(int length);
Spectrum xx_chain_spectrum(int length);

/// Anderson's model of disorder: hopping -1 on a periodic grid, and on the diagonal random numbers uniform in
/// [-disorder / 2, disorder / 2), a pure function of (seed, row). No closed form.
CsrMatrix<double> anderson(const std::vector<index_t>& sizes, double disorder, std::uint64_t seed);

/// Complex Hermitian: Hofstadter's electron on an lx x ly torus in a magnetic field of numerator / lx flux
/// quanta per cell (Landau gauge, hopping -1). No closed form; trace 0, and trace of the square 4 lx ly for
/// lx, ly > 2.
CsrMatrix<std::complex<double>> hofstadter(index_t lx, index_t ly, index_t numerator);

/// Ends of a line of points: fixed to zero, free (the path graph), or closed to a ring.
enum class Boundary { dirichlet, neumann, ring };

/// The Laplacian of a grid with sizes[0] x sizes[1] x ... points (the last index runs fastest) and unit
/// spacing: the Kronecker sum of tridiag(-1, 2, -1) with the ends that `boundary` says.
/// Eigenvalues: sums of one of each direction's, which are, for j = 1..n,
/// 2 - 2 cos(j pi / (n + 1)), 2 - 2 cos((j - 1) pi / n) or 2 - 2 cos(2 pi (j - 1) / n).
CsrMatrix<double> laplacian(const std::vector<index_t>& sizes, Boundary boundary = Boundary::dirichlet);
Spectrum laplacian_spectrum(const std::vector<index_t>& sizes, Boundary boundary = Boundary::dirichlet);

/// I_p (x) laplacian({n}): every eigenvalue of the line p times.
CsrMatrix<double> laplacian_copies(index_t p, index_t n, Boundary boundary = Boundary::dirichlet);
Spectrum laplacian_copies_spectrum(index_t p, index_t n, Boundary boundary = Boundary::dirichlet);

/// The Laplacian of the hypercube graph with 2^d corners. Eigenvalues: 2 k, binomial(d, k) times, k = 0..d.
CsrMatrix<double> hypercube(int d);
Spectrum hypercube_spectrum(int d);

/// The Laplacian of the complete graph. Eigenvalues: 0 once, n (n - 1) times.
CsrMatrix<double> complete_graph(index_t n);
Spectrum complete_graph_spectrum(index_t n);

CsrMatrix<double> identity(index_t n);
Spectrum identity_spectrum(index_t n);

/// A diagonal matrix whose n eigenvalues lie in clusters around 1, 2, .. clusters, each spread evenly over
/// [-spread / 2, spread / 2]; row i belongs to cluster i mod clusters.
CsrMatrix<double> diagonal_clusters(index_t n, index_t clusters, double spread);
Spectrum diagonal_clusters_spectrum(index_t n, index_t clusters, double spread);

/// The symmetric Clement (Kac) matrix: sqrt(i (n - i)) beside a zero diagonal.
/// Eigenvalues: -(n - 1), -(n - 3), .., n - 1.
CsrMatrix<double> clement(index_t n);
Spectrum clement_spectrum(index_t n);

/// The square of the one-dimensional Dirichlet Laplacian, pentadiagonal (1, -4, 6, -4, 1) with 5 in the
/// corners. Eigenvalues: 16 sin^4(j pi / (2 (n + 1))); the condition number grows as n^4.
CsrMatrix<double> sakurai(index_t n);
Spectrum sakurai_spectrum(index_t n);

/// Dense: a_ij = min(i, j). Eigenvalues: 1 / (4 sin^2((2 j - 1) pi / (4 n + 2))).
Matrix<double> minij(index_t n);
Spectrum minij_spectrum(index_t n);

/// Mikota's vibration chain, the pencil K x = lambda M x: K tridiagonal, M = diag(1 / i).
/// Eigenvalues: j^2, j = 1..n.
struct Pencil {
  CsrMatrix<double> stiffness, mass;
};
Pencil mikota(index_t n);
Spectrum mikota_spectrum(index_t n);

/// Not symmetric: tridiagonal with `below`, `diagonal` and `above` constant.
/// Eigenvalues: diagonal + 2 sqrt(below above) cos(j pi / (n + 1)), ascending by j; complex when the product
/// is negative.
CsrMatrix<double> toeplitz(index_t n, double below, double diagonal, double above);
std::vector<std::complex<double>> toeplitz_spectrum(index_t n, double below, double diagonal, double above);

/// Not symmetric: a_ij = c_((i - j) mod n) with the first min(n, size) coefficients given, the others zero.
/// Eigenvalues: the discrete Fourier transform of c, sum_j c_j e^(-2 pi i j k / n), k = 0..n-1.
CsrMatrix<double> circulant(index_t n, const std::vector<double>& coefficients);
std::vector<std::complex<double>> circulant_spectrum(index_t n, const std::vector<double>& coefficients);
/// `count` standard normals as coefficients, a pure function of the seed.
std::vector<double> random_coefficients(index_t count, std::uint64_t seed);

/// Rectangular, (n + 1) x n: a row of ones above mu I. Singular values: sqrt(n + mu^2) once, mu (n - 1)
/// times.
CsrMatrix<double> lauchli(index_t n, double mu);
Spectrum lauchli_singular_values(index_t n, double mu);

/// Wilkinson's W+ of order 2 m + 1: |i - m| on the diagonal, ones beside it. Its largest eigenvalues come in
/// pairs that agree to many digits (for m = 10 the top pair is 10.746194182903 with a gap of 7e-14). No
/// closed form.
CsrMatrix<double> wilkinson(index_t m);

/// Not symmetric, dense, upper Hessenberg: a_ij = n - max(i, j) for j >= i - 1, counted from 0. Eigenvalues
/// are positive and come in reciprocal pairs; the small ones are very ill-conditioned. No closed form.
Matrix<double> frank(index_t n);

}  // namespace ts::generators
