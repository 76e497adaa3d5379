// The end of every method: true residuals, orthogonality, order, multiplicities.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::inline v0::solvers {

/// Orthonormalises X, solves the projected problem of A on it, and fills values, vectors, residual norms
/// (computed from A), error bounds, multiplicities, converged_pairs, converged_count, converged,
/// orthogonality_loss, and next_value with its gap.
/// @param x n x k, independent columns that span the wanted invariant subspace.
template <class T>
void finish(const Context&, const EigenProblem<T>&, const EigenOptions&, const Acceptance&, PlacedMatrix<T> x,
            double next_value, EigenResult<T>& result);

/// Starts what finish() starts for `count` pairs of a sparse matrix, for a Context that rehearses.
template <class T>
void rehearse_finish(const Context&, const CsrView<T, Space::device>& a, index_t count);

/// As finish(), for orthonormal X whose columns are the eigenvectors of result.values in the order of what was asked,
/// as a dense solver gives them: without the projected problem, residuals from plain products, and for the loss of
/// orthogonality an upper bound. For many columns, of which finish() would take longer than the dense solver.
template <class T>
void finish_pairs(const Context&, const EigenProblem<T>&, const EigenOptions&, const Acceptance&, Matrix<T> x,
                  double next_value, EigenResult<T>& result);

/// Positions of the values in the order of what was asked.
[[nodiscard]] std::vector<index_t> order_of(const std::vector<double>& values, Which which,
                                            std::optional<double> target);

/// Sizes of the groups of values that agree to within what their residuals r allow: r^2 / gap, for the gap to
/// the nearest value farther away than r (Kato and Temple), or r itself where that is smaller.
[[nodiscard]] std::vector<index_t> multiplicities_of(const std::vector<double>& values,
                                                     const std::vector<double>& residuals, double norm);

/// EigenResult::cut_off, from values, multiplicities, residuals and the next value, for a matrix of n rows.
/// @param centre the set holds the values nearest to it, or the farthest from it; none: those of an end.
template <class T>
[[nodiscard]] index_t copies_cut_off(const EigenResult<T>& result, index_t n, std::optional<double> centre = {});

/// Before anything is computed. @throws Error(no_device) for Results::on_device where ctx has no stream.
inline void expects_place_of_results(const Context& ctx, const EigenOptions& options) {
  if (options.results == Results::on_device) (void)ctx.stream.device();
}

/// Moves the vectors of a result from the host to the device of ctx.stream.
template <class Result>
void leave_on_device(const Context& ctx, Result& result) {
  const index_t here = result.vectors.rows();
  result.device_vectors = PlacedMatrix(std::move(result.vectors)).to_device(ctx);
  result.vectors = decltype(result.vectors)(here, 0);
}

/// Drops all pairs but those of the given numbers, in that order; multiplicities stay.
template <class T>
void arrange_pairs(EigenResult<T>& result, const std::vector<index_t>& order);

/// Drops all pairs but those of the given numbers (rising); multiplicities are those among what is left.
template <class T>
void keep_pairs(EigenResult<T>& result, const std::vector<index_t>& kept);

/// Error bounds and vector_errors of a complete set: for a cluster of Ritz values with residuals R, ||R||^2 / gap,
/// where the gap is the distance to every other eigenvalue (Davis and Kahan 1970; Stewart and Sun 1990, V.3). Never
/// above the residual norm, never below `value_roundings`. Vectors: the residual of each over the same gap. Copies
/// are always of one cluster.
/// @param outside a lower bound of the distance from a value of the set to all eigenvalues that are not in
/// it.
template <class T>
void sharpen_error_bounds(EigenResult<T>& result, const std::function<double(double)>& outside);

}  // namespace ts::inline v0::solvers
