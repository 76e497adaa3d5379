// Matrices that separate Gram-Schmidt variants, with the losses of orthogonality that these are known to
// have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::generators {

/// n x p of independent standard normals (real and imaginary parts), from (seed, row, column) alone.
template <class T>
[[nodiscard]] Matrix<T> random_block(index_t n, index_t p, std::uint64_t seed);
/// n x p with orthonormal columns, n >= p.
template <class T>
[[nodiscard]] Matrix<T> orthonormal_block(index_t n, index_t p, std::uint64_t seed);
/// U diag(10^from .. 10^to) W^H with random orthonormal U (n x p) and W (p x p): condition 10^|to - from|.
template <class T>
[[nodiscard]] Matrix<T> graded_block(index_t n, index_t p, double from, double to, std::uint64_t seed);

struct HardMatrix {
  std::string name;
  double condition;  ///< 0: it has no full rank
  Matrix<double> x;
};

/// Twelve matrices of 1000 x 100 for blocks of 5: "default" (graded singular values), "glued" and "piled"
/// (columns of ten that are nearly dependent on their neighbours), Laeuchli's [1; mu I], and monomial bases
/// of Krylov spaces. Source of the families: Carson, Lund, Rozloznik, Thomas 2022.
[[nodiscard]] std::vector<HardMatrix> gram_schmidt_matrices();
/// Four that lose rank: duplicate and zero columns (rank 88), every other column zero (50), rank 7, Hilbert.
[[nodiscard]] std::vector<HardMatrix> rank_deficient_matrices();

/// The largest loss of orthogonality ||I - Q^H Q|| that is accepted of `method` (a name of ortho::NamedMethod) on
/// the matrix number `matrix` of gram_schmidt_matrices(), in float64: ten times what straightforward programs
/// of the published algorithms lose, or what theory allows; infinity where they break down or keep no
/// orthogonality, and where a breakdown is an accepted outcome, too.
[[nodiscard]] double accepted_loss(std::string_view method, std::size_t matrix);

}  // namespace ts::generators
