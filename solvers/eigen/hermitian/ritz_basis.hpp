// The basis of LOBPCG and block Davidson as a value that can be stepped: S = [X P W], A S, and Ritz pairs X.
#pragma once

#include <vector>

#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/work.hpp"

namespace ts::inline v0::solvers {

/// [L X P W] is an orthonormal basis at all times (block Gram-Schmidt drops directions that die): L is
/// locked, X are Ritz vectors, P is what the last step added to X, or all that a growing basis holds beside
/// it, W the preconditioned residuals of the step that is under way. All of it is where A is at home; what A and
/// the preconditioner are elsewhere costs copies (solvers/operator.hpp).
///
/// A GPU compiles a kernel for each width. So there W has a multiple of `unit_` columns, and operations take as many
/// zero columns after the basis as make theirs a multiple.
template <class T>
class RitzBasis {
 public:
  /// @param sign 1: X belongs to the lowest Ritz values, -1: to the highest.
  /// @param batch columns of W at most. @param limit of a growing basis; 0: [X P W] of LOBPCG.
  RitzBasis(const Context&, const EigenProblem<T>&, double sign, index_t batch, index_t limit);

  /// Compiles the kernels of steps with `width` columns in X together, where A is at home on a device.
  /// @param probe columns of X in the complement of what is locked
  void prepare(index_t width, index_t probe) const;
  /// X = an orthonormal basis of `block` in the complement of L, with its Ritz pairs.
  void start(PlacedView<const T> block);
  /// W = the preconditioned residuals of the `active` columns of X, and Rayleigh-Ritz on [X P W].
  /// False when nothing new could be appended.
  [[nodiscard]] bool expand(std::vector<index_t> active);
  /// Rayleigh-Ritz on the columns after the locked ones; `width` of the Ritz vectors are X.
  void project(index_t width);
  /// Drops everything beside X.
  void settle();

  /// After settle(): locks the first `count` columns of X and forgets the others, which are handed out.
  [[nodiscard]] PlacedMatrix<T> lock(index_t count);
  /// The columns that were locked last stand before X again, where its Ritz values do not count until project
  /// or keep.
  void unlock(index_t count);
  /// X is its first columns, which have these Ritz values and residuals.
  void keep(std::vector<double> values, std::vector<double> residuals);

  /// The first columns of X, after settle().
  [[nodiscard]] PlacedView<const T> leading(index_t count) { return s(0, count); }
  [[nodiscard]] index_t width() const noexcept { return x_; }
  [[nodiscard]] index_t locked() const noexcept { return l_; }
  /// Of X, from the wanted end inwards.
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }
  [[nodiscard]] const std::vector<double>& residuals() const noexcept { return residuals_; }
  [[nodiscard]] KrylovWork& work() noexcept { return work_; }

 private:
  [[nodiscard]] PlacedView<T> s(index_t first, index_t count) { return s_.view().cols(l_ + first, count); }
  [[nodiscard]] PlacedView<T> as(index_t first, index_t count) { return as_.view().cols(l_ + first, count); }
  [[nodiscard]] PlacedView<const T> x() { return c_.cols() > 0 ? current_.cview() : s(0, x_); }
  [[nodiscard]] PlacedView<const T> ax() { return c_.cols() > 0 ? image_.cview() : as(0, x_); }
  /// Steps of X with x columns, for a basis of up to `most` and W of up to `batch`, in memory of `columns`.
  void rehearse(const Context&, index_t columns, index_t x, index_t most, index_t batch) const;
  [[nodiscard]] index_t most_columns(index_t width) const noexcept;
  [[nodiscard]] index_t wide(index_t count) const noexcept { return (count + unit_ - 1) / unit_ * unit_; }
  /// [L X P], and zero columns.
  [[nodiscard]] PlacedView<const T> basis() { return s_.cview().cols(0, wide(l_ + x_ + p_)); }
  /// Memory for new columns of the basis: after it, or elsewhere where zero columns follow it.
  [[nodiscard]] PlacedView<T> fresh(index_t width);
  /// The first `rank` of those columns follow the basis.
  void append(index_t rank);
  /// Writes the zero columns after the basis.
  void clear_tail();
  void apply_to(index_t first, index_t count);
  void reserve(index_t columns);
  [[nodiscard]] Matrix<T> beside(const Matrix<T>& c) const;
  void compress(const Matrix<T>& c, Matrix<T> beside);
  [[nodiscard]] PlacedMatrix<T> placed(index_t columns) {
    return {ctx_, problem_.a.space(), problem_.a.rows(), columns};
  }
  void residuals_of(const std::vector<index_t>& which, PlacedView<T> r);

  Context ctx_;
  const EigenProblem<T>& problem_;
  index_t n_;  ///< rows of all ranks
  double sign_;
  index_t unit_, batch_, limit_;
  PlacedMatrix<T> s_, as_;  ///< [L X P W] and its image
  PlacedMatrix<T> fresh_, zeros_;
  /// Where the basis has grown since X was made its first columns: X = S C, and A X.
  Matrix<T> c_;
  PlacedMatrix<T> current_, image_;
  index_t l_ = 0, x_ = 0, p_ = 0;  ///< columns of L, X and P
  std::vector<double> values_, residuals_;
  KrylovWork work_;
};

}  // namespace ts::inline v0::solvers
