#include "tallskinny/solvers/setup/svd_problem.hpp"

#include <algorithm>
#include <numeric>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0::solvers {

template <class T>
std::vector<T> centre_columns(const Context& ctx, Matrix<T>& dense) {
  std::vector<T> means = column_means<T>(ctx, rectangular<T>(dense.cview()));
  parallel_for(ctx.thread_count(), dense.rows(), [&](index_t i) {
    for (index_t j = 0; j < dense.cols(); ++j) dense(i, j) -= means[at(j)];
  });
  return means;
}

template <class T>
SvdAssembled<T> assemble_svd(const Context& ctx, const AnyView<T>& matrix, bool centre) {
  SvdAssembled<T> out;
  if (const CsrView<T>* sparse = matrix.sparse()) {
    CsrView<T, Space::device> on_device{};
    if (ctx.stream) {
      auto& copied = out.there.template emplace<DeviceCsrMatrix<T>>(ctx.stream, *sparse);
      copied.keep_transposed(ctx.stream, *sparse);  // for products with A^H
      on_device = copied.view();
    }
    auto a = rectangular<T>(*sparse, on_device);
    if (!centre) {
      out.problem = {std::move(a), {}, *sparse};
    } else {
      out.means = column_means<T>(ctx, a);
      out.problem = {centred<T>(ctx, std::move(a), out.means)};
    }
    return out;
  }
  expects(!centre, "assemble_svd() takes a dense matrix whose columns centre_columns() has centred");
  const HostView<const T> dense = matrix.dense();
  DeviceView<const T> on_device{};
  if (ctx.stream) {
    out.there = copy_to<T>(ctx.stream, matrix);
    on_device = std::get<DeviceMatrix<T>>(out.there).cview();
  }
  out.problem = {rectangular<T>(dense, on_device), dense};
  return out;
}

template <class T>
double squares_of(const Context& ctx, const AnyView<T>& matrix, const std::vector<T>& means) {
  constexpr index_t piece = 1 << 16;  // summed by itself, so that the sum does not depend on the number of threads
  const CsrView<T>* sparse = matrix.sparse();
  const index_t width = matrix.cols();
  const index_t count = sparse != nullptr ? sparse->nonzeros() : matrix.rows() * width;
  const HostView<const T> dense = sparse != nullptr ? HostView<const T>() : matrix.dense();
  const T* const flat = sparse != nullptr ? sparse->values : dense.ld() == width ? dense.data() : nullptr;
  const auto entry = [&](index_t e) { return flat != nullptr ? flat[e] : dense(e / width, e % width); };
  std::vector<double> sums(at((count + piece - 1) / piece));
  parallel_for(ctx.thread_count(), static_cast<index_t>(sums.size()), [&](index_t p) {
    for (index_t e = p * piece; e < std::min(count, (p + 1) * piece); ++e) sums[at(p)] += std::norm(entry(e));
  });
  double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (sparse != nullptr)
    for (const T& mu : means) total -= static_cast<double>(sparse->rows) * std::norm(mu);
  return total;
}

std::vector<double> variance_ratios(const std::vector<double>& sigma, double squares) {
  std::vector<double> share;
  share.reserve(sigma.size());
  for (const double s : sigma) share.push_back(squares > 0 ? std::min(1.0, s * s / squares) : 0);
  return share;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, centre_columns)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, assemble_svd)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, squares_of)

}  // namespace ts::inline v0::solvers
