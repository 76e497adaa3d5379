// Whole spectra by each body of DenseSolver, of numbers in each precision.
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/tests/solvers/svd/known.hpp"
#include "tallskinny/tests/support/device.hpp"

using solvers::DenseSolver, solvers::DenseTask;
using Complex = std::complex<double>;

namespace {

/// Numbers of T, as a solver is given them.
template <class T>
Matrix<wide_t<T>> random(index_t m, index_t n, std::uint64_t stream = 0) {
  Matrix<T> narrow(m, n);
  solvers::fill_random<T>(Context{}, 7, stream, narrow.view());
  return matrix_of<wide_t<T>>(m, n, [&](auto i, auto j) { return static_cast<wide_t<T>>(narrow(i, j)); });
}

template <class T>
Matrix<wide_t<T>> random_hermitian(index_t n) {
  auto a = random<T>(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) {
      if (i == j) a(i, i) = std::real(a(i, i));
      a(j, i) = conjugate(a(i, j));
    }
  return a;
}

/// max |A X - Y diag(values)|
template <class T, class X, class Values>
double worst_residual(const Matrix<T>& a, const Matrix<X>& x, const Matrix<X>& y, const Values& values) {
  return largest_of(a.rows(), x.cols(), [&](index_t i, index_t j) {
    X sum = -y(i, j) * values[at(j)];
    for (index_t l = 0; l < a.cols(); ++l) sum += a(i, l) * x(l, j);
    return std::abs(sum);
  });
}

/// Error allowed in a decomposition of numbers of norm about sqrt(n).
double allowed_for(index_t n) { return allowed::long_sum * std::sqrt(static_cast<double>(n)); }

/// A few of n numbers, in no order.
std::vector<index_t> some_of(index_t n) {
  std::vector<index_t> few{n - 1};
  if (n > 1) few.push_back(0);
  if (n > 40) few.insert(few.end(), {n / 2, n / 2 + 1, n / 3});
  return few;
}
std::vector<index_t> all_of(index_t n) {
  std::vector<index_t> all(at(n));
  std::iota(all.begin(), all.end(), index_t{0});
  return all;
}

template <class T>
void check_hermitian(const DenseSolver<T>& solver, const Context& ctx, const Matrix<T>& a) {
  const index_t n = a.rows();
  for (const auto& chosen : {all_of(n), some_of(n)}) {
    const auto choose = [&](const std::vector<double>&) { return chosen; };
    const auto [pairs, by] = solver.hermitian(ctx, a.cview(), static_cast<index_t>(chosen.size()), choose);
    CAPTURE(n, by, chosen.size());
    CHECK(by == solver.by(DenseTask::hermitian, n, n));
    const auto exact = solvers::dense_solver<T>({}, Space::host, DenseTask::hermitian)
                           ->hermitian(Context{}, a.cview(), n, [n](const auto&) { return all_of(n); })
                           .parts.values;
    REQUIRE(pairs.values.size() == exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(pairs.values[i] - exact[i]) < allowed_for(n));
    CHECK(pairs.chosen == chosen);
    std::vector<double> values;
    for (const index_t i : chosen) values.push_back(pairs.values[at(i)]);
    CHECK(worst_residual(a, pairs.vectors, pairs.vectors, values) < allowed_for(n));
    CHECK(ortho::loss_of_orthogonality<T>(Context{}, pairs.vectors.cview()) < allowed::long_sum);
  }
}

template <class T>
void check_general(const DenseSolver<T>& solver, const Context& ctx, const Matrix<T>& a) {
  const index_t n = a.rows();
  const auto choose = [](const solvers::WholeSpectrum& all) {  // the last units and the first
    std::vector<index_t> chosen;
    const auto count = static_cast<index_t>(all.values.size());
    for (index_t i = count - all.units.back(); i < count; ++i) chosen.push_back(i);
    for (index_t i = 0, u = 0; u < 3 && u + 1 < static_cast<index_t>(all.units.size()); ++u)
      for (const index_t end = i + all.units[at(u)]; i < end; ++i) chosen.push_back(i);
    return chosen;
  };
  const auto [found, by] = solver.general(ctx, a.cview(), choose);
  const auto exact =
      solvers::dense_solver<T>({}, Space::host, DenseTask::general)->general(Context{}, a.cview(), choose).parts;
  CAPTURE(n, by);
  CHECK(by == solver.by(DenseTask::general, n, n));
  REQUIRE(found.all.values.size() == at(n));
  CHECK(std::accumulate(found.all.units.begin(), found.all.units.end(), index_t{0}) == n);
  std::vector<Complex> values;
  for (const index_t i : found.chosen) values.push_back(found.all.values[at(i)]);
  CHECK(worst_residual(a, found.pairs.vectors, found.pairs.vectors, values) < allowed_for(n));
  std::vector<index_t> there;
  for (const Complex z : found.all.values) {  // each has its own among the others
    const auto off = [z](Complex w) { return std::abs(z - w); };
    const auto& all = exact.all.values;
    const auto nearest = std::min_element(all.begin(), all.end(), [&](auto v, auto w) { return off(v) < off(w); });
    CHECK(off(*nearest) < allowed::many_steps * static_cast<double>(n));
    there.push_back(nearest - all.begin());
  }
  std::sort(there.begin(), there.end());
  CHECK(there == all_of(n));
  for (std::size_t c = 0; c < found.chosen.size(); ++c) {
    double squares = 0;
    for (index_t i = 0; i < n; ++i) squares += std::norm(found.pairs.vectors(i, static_cast<index_t>(c)));
    CHECK(std::abs(squares - 1) < allowed::long_sum);
    CHECK(found.pairs.conditions[c] >= 1 - allowed::long_sum);
    for (std::size_t d = 0; d < exact.chosen.size(); ++d)
      if (std::abs(exact.all.values[at(exact.chosen[d])] - values[c]) < allowed::tight_run)
        CHECK(std::abs(found.pairs.conditions[c] / exact.pairs.conditions[d] - 1) < allowed::tight_run);
  }
}

template <class T>
void check_singular(const DenseSolver<T>& solver, const Context& ctx, const Matrix<T>& a) {
  const index_t least = std::min(a.rows(), a.cols());
  const auto [found, by] = solver.singular(ctx, a.cview());
  const auto exact = ortho::svd<T>(a.cview());
  CAPTURE(a.rows(), a.cols(), by);
  CHECK(by == solver.by(DenseTask::singular, a.rows(), a.cols()));
  REQUIRE(found.values.size() == at(least));
  for (index_t j = 0; j < least; ++j) CHECK(std::abs(found.values[at(j)] - exact.values[at(j)]) < allowed_for(least));
  CHECK(worst_residual(a, found.v, found.u, found.values) < allowed_for(least));
  CHECK(ortho::loss_of_orthogonality<T>(Context{}, found.u.cview()) < allowed::long_sum);
  CHECK(ortho::loss_of_orthogonality<T>(Context{}, found.v.cview()) < allowed::long_sum);
}

/// All tasks on numbers of type T, in this place.
template <class T>
void check_all(const Context& ctx, Space space) {
  using W = wide_t<T>;
  const auto solver = [&](DenseTask task) { return solvers::dense_solver<W>(ctx.stream, space, task); };
  for (const index_t n : {1, 2, 50, 300}) {
    check_hermitian<W>(*solver(DenseTask::hermitian), ctx, random_hermitian<T>(n));
    check_general<W>(*solver(DenseTask::general), ctx, random<T>(n, n));
    check_singular<W>(*solver(DenseTask::singular), ctx, random<T>(n, n));
  }
  check_singular<W>(*solver(DenseTask::singular), ctx, random<T>(170, 140));
  check_singular<W>(*solver(DenseTask::singular), ctx, random<T>(140, 170));
}

}  // namespace

