// One solver in two places: what it asks of a device, and that a GPU gives the processor's answers.
#include <span>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/plan/typical_device.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/tests/solvers/eigen/problems.hpp"
#include "tallskinny/tests/support/device.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::Which;

namespace {

Context rehearsing_context() {
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"));
  return ctx;
}

Context device_context() {
  Context ctx;
  ctx.stream = test::device_stream();
  return ctx;
}

/// A body that knows the host alone: Y = 2 X.
struct Twice {
  index_t n;
  [[nodiscard]] index_t rows() const { return n; }
  void apply(const Context&, HostView<const double> x, HostView<double> y) const {
    for (index_t i = 0; i < x.rows(); ++i)
      for (index_t j = 0; j < x.cols(); ++j) y(i, j) = 2 * x(i, j);
  }
};

template <class T>
solvers::EigenResult<T> solve(const Context& ctx, const solvers::Operator<T>& a, Which which, index_t nev,
                              solvers::Method method = solvers::Method::lanczos) {
  solvers::EigenOptions o;
  o.nev = nev, o.which = which, o.tol = 1e-9, o.method = method;
  return solvers::solve_eigen<T>(ctx, {a}, o);
}

/// The set of the GPU against that of the processor, and against itself.
template <class T>
void compare(const CsrMatrix<T>& a, Which which, index_t nev,
             solvers::Method method = solvers::Method::lanczos) {
  const Context ctx = device_context();
  const DeviceCsrMatrix<T> there(ctx.stream, a.view());
  const solvers::Operator<T> on_device = solvers::CsrOperator<T>(a.view(), there.view());
  const auto here = solve<T>(Context{}, solvers::CsrOperator<T>(a.view()), which, nev, method);
  const auto r = solve<T>(ctx, on_device, which, nev, method),
             again = solve<T>(ctx, on_device, which, nev, method);
  CAPTURE(r.reason, r.operator_applications, here.operator_applications);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < 1e-13);
  CHECK((r.filter_degree > 0) == (here.filter_degree > 0));  // how far it goes depends on the edges seen
  REQUIRE(r.values.size() == here.values.size());
  for (std::size_t i = 0; i < r.values.size(); ++i)
    CHECK(std::abs(r.values[i] - here.values[i]) < 1e-8 * here.norm);
  CHECK(r.multiplicities == here.multiplicities);
  CHECK(r.values == again.values);
  const auto count = static_cast<std::size_t>(r.vectors.rows() * r.vectors.cols());
  const std::span<const T> bits(r.vectors.data(), count), bits_again(again.vectors.data(), count);
  CHECK(std::equal(bits.begin(), bits.end(), bits_again.begin()));
}

}  // namespace

TEST_CASE("a placed view says where it is and refuses to be elsewhere", "[device]") {
  Matrix<double> here(6, 4);
  const PlacedView<double> on_host = here.view();
  CHECK(on_host.space() == Space::host);
  CHECK(on_host.cols(1, 2).host().data() == here.data() + 1);
  CHECK_THROWS_AS(on_host.in<Space::device>(), Error);
}

TEST_CASE("a placed view on a device says so", "[device][cuda]") {
  const Context ctx = rehearsing_context();
  PlacedMatrix<double> there(ctx, Space::device, 6, 4);
  const PlacedView<const double> on_device = there.cview();
  CHECK(on_device.space() == Space::device);
  CHECK(on_device.cols(1, 2).ld() == 4);
  CHECK_THROWS_AS(on_device.host(), Error);
}

TEMPLATE_TEST_CASE("every operation on a tall matrix has kernels on a device", "[device][cuda]", double,
                   float) {
  using T = TestType;
  const Context ctx = rehearsing_context();
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
  const Context ctx = rehearsing_context();
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
  const Context ctx = rehearsing_context();
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
  const auto a = generators::laplacian({10, 10});
  const Context ctx = rehearsing_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  const solvers::Operator<double> op = solvers::CsrOperator<double>(a.view(), there.view());
  const auto taken = [&](bool spills) {
    const auto before = ctx.stream.rehearsal()->next_address;
    const solvers::KrylovFactorisation<double> basis(ctx, op, 48, 1, true, spills);
    return ctx.stream.rehearsal()->next_address - before;
  };
  CHECK(taken(false) >= 100 * 48 * sizeof(double));
  CHECK(taken(true) == 0);
}

