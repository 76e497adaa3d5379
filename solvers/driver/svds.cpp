#include "tallskinny/solvers/driver/svds.hpp"

#include <algorithm>
#include <memory>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/driver/svd.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr const char* matrix_of_svds = "the matrix given to svds()";

/// Elements as they lie, of rows or of columns: for what does not depend on which.
HostView<const double> lines_of(const Rows& a) {
  const auto* const data = static_cast<const double*>(a.values());
  return a.col_stride() == 1 ? HostView<const double>(data, a.rows(), a.cols(), a.row_stride())
                             : HostView<const double>(data, a.cols(), a.rows(), a.col_stride());
}

}  // namespace

template <class T>
SvdsResult<T> driver::svds(const Context& ctx, Borrowed<T>&& a, index_t k, const SvdsOptions& o) {
  const UseHostMemory use(ctx.host_memory);
  expects_one_rank(ctx, "svds()");
  expect_finite<T>(matrix_of_svds, a.view());
  return SvdRun<T>(ctx, a, o.centre, matrix_of_svds).solve(options_for(o, k));
}

std::optional<SvdsResult<double>> driver::svds_by_blocks(const Context& ctx, const Rows& a, index_t k,
                                                         const SvdsOptions& o) {
  const bool as_it_lies = a.type() == DType::float64 && a.col_stride() == 1 && !o.centre;
  if (as_it_lies || seeks_smallest(o.which) || ctx.stream || !is_tall_and_narrow(a.rows(), a.cols()))
    return std::nullopt;
  // Numbers of narrower types need no scaling in float64.
  if (a.type() == DType::float64 && extreme_exponent<double>(ctx, lines_of(a)) != 0) return std::nullopt;
  expects_one_rank(ctx, "svds()");
  constexpr std::uint64_t least_block = std::uint64_t{4} << 20, most_block = std::uint64_t{64} << 20, blocks = 128;
  const auto bytes = static_cast<std::uint64_t>(a.rows()) * static_cast<std::uint64_t>(a.cols()) * sizeof(double);
  const StreamedMatrix matrix(std::make_shared<const StreamedRows>(
      RowOrigin::in_float64(ctx, a), std::clamp(bytes / blocks, least_block, most_block)));
  return SvdRun<double>(ctx, matrix, o.centre).solve(options_for(o, k));
}

std::optional<SvdsResult<double>> driver::svds_on_device(const Context& ctx, const Rows& a, index_t k,
                                                         const SvdsOptions& o) {
  const bool known = a.type() == DType::float64 || a.type() == DType::float32;
  if (!a.on_device() || !known || a.col_stride() != 1 || seeks_smallest(o.which) ||
      !is_tall_and_narrow(a.rows(), a.cols()))
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
  std::optional<Centred<double>> centred;
  if (o.centre) centred = Centred<double>{std::move(means), [squares] { return squares; }};
  return SvdRun<double>(ctx, {std::move(matrix)}, std::move(centred)).solve(options_for(o, k));
}

template <class T>
SvdsResult<T> svds(const Context& ctx, const Rectangular<T>& a, index_t k, const SvdsOptions& o) {
  const UseHostMemory use(ctx.host_memory);
  expects(!o.centre, "`centre` of svds() is for matrices in memory: centred() is for products");
  return SvdRun<T>(ctx, {a}).solve(options_for(o, k));
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::svds)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, svds)

}  // namespace ts::inline v0::solvers
