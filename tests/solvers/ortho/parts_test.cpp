// A basis that passes part by part does what one that is there does.
#include "tallskinny/solvers/ortho/by_parts.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/tests/solvers/ortho/blocks.hpp"

using Complex = std::complex<double>;

TEMPLATE_TEST_CASE("products with a basis by parts are those with the whole", "[parts][short]", double,
                   std::complex<double>) {
  using T = TestType;
  const Context ctx;
  const index_t n = 1003, m = 12, b = 5, room = 3;
  const auto wide = test::random_block<T>(n, m + room, 1);
  const auto v = wide.cview().cols(room, m);  // with gaps between its rows
  const auto s = test::random_block<T>(m, b, 3);
  ortho::Tall<T> tall(ctx);
  for (const index_t rows : {index_t{1}, index_t{7}, index_t{256}, n - 1, n, n + 50}) {
    CAPTURE(rows);
    Matrix<T> memory(std::min(rows, n), m);
    const ortho::Passing<Space::host, T> passing{ctx, v, memory.data(), rows};
    auto w = test::random_block<T>(n, b, 2), w_whole = test::random_block<T>(n, b, 2);
    const double bound = test::product_bound<T>(n, 16.0 * n);

    Matrix<T> c(m, b), c_whole(m, b), g(b, b);
    ortho::inner_by_parts<Space::host, T>(passing, w.cview(), c.view());
    tall.inner(v, w_whole.cview(), c_whole.view());
    CHECK(max_difference(c.cview(), c_whole.cview()) < bound);

    ortho::project_out_by_parts<Space::host, T>(passing, s.cview(), w.view(), c.view());
    tall.project_out(v, s.cview(), w_whole.view(), c_whole.view(), g.view());
    CHECK(max_difference(w.cview(), w_whole.cview()) < bound);
    CHECK(max_difference(c.cview(), c_whole.cview()) < 10 * m * bound);

    ortho::project_out_by_parts<Space::host, T>(passing, s.cview(), w.view(), HostView<T>{});
    tall.subtract(v, s.cview(), w_whole.view());
    CHECK(max_difference(w.cview(), w_whole.cview()) < bound);

    ortho::combine_by_parts<Space::host, T>(passing, T{2}, s.cview(), T{-1}, w.view());
    tall.combine(T{2}, v, s.cview(), T{-1}, w_whole.view());
    CHECK(max_difference(w.cview(), w_whole.cview()) < bound);
  }
}

TEST_CASE("a basis without rows or without columns passes too", "[parts][short]") {
  const Context ctx;
  Matrix<double> none(0, 4), w(0, 3);
  auto s = Matrix<double>::zeros(4, 3);
  s(1, 1) = 5;
  ortho::inner_by_parts<Space::host, double>({ctx, none.cview(), nullptr, 1}, w.cview(), s.view());
  CHECK(s(1, 1) == 0);
  Matrix<double> narrow(20, 0), block(20, 3), nothing(0, 3);
  std::fill_n(block.data(), 60, 1.0);
  ortho::project_out_by_parts<Space::host, double>({ctx, narrow.cview(), nullptr, 8}, nothing.cview(), block.view(),
                                                   HostView<double>{});
  CHECK(std::all_of(block.data(), block.data() + 60, [](double x) { return x == 1; }));
}

TEST_CASE("parts are whole multiples of 256 rows where memory holds so many", "[parts][short]") {
  CHECK(ortho::rows_of_a_part<double>(100, 800 * 1000) == 768);
  CHECK(ortho::rows_of_a_part<double>(100, 800 * 10) == 10);
  CHECK(ortho::rows_of_a_part<double>(100, 8) == 1);
  CHECK(ortho::rows_of_a_part<std::complex<double>>(0, 4096) == 256);
}

// Synchronisations and passes are counted where they happen.

TEST_CASE("one more block costs two reductions and two passes over the basis", "[short]") {
  constexpr index_t width = 4, blocks = 12;
  const auto work_of = [](index_t columns) {
    auto x = test::random_block<double>(400, columns, 2);
    Matrix<double> r(columns, columns);
    const auto outcome = test::orthonormalise<double>(Context{}, x.view(), r.view(), width);
    REQUIRE(outcome.complete);
    return outcome;
  };
  const auto before = work_of(blocks * width), after = work_of((blocks + 1) * width);
  CHECK(after.reductions - before.reductions == 2);
  CHECK(after.basis_columns - before.basis_columns == 2 * blocks * width);
}

