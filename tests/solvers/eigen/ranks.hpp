// Hermitian problems on one rank and on several, and the comparison of what they give.
#pragma once

#include "tallskinny/solvers/ranks/on_all_rows.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/ranks.hpp"

namespace ts::test {

/// A problem, held by all ranks.
template <class T>
struct Case {
  explicit Case(CsrMatrix<T> a) : matrix(std::move(a)), in_float32(narrow_of(matrix)) {}

  /// On one rank by the operators themselves, on others by what makes ranks of them.
  [[nodiscard]] solvers::EigenProblem<T> problem(const Context& ctx) const {
    const auto placed = [&]<class E>(solvers::Operator<E> op) -> solvers::Operator<E> {
      if (ctx.communicator->size() == 1) return op;
      return solvers::OnAllRows<E>(ctx, std::move(op));
    };
    using N = narrow_t<T>;
    solvers::EigenProblem<T> p{placed(solvers::Operator<T>(solvers::CsrOperator<T>(matrix.view())))};
    p.narrow = placed(solvers::Operator<N>(solvers::CsrOperator<N>(in_float32.view())));
    if (preconditioner.rows > 0)
      p.preconditioner = placed(solvers::Operator<T>(solvers::CsrOperator<T>(preconditioner.view())));
    return p;
  }
  [[nodiscard]] index_t n() const { return matrix.rows; }

  CsrMatrix<T> matrix;
  CsrMatrix<narrow_t<T>> in_float32;
  CsrMatrix<T> preconditioner;
};

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// Names of the members in which `of_rank` differs from the whole; empty without a difference. @param first row of the
/// rank.
template <class T>
std::string difference(const solvers::EigenResult<T>& whole, const solvers::EigenResult<T>& rank, index_t first) {
  std::string names;
  const auto expect = [&](bool same, const char* name) { names += same ? "" : std::string(" ") + name; };
  expect(same_bits(whole.values, rank.values), "values");
  expect(same_bits(whole.residual_norms, rank.residual_norms), "residual_norms");
  expect(same_bits(whole.error_bounds, rank.error_bounds), "error_bounds");
  expect(same_bits(whole.vector_errors, rank.vector_errors), "vector_errors");
  expect(same_bits({whole.norm, whole.orthogonality_loss, whole.next_value, whole.gap},
                   {rank.norm, rank.orthogonality_loss, rank.next_value, rank.gap}),
         "norm, loss or gap");
  expect(whole.multiplicities == rank.multiplicities && whole.cut_off == rank.cut_off, "multiplicities");
  expect(whole.iterations == rank.iterations && whole.operator_applications == rank.operator_applications, "work");
  expect(whole.verification == rank.verification && whole.verified == rank.verified, "verification");
  expect(whole.verification_rounds == rank.verification_rounds && whole.restarts == rank.restarts, "rounds");
  expect(whole.filter_degree == rank.filter_degree && whole.history.size() == rank.history.size(), "history");
  expect(whole.stop == rank.stop && whole.reason == rank.reason, "reason");
  bool rows = rank.vectors.cols() == whole.vectors.cols() && first + rank.vectors.rows() <= whole.vectors.rows();
  for (index_t i = 0; rows && i < rank.vectors.rows(); ++i)
    for (index_t j = 0; j < rank.vectors.cols(); ++j) rows = rows && rank.vectors(i, j) == whole.vectors(first + i, j);
  expect(rows, "vectors");
  return names;
}

/// body(ctx, rank) on so many ranks, and what each gives.
template <class T, class Body>
std::vector<solvers::EigenResult<T>> on_ranks(int ranks, index_t n, const Body& body) {
  std::vector<solvers::EigenResult<T>> found(static_cast<std::size_t>(ranks));
  run_on_threads(ranks, [&](const Shared& c) {
    found[static_cast<std::size_t>(c->rank())] = body(of_rank(one_rank(), c, n), c->rank());
  });
  return found;
}

template <class T>
void check_all(const solvers::EigenResult<T>& whole, const std::vector<solvers::EigenResult<T>>& found, index_t n) {
  const auto slabs = RowSlabs::of_units(n, static_cast<int>(found.size()));
  index_t rows = 0;
  for (int rank = 0; rank < slabs.slabs(); ++rank) {
    const auto& one = found[static_cast<std::size_t>(rank)];
    CAPTURE(found.size(), rank);
    CHECK(difference(whole, one, slabs.begin(rank)) == "");
    rows += one.vectors.rows();
  }
  CHECK(rows == whole.vectors.rows());
}

/// Solves on one rank and on others; what one gives.
template <class T>
EigenResult<T> check_ranks(const Case<T>& c, const EigenOptions& options,
                           std::initializer_list<int> ranks = {2, 3, 4, 8}) {
  const auto solved = [&](const Context& ctx, int) { return solvers::solve_eigen<T>(ctx, c.problem(ctx), options); };
  auto whole = solved(one_rank(), 0);
  CHECK(whole.verified);
  for (const int count : ranks) check_all<T>(whole, on_ranks<T>(count, c.n(), solved), c.n());
  return whole;
}

/// More copies of the highest values than a block has columns: fresh random blocks must find the others.
inline Case<double> ten_copies() {
  std::vector<double> values(1100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 / static_cast<double>(1 + i % 110);
  return Case<double>(diagonal(values));
}
inline EigenOptions ten_copies_options() {
  auto o = seeded_options(12, Which::LA, Method::lanczos);
  o.block_size = 4;
  return o;
}

}  // namespace ts::test
