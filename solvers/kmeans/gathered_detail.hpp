// Some rows of a problem. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Some rows of a problem, copied to the host memory of all ranks in float64; sparse rows stay sparse.
class Gathered {
 public:
  /// `numbers` among all rows, in ascending order, with repetitions if any. One pass over all rows.
  Gathered(const KMeansProblem& problem, std::span<const index_t> numbers);
  [[nodiscard]] Rows rows() const { return sparse_ ? Rows(csr_.view()) : Rows(dense_.cview()); }
  /// Nothing where the problem has no weights.
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }

 private:
  void gather_entries(const KMeansProblem& problem);

  bool sparse_ = false;
  Matrix<double> dense_;
  CsrMatrix<double> csr_;
  std::vector<double> weights_;
};

/// Gathered rows as a problem of each rank alone, with the moments of all rows.
class GatheredProblem {
 public:
  GatheredProblem(const KMeansProblem& p, std::span<const index_t> numbers)
      : ctx_(alone(p.ctx)), gathered_(p, numbers), source_(gathered_.rows()), problem_{ctx_,     source_,
                                                                                       {},       gathered_.weights(),
                                                                                       p.k,      {},
                                                                                       p.moments} {
    problem_.wide_rows = p.wide_rows, problem_.wide_weights = p.wide_weights;
  }
  GatheredProblem(const GatheredProblem&) = delete;
  GatheredProblem& operator=(const GatheredProblem&) = delete;

  [[nodiscard]] const KMeansProblem& operator*() const noexcept { return problem_; }
  [[nodiscard]] const Rows& rows() const noexcept { return source_.view(); }
  [[nodiscard]] std::span<const double> weights() const noexcept { return gathered_.weights(); }

 private:
  Context ctx_;
  Gathered gathered_;
  RowsInMemory source_;
  KMeansProblem problem_;
};

/// `count` rows from their numbers in a list.
template <class T>
Rows rows_of(const Context& ctx, PerRow<const T> values, index_t count, index_t cols) {
  if (values.space == Space::host) return Rows(HostView<const T>(values.data, count, cols));
  return {ctx.stream, DeviceView<const T>::unchecked(values.data, count, cols, cols)};
}

/// Copies of some rows, in ascending order, in a type that holds all of their numbers.
class CopiedRows {
 public:
  /// Memory that can be reused.
  using Storage = std::pair<PerRowArray<float>, PerRowArray<double>>;

  CopiedRows(const KMeansProblem& p, std::span<const index_t> numbers, Storage storage = {})
      : values_(p.source.type() != DType::float64 && p.scale.empty()
                    ? Storage{p.rows_as<float>(numbers, std::move(storage.first)), PerRowArray<double>()}
                    : Storage{PerRowArray<float>(), p.rows_as<double>(numbers, std::move(storage.second))}),
        rows_(values_.first.view().empty()
                  ? rows_of<double>(p.ctx, std::as_const(values_.second).view(), std::ssize(numbers), p.cols())
                  : rows_of<float>(p.ctx, std::as_const(values_.first).view(), std::ssize(numbers), p.cols())) {}
  CopiedRows(const CopiedRows&) = delete;
  CopiedRows& operator=(const CopiedRows&) = delete;

  [[nodiscard]] const RowsInMemory& rows() const noexcept { return rows_; }
  [[nodiscard]] Storage storage() && { return std::move(values_); }

 private:
  Storage values_;
  RowsInMemory rows_;
};

}  // namespace ts::inline v0::solvers::kmeans_detail