TEST_CASE("an operator is applied where its operands are", "[device][cuda]") {
  const auto a = generators::laplacian({10, 10});
  const Context ctx = rehearsing_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  const solvers::Operator<double> op = solvers::CsrOperator<double>(a.view(), there.view());
  CHECK(op.space() == Space::device);
  CHECK(solvers::Operator<double>(solvers::CsrOperator<double>(a.view())).space() == Space::host);
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
  CsrMatrix<T> a;
  a.rows = a.cols = 9000;
  for (index_t i = 0; i < a.rows; ++i) {
    const index_t length = i % 1000 == 7 ? 513 + i : i % 9;
    for (index_t k = 0; k < length; ++k) {
      a.indices.push_back(static_cast<std::int32_t>((i + 2 * k) % a.rows));
      a.values.push_back(static_cast<T>(0.5 + static_cast<double>(k % 7)));
    }
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  const DeviceCsrMatrix<T> there(ctx.stream, a.view());
  for (const index_t q : {1, 3, 8, 40})
    for (const double beta : {0.0, -1.0}) {
      CAPTURE(q, beta);
      Matrix<T> x(a.rows, q), y(a.rows, q);
      solvers::fill_random<T>(ctx, 1, 2, x.view());
      solvers::fill_random<T>(ctx, 1, 3, y.view());
      PlacedMatrix<T> x_there(ctx, Space::device, a.rows, q), y_there(ctx, Space::device, a.rows, q);
      ortho::copy_block<T>(ctx, x.cview(), x_there.view());
      ortho::copy_block<T>(ctx, y.cview(), y_there.view());
      const solvers::Operator<T> op = solvers::CsrOperator<T>(a.view(), there.view());
      REQUIRE(op.update(ctx, 2, 0.75, x_there.cview(), beta, y_there.view()));
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

TEST_CASE("on a GPU a Krylov basis starts from the processor's random block", "[device][sanitize][gpu]") {
  const auto a = generators::laplacian({17, 13, 9});
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  solvers::KrylovFactorisation<double> here(Context{}, solvers::CsrOperator<double>(a.view()), 40, 3),
      basis(ctx, solvers::CsrOperator<double>(a.view(), there.view()), 40, 3);
  for (auto* each : {&here, &basis}) {
    each->start(HostView<const double>{}, 5);
    each->expand(), each->expand();
  }
  REQUIRE(basis.size() == 10);
  const double bound = 1e3 * test::eps<double> * here.norm();
  for (index_t i = 0; i < 10; ++i)
    for (index_t j = 0; j < 10; ++j) CHECK(std::abs(basis.h()(i, j) - here.h()(i, j)) < bound);

  basis.expand(),
      thick_restart(basis, ritz_of(basis), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14});  // F moves onto itself
  here.expand(), thick_restart(here, ritz_of(here), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14});
  basis.expand(), here.expand();
  const auto values = ritz_of(basis).values, expected = ritz_of(here).values;
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(values[i] - expected[i]) < bound);
}

TEST_CASE("on a GPU degenerate problems have the processor's answers", "[device][gpu]") {
  compare(generators::laplacian_copies(8, 100), Which::SA, 16);
  compare(generators::laplacian({20, 20, 20}), Which::SA, 20);
  compare(generators::laplacian({1000}, generators::Boundary::ring), Which::LA, 10);
  compare(generators::flux_ring(1000, 0.3), Which::SA, 10);
}

TEST_CASE("on a GPU a basis that spills gives the processor's answers", "[device][gpu]") {
  const auto a = generators::laplacian({30, 30, 30});
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  solvers::EigenOptions o;
  o.nev = 20, o.which = Which::SA, o.tol = 1e-9, o.spills = true;
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view(), there.view())};
  const auto r = solvers::solve_eigen<double>(ctx, problem, o);
  const auto again = solvers::solve_eigen<double>(ctx, problem, o);
  CAPTURE(r.reason);
  CHECK(r.verified);
  CHECK(r.orthogonality_loss < 1e-13);
  const auto exact = generators::laplacian_spectrum({30, 30, 30}).smallest(20);
  REQUIRE(r.values.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::abs(r.values[i] - exact[i]) < 1e-8 * r.norm);
  CHECK(r.values == again.values);
}

TEST_CASE("on a GPU a Chebyshev polynomial stands for the matrix", "[device][gpu]") {
  compare(generators::laplacian({30, 30, 30}), Which::SA, 20, solvers::Method::chebyshev);
  compare(generators::graphene(60, 60), Which::LA, 13, solvers::Method::chebyshev);  // no diagonal
}

TEST_CASE("on a GPU less precision finds the processor's set", "[device][gpu]") {
  const auto a = generators::laplacian({30, 30, 30});
  CsrMatrix<float> narrow{a.rows, a.cols, a.pointers, a.indices, {a.values.begin(), a.values.end()}};
  const Context ctx = device_context();
  const DeviceCsrMatrix<double> there(ctx.stream, a.view());
  const DeviceCsrMatrix<float> narrow_there(ctx.stream, narrow.view());
  solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view(), there.view())};
  problem.narrow = solvers::CsrOperator<float>(narrow.view(), narrow_there.view());
  const auto exact = generators::laplacian_spectrum({30, 30, 30}).smallest(20);
  for (const auto precision : {solvers::Precision::float32, solvers::Precision::mixed}) {
    solvers::EigenOptions o;
    o.nev = 20, o.which = Which::SA, o.precision = precision;
    o.tol = precision == solvers::Precision::mixed ? 1e-9 : 1e-5;
    const auto r = solvers::solve_eigen<double>(ctx, problem, o),
               again = solvers::solve_eigen<double>(ctx, problem, o);
    CAPTURE(r.reason, r.narrow_applications, r.operator_applications);
    CHECK(r.verified);
    CHECK(r.narrow_applications > 0);
    CHECK(r.values == again.values);
    REQUIRE(r.values.size() == exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i)
      CHECK(std::abs(r.values[i] - exact[i]) <= r.error_bounds[i]);
  }
}

TEST_CASE("on a GPU a dense matrix is solved by blocks", "[device][gpu]") {
  const index_t n = 700;
  auto a = Matrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = static_cast<double>(i / 3);
  const Context ctx = device_context();
  DeviceMatrix<double> there(ctx.stream, n, n);
  copy(ctx.stream, there.view(), a.cview());
  const auto r = solve<double>(ctx, solvers::DenseOperator<double>(a.cview(), there.cview()), Which::LA, 7);
  CHECK(r.verified);
  REQUIRE(r.values.size() == 7);
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(std::abs(r.values[i] - a(n - 1 - static_cast<index_t>(i), n - 1 - static_cast<index_t>(i))) < 1e-6);
}
