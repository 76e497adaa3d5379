#include "tallskinny/solvers/ortho/muscle.hpp"

#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/tests/solvers/ortho/blocks.hpp"
#include "tallskinny/tests/solvers/svd/known.hpp"
#include "tallskinny/tests/support/ranks.hpp"

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
  out.residual = test::residual<T>(input.cview(), q, r.cview().rows(0, out.f.rank));
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
  const auto check = [](auto method, const Matrix<double>& x) {
    const auto q = factorise<double>(method, x);
    CHECK(q.f.rank == 8);
    CHECK(q.loss < allowed::short_sum);
    CHECK(q.residual < 50 * test::eps<double>);
    return q.f.rung;
  };
  CHECK(check(ortho::Ladder{1e-14}, mild) == ortho::Rung::chol_qr);
  check(ortho::ShiftedCholQr3{}, hard);
  check(ortho::Svqb{1e-14}, hard);
  CHECK(check(ortho::Ladder{1e-14}, hard) == ortho::Rung::shifted);
}

TEST_CASE("columns whose pivots do not tell their condition", "[short]") {
  const index_t n = GENERATE(60, 100, 144, 223);
  const auto kahan = test::kahan<double>(n);
  const auto ladder = factorise<double>(ortho::Ladder{}, kahan);
  CHECK(ladder.loss < allowed::long_sum);
  CHECK(ladder.residual < allowed::long_sum);
}

TEST_CASE("rank-revealing muscles find the rank", "[short]") {
  auto x = test::graded_block<double>(500, 6, 0, -3, 13);
  for (index_t i = 0; i < 500; ++i) x(i, 3) = 2 * x(i, 0) - x(i, 5), x(i, 4) = 0;
  const double dead = 1e-13;
  const auto check = [&](const auto& q) {
    CHECK(q.f.rank == 4);
    CHECK(q.loss < allowed::short_sum);
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
  auto graded = matrix_of<T>(n, 6, [](index_t i, index_t j) {
    return static_cast<real_t<T>>(std::pow(10.0, -j) * std::sin(static_cast<double>(i * (j + 3) + 1)));
  });
  for (index_t i = 0; i < n; ++i) graded(i, 4) = graded(i, 0) + graded(i, 1);  // 5 directions
  struct Basis {
    Matrix<T> q, r{6, 6};
    index_t rank = 0;
    double loss = 1;
  };
  const auto run = [&](const Context& ctx, auto method, index_t first, index_t rows) {
    Basis b{Matrix<T>::copy_of(graded.cview().rows(first, rows))};
    b.rank = ortho::orthonormalise<T>(ctx, method, b.q.view(), b.r.view()).rank;
    b.loss = ortho::loss_of_orthogonality<T>(ctx, b.q.cview().cols(0, b.rank));
    return b;
  };
  const auto check = [&](auto method) {
    const Basis whole = run(one, method, 0, n);
    REQUIRE(whole.rank == 5);
    CHECK(whole.loss < 100 * test::eps<real_t<T>>);
    const auto q = whole.q.cview().cols(0, 5);
    CHECK(test::residual<T>(graded.cview(), q, whole.r.cview().rows(0, 5)) < 100 * test::eps<real_t<T>>);
    for (const int ranks : {2, 3, 8})
      CHECK(on_slabs(one, RowSlabs::of_units(n, ranks), [&](const Context& ctx) {
              const index_t first = first_row(ctx), rows = ctx.slabs.rows(ctx.communicator->rank());
              const Basis mine = run(ctx, method, first, rows);
              test::expect(mine.rank == 5 && mine.loss == whole.loss, "another loss");
              test::expect(max_difference(mine.q.cview().cols(0, 5), q.rows(first, rows)) == 0, "other vectors");
              test::expect(max_difference(mine.r, whole.r) == 0, "another factor");
            }) == "");
  };
  check(ortho::HouseholderQr{1e-5});
  check(ortho::Ladder{1e-5});
  graded(n - 1, 2) = std::numeric_limits<real_t<T>>::quiet_NaN();
  CHECK(run(one, ortho::HouseholderQr{}, 0, n).rank == 0);
}
