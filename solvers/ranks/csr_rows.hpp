// A sparse matrix whose rows are distributed over ranks, as an operator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/ranks/device_csr_rows.hpp"
#include "tallskinny/solvers/ranks/row_shares.hpp"
#include "tallskinny/solvers/ranks/steps_ahead.hpp"

namespace ts::inline v0::solvers {

/// A square sparse matrix of which each rank has the rows that ctx.slabs gives it, and blocks by the same rows.
///
/// Which elements of X rows need from other ranks (the halo) is found once, and sent to their owners. A product sends
/// and receives them; rows that need none are computed meanwhile, the others afterwards. The entries of a row are added
/// in their order, in one go: the bits are those of CsrOperator with the whole matrix, at any level of determinism.
/// Several steps of a recurrence pass the cache together where the rows are far enough from other ranks' (steps_ahead).
/// Memory beside the matrix: while a product runs, its halo, and the rows of X and Y that meet it. Where ctx has a
/// device, a copy is there (DeviceCsrRows), and blocks are best there.
template <class T>
class CsrRows {
 public:
  /// All ranks make it together. @param own this rank's rows, their column numbers those of the whole matrix.
  /// @throws Error(invalid_argument) unless ctx.slabs has as many rows as there are columns, and for this rank those of
  /// `own`; also where rows and halo of a rank are more than 2^31 - 1.
  template <class I>
  CsrRows(const Context& ctx, CsrMatrix<T, I> own);

  [[nodiscard]] index_t rows() const noexcept { return inner_.rows; }
  [[nodiscard]] Space space() const noexcept { return there_ == nullptr ? Space::host : Space::device; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;
  void apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) const;
  bool update(const Context& ctx, T alpha, double shift, DeviceView<const T> x, T beta, DeviceView<T> y) const;
  bool recurrence(const Context& ctx, index_t count, double alpha, double shift, HostView<T> x, double beta,
                  HostView<T> y) const;
  bool recurrence(const Context& ctx, index_t count, double alpha, double shift, DeviceView<T> x, double beta,
                  DeviceView<T> y) const;
  void residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta, PlacedView<T> r) const;
  /// Facts of the whole matrix, over all ranks.
  [[nodiscard]] OperatorFacts facts() const noexcept { return facts_; }
  [[nodiscard]] const RowShares& shares() const noexcept { return shares_; }
  /// Steps of this rank; others may have more or fewer.
  [[nodiscard]] const StepsAhead& ahead() const noexcept { return ahead_; }

 private:
  void meet(const Context& ctx, const std::vector<index_t>& halo);
  template <class X, class Inner, class Outer>
  void in_two_parts(const Context& ctx, X x, HostView<T> y, bool adds, const Inner& inner, const Outer& outer) const;

  CsrMatrix<T> inner_;                    ///< all rows here; those of `outer_` are empty in it
  CsrMatrix<T> outer_;                    ///< columns: outer_rows_, others_, halo
  std::vector<std::int32_t> outer_rows_;  ///< of each row of outer_, its number here
  std::vector<std::int32_t> others_;      ///< further rows of X here that outer_ has columns of
  std::vector<std::int32_t> sent_;        ///< rows of X that other ranks ask for
  std::vector<HaloMessage> to_, from_;
  index_t reach_ = -1;  ///< of inner_
  StepsAhead ahead_;
  std::shared_ptr<DeviceCsrRows<T>> there_;  ///< null: there is no device
  OperatorFacts facts_;
  RowShares shares_;
};

}  // namespace ts::inline v0::solvers
