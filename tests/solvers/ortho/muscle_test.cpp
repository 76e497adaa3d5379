#include "tallskinny/solvers/ortho/muscle.hpp"

#include "blocks.hpp"
#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/tests/support/kahan.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

template <class T, class Method>
struct Factors {
  ortho::Factored f;
  double loss = 0, residual = 0;
};

/// Factorises a copy of `input`; the residual is max |X - Q R|.
template <class T, class Method>
Factors<T, Method> factorise(Method method, const Matrix<T>& input) {
  const Context ctx;
  auto x = Matrix<T>::copy_of(input.cview());
  Matrix<T> r(x.cols(), x.cols());
  Factors<T, Method> out;
  ortho::Tall<T> tall(ctx);
  ortho::set_identity(r.view());
  out.f = ortho::detail::factorise<T>(tall, method, x.view(), r.view());
  const auto q = x.cview().cols(0, out.f.rank);
  out.loss = ortho::loss_of_orthogonality<T>(ctx, q);
  Matrix<T> qr(x.rows(), x.cols());
  tsmm(ctx, Op::none, T{1}, q, r.cview().rows(0, out.f.rank), T{0}, qr.view());
  out.residual = test::distance<T>(qr.view(), input.view());
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("every muscle factorises a well-conditioned block", "[short]", double, std::complex<double>) {
  const auto x = test::graded_block<TestType>(700, 6, 0, -1, 9);
  const auto check = [&](auto method) {
    const auto q = factorise<TestType>(method, x);
    CHECK(q.f.rank == 6);
    CHECK(q.loss < 50 * test::eps<double>);
    CHECK(q.residual < 50 * test::eps<double>);
  };
  check(ortho::ShiftedCholQr3{});
  check(ortho::Svqb{});
  check(ortho::HouseholderQr{});
  check(ortho::Ladder{});
}

TEST_CASE("muscles fail and hold where their theory says", "[short]") {
  const auto mild = test::graded_block<double>(1000, 8, 0, -6, 11),
             hard = test::graded_block<double>(1000, 8, 0, -12, 12);
  const auto twice = factorise<double>(ortho::Ladder{1e-14}, mild);
  CHECK(twice.f.rung == ortho::Rung::chol_qr);
  CHECK(twice.loss < test::allowed::short_sum);
  const auto shifted = factorise<double>(ortho::ShiftedCholQr3{}, hard);
  CHECK(shifted.f.rank == 8);
  CHECK(shifted.loss < test::allowed::short_sum);
  const auto svqb = factorise<double>(ortho::Svqb{1e-14}, hard);
  CHECK(svqb.f.rank == 8);
  CHECK(svqb.loss < test::allowed::short_sum);
  const auto ladder = factorise<double>(ortho::Ladder{1e-14}, hard);
  CHECK(ladder.f.rank == 8);
  CHECK(ladder.f.rung == ortho::Rung::shifted);
  CHECK(ladder.loss < test::allowed::short_sum);
  CHECK(ladder.residual < 50 * test::eps<double>);
}

TEST_CASE("columns whose pivots do not tell their condition", "[short]") {
  const index_t n = GENERATE(60, 100, 144, 223);
  const auto kahan = test::kahan<double>(n);
  const auto ladder = factorise<double>(ortho::Ladder{}, kahan);
  CHECK(ladder.loss < test::allowed::long_sum);
  CHECK(ladder.residual < test::allowed::long_sum);
}

TEST_CASE("rank-revealing muscles find the rank", "[short]") {
  auto x = test::graded_block<double>(500, 6, 0, -3, 13);
  for (index_t i = 0; i < 500; ++i) x(i, 3) = 2 * x(i, 0) - x(i, 5), x(i, 4) = 0;
  const double dead = 1e-13;
  const auto check = [&](const auto& q) {
    CHECK(q.f.rank == 4);
    CHECK(q.loss < test::allowed::short_sum);
    CHECK(q.residual < 50 * test::eps<double>);
  };
  check(factorise<double>(ortho::Svqb{dead}, x));
  check(factorise<double>(ortho::HouseholderQr{dead}, x));
  check(factorise<double>(ortho::Ladder{dead}, x));
}

TEST_CASE("more columns than rows, one column, no rows", "[short]") {
  const auto wide = test::random_block<double>(3, 5, 14);
  const auto q = factorise<double>(ortho::Ladder{1e-13}, wide);
  CHECK(q.f.rank == 3);
  CHECK(q.residual < 100 * test::eps<double>);
  CHECK(factorise<double>(ortho::Ladder{}, test::random_block<double>(9, 1, 15)).f.rank == 1);
  CHECK(factorise<double>(ortho::Ladder{}, Matrix<double>(0, 2)).f.rank == 0);
  CHECK(factorise<double>(ortho::Ladder{}, Matrix<double>::zeros(5, 2)).f.rank == 0);
}

TEMPLATE_TEST_CASE("on ranks muscles give the bits of one rank, also where some have no rows", "[short]", double, float,
                   std::complex<double>) {
  using T = TestType;
  const index_t n = 1100;  // 5 units
  Context one{.determinism = Determinism::gpu_to_gpu};
  auto graded = Matrix<T>(n, 6);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < 6; ++j)
      graded(i, j) = static_cast<real_t<T>>(std::pow(10.0, -j) * std::sin(static_cast<double>(i * (j + 3) + 1)));
  for (index_t i = 0; i < n; ++i) graded(i, 4) = graded(i, 0) + graded(i, 1);  // 5 directions
  const auto run = [&](const Context& ctx, auto method, index_t first, index_t rows, Matrix<T>& r, double& loss) {
    auto x = Matrix<T>::copy_of(graded.cview().rows(first, rows));
    const auto f = ortho::orthonormalise<T>(ctx, method, x.view(), r.view());
    loss = ortho::loss_of_orthogonality<T>(ctx, x.cview().cols(0, f.rank));
    return std::pair{f.rank, std::move(x)};
  };
  const auto check = [&](auto method) {
    Matrix<T> r(6, 6);
    double loss = 1;
    const auto [rank, q] = run(one, method, 0, n, r, loss);
    CHECK(rank == 5);
    CHECK(loss < 100 * test::eps<real_t<T>>);
    const Matrix<T>& whole = q;
    double error = 0;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < 6; ++j) {
        T sum{};
        for (index_t k = 0; k < 5; ++k) sum += whole(i, k) * r(k, j);
        error = std::max<double>(error, std::abs(sum - graded(i, j)));
      }
    CHECK(error < 100 * test::eps<real_t<T>>);
    for (const int ranks : {2, 3, 8}) {
      std::vector<int> same(static_cast<std::size_t>(ranks));
      run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& c) {
        Context ctx = one;
        ctx.communicator = c, ctx.slabs = RowSlabs::of_units(n, ranks);
        const index_t first = first_row(ctx), rows = ctx.slabs.rows(c->rank());
        Matrix<T> r_here(6, 6);
        double loss_here = 0;
        const auto mine = run(ctx, method, first, rows, r_here, loss_here);
        bool equal = mine.first == 5 && loss_here == loss;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < 5; ++j) equal = equal && mine.second(i, j) == whole(first + i, j);
        for (index_t i = 0; i < 6; ++i)
          for (index_t j = 0; j < 6; ++j) equal = equal && r_here(i, j) == r(i, j);
        same[static_cast<std::size_t>(c->rank())] = equal ? 1 : 0;
      });
      CHECK(same == std::vector<int>(static_cast<std::size_t>(ranks), 1));
    }
  };
  check(ortho::HouseholderQr{1e-5});
  check(ortho::Ladder{1e-5});
  graded(n - 1, 2) = std::numeric_limits<real_t<T>>::quiet_NaN();
  Matrix<T> r(6, 6);
  double loss = 0;
  CHECK(run(one, ortho::HouseholderQr{}, 0, n, r, loss).first == 0);
}
