// A basis that passes part by part does what one that is there does.
#include "tallskinny/solvers/ortho/by_parts.hpp"

#include "blocks.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

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
    CHECK(test::distance<T>(c.cview(), c_whole.cview()) < bound);

    ortho::project_out_by_parts<Space::host, T>(passing, s.cview(), w.view(), c.view());
    tall.project_out(v, s.cview(), w_whole.view(), c_whole.view(), g.view());
    CHECK(test::distance<T>(w.cview(), w_whole.cview()) < bound);
    CHECK(test::distance<T>(c.cview(), c_whole.cview()) < 10 * m * bound);

    ortho::project_out_by_parts<Space::host, T>(passing, s.cview(), w.view(), HostView<T>{});
    tall.subtract(v, s.cview(), w_whole.view());
    CHECK(test::distance<T>(w.cview(), w_whole.cview()) < bound);

    ortho::combine_by_parts<Space::host, T>(passing, T{2}, s.cview(), T{-1}, w.view());
    tall.combine(T{2}, v, s.cview(), T{-1}, w_whole.view());
    CHECK(test::distance<T>(w.cview(), w_whole.cview()) < bound);
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