TEMPLATE_TEST_CASE("decompositions of dense matrices on the processor", "", double, Complex, float,
                   std::complex<float>) {
  check_all<TestType>(Context{}, Space::host);
}

TEMPLATE_TEST_CASE("decompositions of dense matrices on a GPU agree with the processor's", "[gpu]", double, Complex,
                   float, std::complex<float>) {
  check_all<TestType>(device_context(), Space::device);
}

TEST_CASE("who decomposes: LAPACK large matrices, Eigen small ones, the processor where there is no device") {
  std::vector<Context> contexts(1);
  if (cuda::built()) contexts.push_back(rehearsing_context(cuda::typical_device("sm_90a")));
  const std::string lapack = lapack_name();
  for (const Context& ctx : contexts)
    for (const Space space : {Space::host, Space::device}) {
      const auto solver = solvers::dense_solver<double>(ctx.stream, space, DenseTask::hermitian);
      CHECK(solver->by(DenseTask::hermitian, 129, 129) == (lapack.empty() ? "Eigen" : lapack));
      CHECK(solver->by(DenseTask::hermitian, 128, 128) == "Eigen");
      CHECK(solver->by(DenseTask::general, 128, 128) == "the Schur form, Eigen");
      CHECK(solver->bytes(DenseTask::hermitian, 1000, 1000).device == 0);
      CHECK(solver->bytes(DenseTask::hermitian, 1000, 1000).host >= 8'000'000);
    }
  CHECK((lapack.empty() || lapack.starts_with("LAPACK")));
}

