#include "tallskinny/tests/solvers/eigen/device_runs.hpp"

TEST_CASE("a placed view says where it is and refuses to be elsewhere", "[device]") {
  Matrix<double> here(6, 4);
  const PlacedView<double> on_host = here.view();
  CHECK(on_host.space() == Space::host);
  CHECK(on_host.cols(1, 2).host().data() == here.data() + 1);
  CHECK_THROWS_AS(on_host.in<Space::device>(), Error);
}

TEST_CASE("a placed view on a device says so", "[device][cuda]") {
  const Context ctx = typical_context();
  PlacedMatrix<double> there(ctx, Space::device, 6, 4);
  const PlacedView<const double> on_device = there.cview();
  CHECK(on_device.space() == Space::device);
  CHECK(on_device.cols(1, 2).ld() == 4);
  CHECK_THROWS_AS(on_device.host(), Error);
}

TEMPLATE_TEST_CASE("every operation on a tall matrix has kernels on a device", "[device][cuda]", double, float) {
  using T = TestType;
  const Context ctx = typical_context();
  const index_t n = 4000, m = 24, b = 8;
  PlacedMatrix<T> v(ctx, Space::device, n, m), w(ctx, Space::device, n, b), y(ctx, Space::device, n, b);
  Matrix<T> s(m, b), g(b, b);
  std::vector<T> norms(static_cast<std::size_t>(b), -1);
  ortho::Tall<T> tall(ctx);
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  const auto starts = [&](const auto& operation) {
    const std::size_t before = kernels.size();
    operation();
    return kernels.size() > before;
  };
  CHECK(starts([&] { tall.inner(v.cview(), w.cview(), s.view()); }));
  CHECK(starts([&] { tall.gram(w.cview(), g.view()); }));
  CHECK(starts([&] { tall.inner_and_gram(v.cview(), w.cview(), s.view(), g.view()); }));
  CHECK(starts([&] { tall.subtract(v.cview(), s.cview(), w.view()); }));
  CHECK(starts([&] { tall.project_out(v.cview(), s.cview(), w.view(), s.view(), g.view()); }));
  CHECK(starts([&] { tall.solve(w.view(), g.cview()); }));
  CHECK(starts([&] { tall.multiply(v.view(), Matrix<T>::zeros(m, b).cview()); }));
  CHECK(starts([&] { tall.combine(1, v.cview(), s.cview(), 0, y.view()); }));
  CHECK(starts([&] { tall.norms(w.cview(), norms); }));
  CHECK(norms == std::vector<T>(static_cast<std::size_t>(b), 0));  // nothing was carried out
}

TEST_CASE("what float32 hands to float64 stays on the device", "[device][cuda]") {
  const Context ctx = typical_context();
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  const auto last = [&] { return kernels.empty() ? std::string_view{} : kernels.back().family; };
  PlacedMatrix<float> basis(ctx, Space::device, 4000, 32), x(ctx, Space::device, 4000, 8);
  solvers::fill_random<float>(ctx, 1, 2, x.view());
  CHECK(last() == "random_fill");
  ortho::copy_block<float>(ctx, x.cview(), basis.view().cols(8, 8));
  REQUIRE(kernels.size() == 2);
  CHECK(last() == "copy_rows");
  const auto wide = cast<double, float>(ctx, basis.cview().cols(8, 8));
  CHECK(wide.space() == Space::device);
  REQUIRE(kernels.size() == 3);
  CHECK(last() == "copy_rows");
}

TEST_CASE("a basis in page-locked memory meets blocks on a device by parts", "[device][cuda]") {
  const Context ctx = typical_context();
  const index_t n = 40000, m = 24, b = 8;  // 7.7 MB
  solvers::BasisMemory<double> basis(ctx, Space::device, n, m, true);
  CHECK(basis.space() == Space::host);
  const PlacedView<double> v = basis.columns(0, m);
  PlacedMatrix<double> w(ctx, Space::device, n, b), y(ctx, Space::device, n, b);
  Matrix<double> s(m, b), g(b, b);
  ortho::Tall<double> tall(ctx);
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  const auto started = [&](const auto& operation) {
    const std::size_t before = kernels.size();
    operation();
    return kernels.size() - before;
  };
  CHECK(started([&] { tall.inner(v, w.cview(), s.view()); }) >= 1);
  CHECK(started([&] { tall.inner_and_gram(v, w.cview(), s.view(), g.view()); }) >= 2);
  CHECK(started([&] { tall.subtract(v, s.cview(), w.view()); }) >= 1);
  CHECK(started([&] { tall.project_out(v, s.cview(), w.view(), s.view(), g.view()); }) >= 3);
  CHECK(started([&] { tall.project_out(v, s.cview(), w.view(), HostView<double>{}, g.view()); }) >= 2);
  CHECK(started([&] { tall.combine(1, v, s.cview(), 0, y.view()); }) >= 1);
  CHECK(started([&] { tall.multiply(v, s.cview()); }) == 0);  // where the basis is
  CHECK_THROWS_AS(tall.inner(w.cview(), v, Matrix<double>(b, m).view()), Error);
}

