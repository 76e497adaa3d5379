// Skeletons: orthonormalise block after block, X = Q R. The default is that of ../extension.hpp; the others are here to
// be compared with it.
#pragma once

#include <variant>

#include "tallskinny/solvers/ortho/compared/muscles.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"

namespace ts::inline v0::ortho {

// u is the unit roundoff, kappa the condition number of the whole X. Losses are bounds from the sources;
// where one holds only under a condition on kappa, a Cholesky that breaks down beyond it ends the
// factorisation.

/// Block classical Gram-Schmidt: one projection. No useful bound of the loss. Source: Carson, Lund,
/// Rozloznik, Thomas 2022, "Block Gram-Schmidt algorithms and their stability properties".
struct Bcgs {
  Muscle muscle = Tsqr{};
};
/// Projection and `muscle`, twice. With `first` = `muscle` this is BCGSI+ (loss O(u) while u kappa < 1 for a
/// muscle that is stable by itself); with a strong `first` and Cholesky QR behind it BCGSI+A, loss O(u).
/// Sources: Barlow and Smoktunowicz 2013; Carson, Lund, Ma, Oktay 2026.
struct BcgsiPlus {
  Muscle first = Tsqr{}, muscle = CholQr{};
};
/// One reduction [V X]^H X for a projection and its normalisation by chol(X^H X - S^H S) (Pythagoras): loss
/// O(u) kappa^2. Source: Carson, Lund, Rozloznik, Thomas 2021, "The stability of block variants of classical
/// Gram-Schmidt".
struct BcgsPip {
  Muscle first = Tsqr{};
};
/// BCGS-PIP twice: loss O(u) while u kappa^2 <= 1/2. Source: Carson, Lund, Ma, Oktay 2025,
/// "Reorthogonalized Pythagorean variants of block classical Gram-Schmidt".
struct BcgsPipiPlus {
  Muscle first = Tsqr{};
};
/// One reduction per block for both projections, the second delayed into the next block's first, with
/// no normalisation between them: loses orthogonality where kappa of a block is large.
/// Source: Carson, Lund, Ma, Oktay 2026.
struct BcgsiPlusA1s {
  Muscle first = Tsqr{};
};
/// The same with a Pythagorean normalisation between the projections: loss O(u) while u kappa^2 <= 1/2.
/// Source: Carson and Ma 2024, "Stable one-synchronization variants of reorthogonalized block classical
/// Gram-Schmidt", algorithm 2.
struct BcgsiPlusP1s {
  Muscle first = Tsqr{};
};
/// The same with a normalisation by `muscle`: loss O(u) while u kappa <= 1/2, for a stable muscle.
/// Source: Carson and Ma 2024, algorithm 3.
struct BcgsiPlusP2s {
  Muscle first = Tsqr{}, muscle = Tsqr{};
};
/// BcgsiPlusP1s until a Cholesky breaks down or the normalised block is seen to be ill-conditioned, then
/// BcgsiPlusP2s: loss O(u) while u kappa <= 1/2. Source: Carson and Ma 2024, algorithm 4.
struct BcgsiPlusAdaptive {
  Muscle first = Tsqr{}, muscle = Tsqr{};
};
/// Block modified Gram-Schmidt: a projection for each earlier block. Loss O(u) kappa with a stable muscle.
/// Source: Jalby and Philippe 1991.
struct BlockMgs {
  Muscle muscle = Tsqr{};
};
/// Randomised block Gram-Schmidt: inner products of sketches alone. Q is well conditioned (about 3, with high
/// probability) while u kappa < 1, not orthonormal: what uses it must not assume that Q^H Q = I. Source:
/// Balabanov and Grigori 2021, "Randomized block Gram-Schmidt process for the solution of linear systems and
/// eigenvalue problems".
struct RandomisedBcgs {
  std::uint64_t seed = 0;
};

using Skeleton = std::variant<BcgsiPlusA, Bcgs, BcgsiPlus, BcgsPip, BcgsPipiPlus, BcgsiPlusA1s, BcgsiPlusP1s,
                              BcgsiPlusP2s, BcgsiPlusAdaptive, BlockMgs, RandomisedBcgs>;

/// What one block costs on top of `blocks` earlier ones of its width.
struct Counts {
  int reductions = 0;  ///< sums over all rows
  int passes = 0;      ///< times the basis is read
};
/// For a block on which the method succeeds at its first attempt (the default: on a well-conditioned one).
[[nodiscard]] Counts counts(const Skeleton&, int blocks);

struct Orthonormalised {
  index_t rank = 0;       ///< columns of Q
  index_t dead = 0;       ///< directions of X that are not there, dropped (by the default alone)
  bool complete = false;  ///< false: a breakdown in the block that begins at column `rank`
  Work work;
};

/// X = Q R in place, block after block of `width` columns (the last may be narrower), with X n x p and R p x
/// p: on return X(:, 0 .. rank-1) = Q and R(0 .. rank-1, :) is block upper triangular. After a breakdown
/// (which NaN in X leads to as well) Q R equals the first `rank` columns of X, the columns behind them are
/// unspecified and those of R zero. A basis never holds NaN. T: one of the four result types.
/// @throws Error(invalid_argument) for shapes that do not fit or a width below 1.
template <class T>
Orthonormalised orthonormalise(const Context&, const Skeleton&, HostView<T> x, HostView<T> r, index_t width);

}  // namespace ts::inline v0::ortho
