// (A - c I)^2: what lies nearest to c becomes the low end of the spectrum.
#pragma once

#include <algorithm>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::solvers {

/// Y = (A - c I)^2 X for a Hermitian A: two applications, no factorisation. Source: Wang and Zunger 1994,
/// "Solving Schroedinger's equation around a desired energy" (the folded spectrum method).
template <class T>
class FoldedOperator {
 public:
  FoldedOperator(Operator<T> a, double centre) : a_(std::move(a)), centre_(centre) {}
  [[nodiscard]] index_t rows() const { return a_.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    Matrix<T> w(x.rows(), x.cols());
    shifted(ctx, x, w.view());
    shifted(ctx, w.cview(), y);
  }
  [[nodiscard]] OperatorFacts facts() const {
    const auto of_a = a_.facts();
    const double farthest = std::max(std::abs(of_a.low - centre_), std::abs(of_a.high - centre_));
    return {of_a.entries < 0 ? -1 : 2 * of_a.entries, 0, farthest * farthest};
  }

 private:
  void shifted(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    a_.apply(ctx, x, y);
    const index_t n = x.rows(), p = x.cols();
#pragma omp parallel for num_threads(ctx.thread_count()) schedule(static)
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < p; ++j) y(i, j) -= centre_ * x(i, j);
  }

  Operator<T> a_;
  double centre_;
};

}  // namespace ts::solvers