TEST_CASE("a Krylov basis that spills is in host memory and its blocks are not", "[device][cuda]") {
  const Context ctx = typical_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({10, 10}));
  const auto taken = [&](bool spills) {
    const auto before = ctx.stream.rehearsal()->next_address;
    const solvers::KrylovFactorisation<double> basis(ctx, a.op(), 48, 1, true, spills);
    return ctx.stream.rehearsal()->next_address - before;
  };
  CHECK(taken(false) >= 100 * 48 * sizeof(double));
  CHECK(taken(true) == 0);
}

TEST_CASE("an operator is applied where its operands are", "[device][cuda]") {
  const Context ctx = typical_context();
  const InBothPlaces<double> a(ctx, generators::laplacian({10, 10}));
  const auto op = a.op();
  CHECK(op.space() == Space::device);
  CHECK(problem_of(a.here).a.space() == Space::host);
  PlacedMatrix<double> x(ctx, Space::device, 100, 4), y(ctx, Space::device, 100, 4);
  const auto& kernels = ctx.stream.rehearsal()->kernels;
  op.apply(ctx, x.cview(), y.view());
  REQUIRE(kernels.size() == 1);
  CHECK(kernels.back().family == "spmm_rows");
  CHECK(op.update(ctx, 1, 0.5, x.cview(), -1, y.view()));
  CHECK(kernels.size() == 2);
  CHECK_FALSE(solvers::Operator<double>(Twice{100}).update(ctx, 1, 0.5, x.cview(), -1, y.view()));
  Matrix<double> ones(100, 4), twos(100, 4);
  std::fill_n(ones.data(), 400, 1.0);
  op.apply(ctx, ones.cview(), twos.view());  // on the host
  CHECK(twos(0, 0) == 2);
  CHECK(kernels.size() == 2);
}

TEST_CASE("on a GPU an operator of the host is applied through host memory", "[device][sanitize][gpu]") {
  const Context ctx = device_context();
  Matrix<double> ones(100, 4);
  std::fill_n(ones.data(), 400, 1.0);
  PlacedMatrix<double> x(ctx, Space::device, 100, 4), y(ctx, Space::device, 100, 4);
  ortho::copy_block<double>(ctx, ones.cview(), x.view());
  solvers::Operator<double>(Twice{100}).apply(ctx, x.cview(), y.view());
  const auto result = std::move(y).to_host(ctx);
  CHECK(std::all_of(result.data(), result.data() + 400, [](double v) { return v == 2; }));
}

TEMPLATE_TEST_CASE("on a GPU one step of a polynomial is the processor's", "[device][sanitize][gpu]", double,
                   std::complex<double>) {
  using T = TestType;
  const Context ctx = device_context();
  // Short rows, rows that are summed in parts, and empty ones, which have no diagonal.
  auto a = csr_by_rows<T>(9000, 9000, [&](index_t i, auto add) {
    const index_t length = i % 1000 == 7 ? 513 + i : i % 9;
    for (index_t k = 0; k < length; ++k) add((i + 2 * k) % 9000, static_cast<T>(0.5 + static_cast<double>(k % 7)));
  });
  const InBothPlaces<T> both(ctx, a);
  for (const index_t q : {1, 3, 8, 40})
    for (const double beta : {0.0, -1.0}) {
      CAPTURE(q, beta);
      Matrix<T> x(a.rows, q), y(a.rows, q);
      solvers::fill_random<T>(ctx, 1, 2, x.view());
      solvers::fill_random<T>(ctx, 1, 3, y.view());
      PlacedMatrix<T> x_there(ctx, Space::device, a.rows, q), y_there(ctx, Space::device, a.rows, q);
      ortho::copy_block<T>(ctx, x.cview(), x_there.view());
      ortho::copy_block<T>(ctx, y.cview(), y_there.view());
      REQUIRE(both.op().update(ctx, 2, 0.75, x_there.cview(), beta, y_there.view()));
      const auto result = std::move(y_there).to_host(ctx);
      for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < q; ++j) y(i, j) = beta * y(i, j) - 1.5 * x(i, j);
      spmm(ctx, Op::none, T{2}, a.view(), x.cview(), T{1}, y.view());
      double worst = 0;
      for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < q; ++j) worst = std::max(worst, std::abs(result(i, j) - y(i, j)));
      CHECK(worst < 1e6 * test::eps<double>);  // of sums of up to 9000 terms of about 10
    }
}

TEST_CASE("on a GPU a block is orthonormalised as on the processor", "[device][sanitize][gpu]") {
  const Context ctx = device_context();
  const index_t n = 5003, b = 6;
  for (const bool deficient : {false, true}) {
    CAPTURE(deficient);
    Matrix<double> x(n, b), r(b, b), r_there(b, b);
    solvers::fill_random<double>(ctx, 1, 2, x.view());
    if (deficient)
      for (index_t i = 0; i < n; ++i) x(i, 4) = x(i, 1) - 2 * x(i, 2);
    PlacedMatrix<double> there(ctx, Space::device, n, b);
    ortho::copy_block<double>(ctx, x.cview(), there.view());
    const auto here = ortho::orthonormalise<double>(ctx, ortho::Ladder{1e-10}, x.view(), r.view());
    const auto f = ortho::orthonormalise<double>(ctx, ortho::Ladder{1e-10}, there.view(), r_there.view());
    CHECK(f.rank == here.rank);
    CHECK(f.rung == here.rung);
    const auto q = there.cview().cols(0, f.rank);
    CHECK(ortho::loss_of_orthogonality<double>(ctx, q) < 100 * test::eps<double>);
  }
}