TEST_CASE("a well-conditioned block alone costs two reductions, by Householder's reflections one", "[short]") {
  const auto check = [](auto method, int reductions, index_t passes) {
    auto x = test::random_block<double>(400, 6, 2);
    Matrix<double> r(6, 6);
    const auto work = ortho::orthonormalise<double>(Context{}, method, x.view(), r.view()).work;
    CHECK(work.reductions == reductions);
    CHECK(work.block_columns == 6 * passes);
  };
  check(ortho::Ladder{}, 2, 4);
  check(ortho::HouseholderQr{}, 1, 1);
}

// One block against a basis, by the default.

TEST_CASE("a guess of the projection gives the same factorisation", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<Complex>(400, 12, 1);
  auto x = test::random_block<Complex>(400, 4, 2);
  const auto input = Matrix<Complex>::copy_of(x.cview());
  auto guess = Matrix<Complex>::zeros(12, 4);
  guess(3, 2) = {0.25, -1};
  Matrix<Complex> r(4, 4);
  const auto e =
      ortho::orthonormalise<Complex>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), guess.view(), r.view(), true);
  REQUIRE(e.rank == 4);
  const auto all = matrix_of<Complex>(400, 16, [&](auto i, auto j) { return j < 12 ? v(i, j) : x(i, j - 12); });
  const auto both = matrix_of<Complex>(16, 4, [&](auto i, auto j) { return i < 12 ? guess(i, j) : r(i - 12, j); });
  CHECK(test::residual<Complex>(input.cview(), all.cview(), both.cview()) < 100 * test::eps<double>);
  CHECK(ortho::loss_of_orthogonality<Complex>(ctx, all.view()) < 10 * test::eps<double>);
}

TEST_CASE("a block inside the span of the basis has rank 0", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(300, 10, 3);
  auto x = test::random_block<double>(300, 3, 4);
  const auto w = test::random_block<double>(10, 3, 5);
  tsmm(ctx, Op::none, 1.0, v.cview(), w.cview(), 0.0, x.view());
  Matrix<double> s(10, 3), r(3, 3);
  const auto e = ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view());
  CHECK(e.rank == 0);
  CHECK(e.dead == 3);
  CHECK(max_difference(s.view(), w.view()) < 100 * test::eps<double>);
}

TEST_CASE("a wrong guess for a block inside of the span leaves no noise behind", "[short]") {
  const Context ctx;
  const auto v = test::orthonormal_block<double>(30, 22, 3);
  const auto w = test::random_block<double>(22, 8, 5);
  auto x = test::random_block<double>(30, 8, 4);
  tsmm(ctx, Op::none, 1.0, v.cview(), w.cview(), 0.0, x.view());
  auto guess = Matrix<double>::copy_of(w.cview());
  for (index_t i = 0; i < 22; ++i)
    for (index_t j = 0; j < 8; ++j) guess(i, j) *= 1 + 1e-9 * static_cast<double>(i + 3 * j % 5);
  Matrix<double> r(8, 8);
  const auto e =
      ortho::orthonormalise<double>(ctx, ortho::BcgsiPlusA{}, v.cview(), x.view(), guess.view(), r.view(), true);
  CHECK(e.rank == 0);
  CHECK(max_difference(guess.view(), w.view()) < 100 * test::eps<double>);
}

TEST_CASE("a short column next to a long one takes no digits from it", "[short]") {
  // The short one is the direction of the long one but for a share that is noise in it, not in the long one.
  const Context ctx;
  auto x = test::random_block<double>(200, 2, 7);
  for (index_t i = 0; i < 200; ++i) x(i, 1) = 1e-11 * (x(i, 0) + 1e-4 * x(i, 1));
  const auto input = Matrix<double>::copy_of(x.cview());
  Matrix<double> r(2, 2);
  ortho::Tall<double> tall(ctx);
  const auto f = ortho::detail::factorise<double>(tall, ortho::Svqb{2e-14}, x.view(), r.view());
  REQUIRE(f.rank == 1);
  CHECK(test::residual<double>(input.cview(), x.cview().cols(0, 1), r.cview().rows(0, 1)) < allowed::long_sum);
}

