#include "tallskinny/solvers/driver/svd.hpp"

#include <algorithm>
#include <numeric>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Subtracts the mean of each column in place, and returns the means.
template <class T>
std::vector<T> centre_columns(const Context& ctx, Matrix<T>& dense) {
  std::vector<T> means = column_means<T>(ctx, rectangular<T>(dense.cview()));
  parallel_for(ctx.thread_count(), dense.rows(), [&](index_t i) {
    for (index_t j = 0; j < dense.cols(); ++j) dense(i, j) -= means[at(j)];
  });
  return means;
}

/// ||A||_F^2. A dense matrix has been centred by now; of a sparse one
/// sum |a_ij - mu_j|^2 = sum |a_ij|^2 - m sum |mu_j|^2.
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

/// The products with a matrix, and with its copy on a device.
template <class T>
SvdProblem<T> problem_of(const Context& ctx, const AnyView<T>& matrix, DeviceCopy<T>& there) {
  if (ctx.stream) there = copy_to<T>(ctx.stream, matrix);
  if (const CsrView<T>* sparse = matrix.sparse()) {
    CsrView<T, Space::device> on_device{};
    if (auto* const copied = std::get_if<DeviceCsrMatrix<T>>(&there)) {
      copied->keep_transposed(ctx.stream, *sparse);  // for products with A^H
      on_device = copied->view();
    }
    return {rectangular<T>(*sparse, on_device), {}, *sparse};
  }
  DeviceView<const T> on_device{};
  if (const auto* const copied = std::get_if<DeviceMatrix<T>>(&there)) on_device = copied->cview();
  return {rectangular<T>(matrix.dense(), on_device), matrix.dense()};
}

}  // namespace

template <class T>
SvdRun<T>::SvdRun(const Context& ctx, Borrowed<T>& a, bool centre, std::string name)
    : ctx_(ctx), name_(std::move(name)), exponent_(a.take_exponent(ctx)) {
  const bool sparse = a.view().sparse() != nullptr;
  if (centre) centred_.emplace();
  if (centre && !sparse)
    a.change([&](AnyMatrix<T>& own) { centred_->means = centre_columns<T>(ctx, std::get<Matrix<T>>(own)); });
  problem_ = problem_of<T>(ctx, a.view(), there_);
  if (!centre) return;
  if (sparse) {
    centred_->means = column_means<T>(ctx, problem_.a);
    problem_ = {centred<T>(ctx, std::move(problem_.a), centred_->means)};
  }
  centred_->squares = [this, view = a.view()] { return squares_of<T>(ctx_, view, centred_->means); };
}

template <class T>
SvdRun<T>::SvdRun(const Context& ctx, StreamedMatrix a, bool centre) requires std::is_same_v<T, double> : ctx_(ctx) {
  if (centre) {
    a.centre(ctx);
    centred_ = Centred<double>{a.means(), [a] { return a.squares(); }};
  }
  problem_ = {a.products()};
}

template <class T>
SvdsResult<T> SvdRun<T>::solve(EigenOptions options) const {
  expects_place_of_results(ctx_, options);
  options = scaled(options, -exponent_);
  options.which = seeks_smallest(options.which) ? Which::SM : Which::LA;
  SvdsResult<T> out{solve_svd<T>(ctx_, problem_, options), {}, {}, {}};
  auto& triplets = out.triplets;
  double norm = triplets.norm;
  for (const double sigma : triplets.values) norm = std::max(norm, sigma);
  out.backward_errors.reserve(triplets.values.size());
  for (const double r : triplets.residual_norms) out.backward_errors.push_back(r > 0 ? r / norm : 0);
  if (centred_) {
    const double squares = centred_->squares();
    for (const double s : triplets.values)
      out.explained_variance_ratio.push_back(squares > 0 ? std::min(1.0, s * s / squares) : 0);
    for (const T& mean : centred_->means) out.means.push_back(scaled(mean, exponent_));
  }
  if (exponent_ != 0) scale_result(triplets, exponent_, name_);
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, SvdRun)

}  // namespace ts::inline v0::solvers
