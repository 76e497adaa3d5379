// Model Hamiltonians of physics on lattices and chains.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "tallskinny/app/generators/spectrum.hpp"
#include "tallskinny/gemm/core/csr.hpp"

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

}  // namespace ts::generators
