#include "tallskinny/solvers/driver/svds.hpp"

#include <algorithm>
#include <memory>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"
#include "tallskinny/solvers/setup/scale.hpp"
#include "tallskinny/solvers/setup/streamed_matrix.hpp"
#include "tallskinny/solvers/setup/svd_problem.hpp"

namespace ts::inline v0::solvers {

namespace {

EigenOptions svd_options(const SvdsOptions& o, index_t k, int exponent) {
  EigenOptions options = scaled(static_cast<const EigenOptions&>(o), -exponent);
  options.nev = k;
  options.which = o.which == Which::SM || o.which == Which::SA ? Which::SM : Which::LA;
  return options;
}

template <class T>
SvdsResult<T> solved(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options) {
  expects_place_of_results(ctx, options);
  SvdsResult<T> out;
  static_cast<SvdResult<T>&>(out) = solve_svd<T>(ctx, problem, options);
  const auto& triplets = out.triplets;
  const double largest =
      triplets.values.empty() ? 0 : *std::max_element(triplets.values.begin(), triplets.values.end());
  const double norm = std::max(triplets.norm, largest);
  out.backward_errors.reserve(triplets.values.size());
  for (const double r : triplets.residual_norms) out.backward_errors.push_back(r > 0 ? r / norm : 0);
  return out;
}

}  // namespace

template <class T>
SvdsResult<T> driver::svds(const Context& ctx, const Borrowed<T>& borrowed, index_t k, const SvdsOptions& o) {
  const UseHostMemory use(ctx.host_memory);
  AnyView<T> a = borrowed.view();
  expects_one_rank(ctx, "svds()");
  expect_finite<T>("the matrix given to svds()", a);
  AnyMatrix<T> own;
  const int exponent = take_exponent<T>(ctx, a, own);
  std::vector<T> means;
  if (o.centre && a.sparse() == nullptr) {
    if (exponent == 0) own = owned(a);
    means = centre_columns<T>(ctx, std::get<Matrix<T>>(own));
    a = AnyView<T>(own);
  }
  auto assembled = assemble_svd<T>(ctx, a, o.centre && a.sparse() != nullptr);
  if (a.sparse() != nullptr) means = std::move(assembled.means);
  auto out = solved<T>(ctx, assembled.problem, svd_options(o, k, exponent));
  if (o.centre) {
    out.explained_variance_ratio = variance_ratios(out.triplets.values, squares_of<T>(ctx, a, means));
    for (T& mean : means) mean = scaled(mean, exponent);
    out.means = std::move(means);
  }
  if (exponent != 0) scale_result(out.triplets, exponent, "the matrix given to svds()");
  return out;
}

namespace {

/// A matrix with many more rows than columns, few enough that A^H A is formed.
bool is_tall_and_narrow(const Rows& a) {
  constexpr index_t tall = 16, most_columns = 4096;
  return a.cols() > 0 && a.cols() <= most_columns && a.rows() >= tall * a.cols();
}

bool seeks_smallest(const SvdsOptions& o) { return o.which == Which::SM || o.which == Which::SA; }

/// Elements as they lie, of rows or of columns: for what does not depend on which.
HostView<const double> lines_of(const Rows& a) {
  const auto* const data = static_cast<const double*>(a.values());
  return a.col_stride() == 1 ? HostView<const double>(data, a.rows(), a.cols(), a.row_stride())
                             : HostView<const double>(data, a.cols(), a.rows(), a.col_stride());
}

}  // namespace

std::optional<SvdsResult<double>> driver::svds_by_blocks(const Context& ctx, const Rows& a, index_t k,
                                                         const SvdsOptions& o) {
  const bool as_it_lies = a.type() == DType::float64 && a.col_stride() == 1 && !o.centre;
  if (as_it_lies || seeks_smallest(o) || ctx.stream || !is_tall_and_narrow(a)) return std::nullopt;
  // Numbers of narrower types need no scaling in float64.
  if (a.type() == DType::float64 && extreme_exponent<double>(ctx, lines_of(a)) != 0) return std::nullopt;
  expects_one_rank(ctx, "svds()");
  constexpr std::uint64_t least_block = std::uint64_t{4} << 20, most_block = std::uint64_t{64} << 20, blocks = 128;
  const auto bytes = static_cast<std::uint64_t>(a.rows()) * static_cast<std::uint64_t>(a.cols()) * sizeof(double);
  StreamedMatrix matrix(std::make_shared<const StreamedRows>(RowOrigin::in_float64(ctx, a),
                                                             std::clamp(bytes / blocks, least_block, most_block)));
  if (o.centre) matrix.centre(ctx);
  auto out = solved<double>(ctx, {matrix.products()}, svd_options(o, k, 0));
  if (o.centre) {
    out.explained_variance_ratio = variance_ratios(out.triplets.values, matrix.squares());
    out.means = matrix.means();
  }
  return out;
}

std::optional<SvdsResult<double>> driver::svds_on_device(const Context& ctx, const Rows& a, index_t k,
                                                         const SvdsOptions& o) {
  const bool known = a.type() == DType::float64 || a.type() == DType::float32;
  if (!a.on_device() || !known || a.col_stride() != 1 || seeks_smallest(o) || !is_tall_and_narrow(a))
    return std::nullopt;
  const UseHostMemory use(ctx.host_memory);
  expects_one_rank(ctx, "svds()");
  const index_t m = a.rows(), n = a.cols();
  PlacedMatrix<double> own;  // in float64, or centred
  PlacedView<const double> there;
  if (a.type() == DType::float32) {
    const auto* const data = static_cast<const float*>(a.values());
    own = cast<double, float>(ctx, DeviceView<const float>(data, m, n, a.row_stride())), there = own.cview();
  } else {
    there = DeviceView<const double>(static_cast<const double*>(a.values()), m, n, a.row_stride());
  }
  const auto product = [&] {
    return rectangular<double>(HostView<const double>::unchecked(nullptr, m, n, n), there.in<Space::device>());
  };
  std::vector<double> means;
  if (o.centre) {
    if (own.rows() == 0)
      own = PlacedMatrix<double>(ctx, Space::device, m, n), copy_block<double>(ctx, there, own.view());
    there = own.cview(), means = column_means<double>(ctx, product());
    const auto ones = column_of_ones<double>(ctx, Space::device, m);
    ortho::Tall<double>(ctx).subtract(ones.cview(), HostView<const double>(means.data(), 1, n), own.view());
  }
  Rectangular<double> matrix = product();
  Matrix<double> g(n, n);
  matrix.gram(ctx, g.view());
  double squares = 0;
  for (index_t j = 0; j < n; ++j) squares += g(j, j);
  constexpr double safely = 0x1p400;  // their squares have digits to spare; NaN is found on the host, by its place
  if (!(squares < safely && squares > 1 / safely)) return std::nullopt;
  matrix.gram = [&g](const Context& host, HostView<double> to) { copy_block<double>(host, g.cview(), to); };
  auto out = solved<double>(ctx, {std::move(matrix)}, svd_options(o, k, 0));
  if (o.centre) {
    out.explained_variance_ratio = variance_ratios(out.triplets.values, squares);
    out.means = std::move(means);
  }
  return out;
}

template <class T>
SvdsResult<T> svds(const Context& ctx, const Rectangular<T>& a, index_t k, const SvdsOptions& o) {
  const UseHostMemory use(ctx.host_memory);
  expects(!o.centre, "`centre` of svds() is for matrices in memory: centred() is for products");
  return solved<T>(ctx, SvdProblem<T>{a}, svd_options(o, k, 0));
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::svds)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, svds)

}  // namespace ts::inline v0::solvers