TEST_CASE("NaN ends in a returned outcome, not in a basis, and shapes that do not fit are refused", "[short]") {
  const auto v = test::orthonormal_block<double>(50, 4, 3);
  auto x = test::random_block<double>(50, 3, 4);
  x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  const auto rung = [&](index_t rows) {
    Matrix<double> s(rows, 3), r(3, 3);
    return ortho::orthonormalise<double>(Context{}, ortho::BcgsiPlusA{}, v.cview(), x.view(), s.view(), r.view()).rung;
  };
  CHECK(rung(4) == ortho::Rung::failed);
  CHECK_THROWS_AS(rung(3), Error);
}

TEST_CASE("eigenvalues of a small Hermitian matrix", "[short]") {
  Matrix<Complex> h(2, 2);
  h(0, 0) = 2, h(0, 1) = Complex(0, -1), h(1, 0) = Complex(0, 1), h(1, 1) = 2;
  const auto e = ortho::hermitian_eigen<Complex>(h.cview());
  CHECK(e.values[0] == Approx(1));
  CHECK(e.values[1] == Approx(3));
  for (index_t k = 0; k < 2; ++k)  // H u = lambda u
    for (index_t i = 0; i < 2; ++i)
      CHECK(std::abs(h(i, 0) * e.vectors(0, k) + h(i, 1) * e.vectors(1, k) -
                     e.values[static_cast<std::size_t>(k)] * e.vectors(i, k)) < 10 * test::eps<double>);
  h(1, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(ortho::hermitian_eigen<Complex>(h.cview()).values[0]));
  CHECK(ortho::hermitian_eigen<double>(Matrix<double>(0, 0).cview()).values.empty());
}

TEST_CASE("Cholesky factor of a small Gram matrix", "[short]") {
  Matrix<double> g(2, 2);
  g(0, 0) = 4, g(0, 1) = 2, g(1, 0) = 2, g(1, 1) = 10;
  REQUIRE(ortho::cholesky(g.view(), 0.0));
  CHECK(g(0, 0) == 2);
  CHECK(g(0, 1) == 1);
  CHECK(g(1, 0) == 0);
  CHECK(g(1, 1) == 3);
  g(0, 0) = 1, g(0, 1) = 1, g(1, 0) = 1, g(1, 1) = 1;
  CHECK_FALSE(ortho::cholesky(g.view(), unit_roundoff));
  g(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(ortho::cholesky(g.view(), 0.0));
}

TEST_CASE("small products", "[short]") {
  Matrix<double> a(2, 2), r(2, 1);
  a(0, 0) = 1, a(0, 1) = 2, a(1, 0) = 3, a(1, 1) = 4, r(0, 0) = 5, r(1, 0) = 6;
  ortho::multiply_left<double>(a.cview(), r.view());
  CHECK(r(0, 0) == 17);
  CHECK(r(1, 0) == 39);
}

// Both sides of the size beyond which LAPACK is taken, where the machine has it.
TEMPLATE_TEST_CASE("singular values of a small matrix", "[short]", float, double, Complex) {
  const auto [m, n] = GENERATE(std::pair<index_t, index_t>{20, 9}, std::pair<index_t, index_t>{150, 131},
                               std::pair<index_t, index_t>{131, 140});
  test::Values values(1);
  const auto a = matrix_of<TestType>(m, n, [&](index_t, index_t) {
    const double re = values.uniform() / 2;
    return test::element<TestType>(re, values.uniform() / 2);
  });
  const auto s = ortho::svd<TestType>(a.cview()), again = ortho::svd<TestType>(a.cview());
  const auto k = std::min(m, n);
  const double rounding = static_cast<double>(test::eps<real_t<TestType>>);
  CHECK(test::largest_of(m, n, [&](index_t i, index_t j) {
          TestType sum = -a(i, j);
          for (index_t l = 0; l < k; ++l) sum += s.u(i, l) * s.values[at(l)] * conjugate(s.v(j, l));
          return std::abs(sum);
        }) < 200 * rounding);
  for (const auto* x : {&s.u, &s.v})
    CHECK(test::largest_of(k, k, [&](index_t p, index_t q) {
            TestType sum = p == q ? TestType(-1) : TestType(0);
            for (index_t i = 0; i < x->rows(); ++i) sum += conjugate((*x)(i, p)) * (*x)(i, q);
            return std::abs(sum);
          }) < 100 * rounding);
  for (index_t l = 1; l < k; ++l) CHECK(s.values[at(l)] <= s.values[at(l - 1)]);
  CHECK(s.values == again.values);
  CHECK(s.u(m - 1, k - 1) == again.u(m - 1, k - 1));
}
