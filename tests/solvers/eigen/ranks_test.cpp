// Hermitian eigen-solvers on several ranks: the bits of one rank.
#include "tallskinny/solvers/ranks/on_all_rows.hpp"

#include <bit>
#include <complex>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Method;
using solvers::Precision;
using solvers::Which;

namespace {

using Shared = std::shared_ptr<Communicator>;

Context one_rank() {
  Context ctx;
  ctx.threads = 1, ctx.determinism = Determinism::gpu_to_gpu;
  return ctx;
}

Context of_rank(const Shared& communicator, index_t n) {
  Context ctx = one_rank();
  ctx.communicator = communicator, ctx.slabs = RowSlabs::of_units(n, communicator->size());
  return ctx;
}

template <class T>
CsrMatrix<narrow_t<T>> narrowed(const CsrMatrix<T>& a) {
  CsrMatrix<narrow_t<T>> narrow{a.rows, a.cols, a.pointers, a.indices, {}};
  for (const T& x : a.values) narrow.values.push_back(static_cast<narrow_t<T>>(x));
  return narrow;
}

/// What there is to solve, held by all ranks.
template <class T>
struct Case {
  explicit Case(CsrMatrix<T> a) : matrix(std::move(a)), in_float32(narrowed(matrix)) {}

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

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// What `of_rank` has otherwise than the whole; empty where nothing. @param first row of the rank.
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
  run_on_threads(ranks,
                 [&](const Shared& c) { found[static_cast<std::size_t>(c->rank())] = body(of_rank(c, n), c->rank()); });
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
solvers::EigenResult<T> check_ranks(const Case<T>& c, const solvers::EigenOptions& options,
                                    std::initializer_list<int> ranks = {2, 3, 4, 8}) {
  auto whole = solvers::solve_eigen<T>(one_rank(), c.problem(one_rank()), options);
  CHECK(whole.verified);
  for (const int count : ranks)
    check_all<T>(
        whole,
        on_ranks<T>(count, c.n(),
                    [&](const Context& ctx, int) { return solvers::solve_eigen<T>(ctx, c.problem(ctx), options); }),
        c.n());
  return whole;
}

solvers::EigenOptions options_for(index_t nev, Which which, Method method) {
  solvers::EigenOptions o;
  o.nev = nev, o.which = which, o.method = method, o.seed = 0xfedcba9876543210u;
  return o;
}

}  // namespace

TEST_CASE("block Lanczos on ranks: repeated eigenvalues, both ends, ranks without rows") {
  const Case<double> square(generators::laplacian({45, 45}));
  CHECK(RowSlabs::of_units(square.n(), 8).rows(7) > 0);
  check_ranks(square, options_for(8, Which::LA, Method::automatic));
  check_ranks(square, options_for(7, Which::BE, Method::automatic), {3});
  check_ranks(square, options_for(6, Which::LM, Method::lanczos), {4});
  const Case<double> small(generators::laplacian({40, 26}));
  CHECK(RowSlabs::of_units(small.n(), 8).rows(0) == 0);
  check_ranks(small, options_for(6, Which::LA, Method::lanczos), {8});
}

TEST_CASE("fresh random blocks on ranks find the same missing copies") {
  const Case<double> copies(generators::laplacian_copies(8, 150));
  const auto whole = check_ranks(copies, options_for(16, Which::SA, Method::lanczos), {2, 3, 8});
  CHECK(whole.verification == solvers::Verification::random_block);
}

TEST_CASE("complex matrices on ranks") {
  const Case<std::complex<double>> ring(generators::flux_ring(1100, 0.3));
  check_ranks(ring, options_for(4, Which::LA, Method::automatic), {2, 4});
}

TEST_CASE("a Chebyshev filter on ranks") {
  const Case<double> square(generators::laplacian({60, 60}));
  const auto whole = check_ranks(square, options_for(6, Which::SA, Method::chebyshev), {2, 3, 8});
  CHECK(whole.filter_degree > 0);
}

TEST_CASE("LOBPCG and Davidson on ranks, with a preconditioner and without") {
  Case<double> square(generators::laplacian({36, 36}));
  for (const Method method : {Method::lobpcg, Method::davidson}) {
    square.preconditioner = {};
    check_ranks(square, options_for(5, Which::LA, method), {2, 3});
    square.preconditioner = generators::identity(square.n());
    for (std::size_t i = 0; i < square.preconditioner.values.size(); ++i)
      square.preconditioner.values[i] = 1 + 0.1 * static_cast<double>(i % 3);
    check_ranks(square, options_for(5, Which::LA, method), {8});
  }
}

TEST_CASE("float32 and mixed precision on ranks") {
  const Case<double> square(generators::laplacian({40, 40}));
  auto o = options_for(6, Which::LA, Method::lanczos);
  o.precision = Precision::mixed;
  check_ranks(square, o, {2, 8});
  o.precision = Precision::float32, o.tol = 1e-5;
  check_ranks(square, o, {3});
}