TEST_CASE("cuSOLVER decomposes where it is found, and tells of its memory", "[gpu]") {
  const auto& stream = device_stream();
  for (const auto task : {DenseTask::hermitian, DenseTask::general, DenseTask::singular}) {
    const auto solver = solvers::dense_solver<double>(stream, Space::device, task);
    const std::string by = solver->by(task, 300, 200), name = stream.device().name;
    if (!solvers::has_cusolver(task)) {
      WARN("cuSOLVER is not found: " << by << " decomposes");
      CHECK_FALSE(mentions(by, "cuSOLVER"));
      continue;
    }
    CHECK(by.starts_with("cuSOLVER 1"));
    CHECK(by.ends_with(" on " + name));
    const auto small = solver->bytes(task, 300, 300), large = solver->bytes(task, 3000, 3000);
    CHECK(small.device >= 300 * 300 * 8);
    CHECK(large.device >= 3000 * 3000 * 8);
    CHECK(large.host > small.host);
  }
}

TEST_CASE("numbers whose squares overflow are the processor's", "[gpu]") {
  auto a = random_hermitian<double>(140);
  for (index_t i = 0; i < 140; ++i)
    for (index_t j = 0; j < 140; ++j) a(i, j) *= 0x1p600;
  const auto solver = solvers::dense_solver<double>(device_stream(), Space::device, DenseTask::hermitian);
  const auto [pairs, by] =
      solver->hermitian(device_context(), a.cview(), 1, [](const auto&) { return std::vector<index_t>{0}; });
  CHECK_FALSE(mentions(by, "cuSOLVER"));
  CHECK(std::isfinite(pairs.values.back()));
}

TEST_CASE("a singular matrix and one that cannot be diagonalised on a GPU", "[gpu]") {
  const Context ctx = device_context();
  std::vector<double> sigma(150);
  for (std::size_t j = 0; j < 100; ++j) sigma[j] = 1 / (1.0 + static_cast<double>(j));  // 50 are zero
  check_singular<double>(*solvers::dense_solver<double>(ctx.stream, Space::device, DenseTask::singular), ctx,
                         with_singular_values<double>(200, 150, sigma));
  auto jordan = Matrix<double>::zeros(2, 2);
  jordan(0, 0) = jordan(1, 1) = 1, jordan(1, 0) = 1;
  const auto solver = solvers::dense_solver<double>(ctx.stream, Space::device, DenseTask::general);
  const auto found = solver->general(ctx, jordan.cview(), [](const auto&) { return std::vector<index_t>{0, 1}; }).parts;
  for (const double condition : found.pairs.conditions) CHECK(condition > 1 / allowed::default_run);
}
