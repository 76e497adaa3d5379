// Laplacians of grids and graphs: the spectra that catch a solver which misses copies of an eigenvalue.
#pragma once

#include <vector>

#include "tallskinny/app/generators/spectrum.hpp"
#include "tallskinny/gemm/core/csr.hpp"

namespace ts::generators {

/// How a line of points ends: fixed to zero, free (the path graph), or closed to a ring.
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

}  // namespace ts::generators
