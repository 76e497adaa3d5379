#include <algorithm>
#include <numeric>
#include <span>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::app::tssolve {

namespace {

/// The problem and, where it is asked for, the means that were subtracted: from a dense matrix in place, from
/// a sparse one as a correction of every product.
template <class T>
solvers::SvdProblem<T> problem_of(const Context& ctx, AnyMatrix<T>& matrix, bool centre, std::vector<T>& means) {
  if (auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    auto a = solvers::rectangular<T>(sparse->view());
    if (!centre) return {std::move(a), {}, sparse->view()};
    means = solvers::column_means<T>(ctx, a);
    return {solvers::centred<T>(std::move(a), means)};
  }
  auto& dense = std::get<Matrix<T>>(matrix);
  auto a = solvers::rectangular<T>(dense.cview());
  if (centre) {
    means = solvers::column_means<T>(ctx, a);
    parallel_for(ctx.thread_count(), dense.rows(), [&](index_t i) {
      for (index_t j = 0; j < dense.cols(); ++j) dense(i, j) -= means[at(j)];
    });
  }
  return {std::move(a), dense.cview()};
}

/// The share of the variance that each component explains. A dense matrix has been centred by now; of a
/// sparse one sum |a_ij - mu_j|^2 = sum |a_ij|^2 - m sum |mu_j|^2.
template <class T>
std::vector<double> explained(const Context& ctx, const AnyMatrix<T>& matrix, const std::vector<T>& means,
                              const std::vector<double>& sigma) {
  constexpr index_t piece = 1 << 16;  // summed by itself, so that the sum does not depend on the number of threads
  const std::span<const T> entries = solvers::entries_of(matrix);
  const auto count = static_cast<index_t>(entries.size());
  std::vector<double> sums(at((count + piece - 1) / piece));
  parallel_for(ctx.thread_count(), static_cast<index_t>(sums.size()), [&](index_t p) {
    for (const T& x : entries.subspan(at(p * piece), at(std::min(piece, count - p * piece))))
      sums[at(p)] += std::norm(x);
  });
  double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix))
    for (const T& mu : means) total -= static_cast<double>(sparse->rows) * std::norm(mu);
  std::vector<double> share;
  share.reserve(sigma.size());
  for (const double s : sigma) share.push_back(total > 0 ? std::min(1.0, s * s / total) : 0);
  return share;
}

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  const std::size_t element_bytes = is_complex_type(d) ? 16 : 8;
  run.plan.what = "singular values of " + d.where.text();
  run.plan.eigen = solvers::plan_eigen(std::min(d.rows, d.cols), element_bytes, run.settings.eigen);
  run.plan.memory = solvers::plan_svd_memory(
      run.plan.eigen, {.rows = std::max(d.rows, d.cols), .element_bytes = element_bytes, .matrix_bytes = d.bytes});
  run.plan.host_bytes = available_memory();
}

Loaded read(Run& run) {
  RunFacts& facts = run.facts;
  facts.method = "eigenvectors of A^H A";
  facts.block_size = run.plan.eigen.block_size, facts.max_basis = run.plan.eigen.max_basis;
  facts.quantity = "singular value", facts.vectors = "right_singular_vectors";
  run.console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " + grouped(facts.input.cols) +
                   "; singular values");
  const EndsOnSignal reading;
  Loaded loaded{read_any(facts.input, run.settings.read), {}};
  facts.type = is_complex_input(loaded.matrix) ? "complex128" : "float64";
  return loaded;
}

void show(Run& run) {
  std::string factors;
  if (run.settings.eigen.which == solvers::Which::SM &&
      run.facts.input.nonzeros < run.facts.input.rows * run.facts.input.cols) {
    Loaded loaded = read(run);
    factors = std::visit(
        [&run]<class T>(AnyMatrix<T>& a) {
          std::vector<T> means;
          const auto problem = problem_of<T>(run.ctx, a, run.settings.centre, means);
          const auto estimate = solvers::estimate_svd_factors<T>(run.ctx, problem, run.settings.eigen);
          return estimate ? add_factors(run, estimate, "[delta I, A; A^H, -delta I]") : std::string();
        },
        loaded.matrix.matrix);
  }
  const io::Description& d = run.facts.input;
  std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols) << ", singular values\nmemory:\n";
  print_memory(std::cout, run.plan.memory.shares, run.plan.host_bytes);
  if (!factors.empty()) std::cout << "factors " << factors << '\n';
}

template <class T>
class Svd {
 public:
  static constexpr bool ends_when_dense = false;  // it may be one step of several
  static std::string progress_text(const solvers::Progress& p) {
    return grouped(p.converged) + " of " + grouped(p.wanted) + " triplets";
  }

  Svd(Run& run, AnyMatrix<T>& matrix) : run_(run), matrix_(matrix) {}

  int scale() { return exponent_ = solvers::take_exponent(matrix_); }

  void prepare(const solvers::EigenOptions&) {
    problem_ = problem_of<T>(run_.ctx, matrix_, run_.settings.centre, means_);
  }

  solvers::SvdResult<T> solve(const solvers::EigenOptions& options) {
    return solvers::solve_svd<T>(run_.ctx, problem_, options);
  }

  solvers::EigenResult<T>& complete(const solvers::EigenOptions&, solvers::SvdResult<T>& result) {
    std::string& method = run_.facts.method;
    if (result.stage == solvers::SvdStage::whole) method = "decomposition of the whole matrix";
    if (result.stage == solvers::SvdStage::triangular) method = "triangular factor";
    if (result.stage == solvers::SvdStage::deflated)
      method = "eigenvectors of A^H A, large ones taken out for the small";
    if (result.stage == solvers::SvdStage::inverse)
      method = "block Lanczos on (A^H A + delta^2 I)^-1, by factors of [delta I, A; A^H, -delta I]";
    left_ = std::move(result.left);
    extras_ = {{"left_singular_vectors", &left_}};
    if (run_.settings.centre) {
      mean_row_ = Matrix<T>(1, static_cast<index_t>(means_.size()));
      for (index_t j = 0; j < mean_row_.cols(); ++j) mean_row_(0, j) = solvers::scaled(means_[at(j)], exponent_);
      extras_.emplace_back("column_means", &mean_row_);
      extras_.emplace_back("explained_variance_ratio", explained<T>(run_.ctx, matrix_, means_, result.triplets.values));
    }
    return result.triplets;
  }

  std::string write(const solvers::EigenResult<T>& triplets) {
    return write_file(triplets, run_.settings, run_.facts, extras_);
  }

 private:
  Run& run_;
  AnyMatrix<T>& matrix_;
  int exponent_ = 0;
  std::vector<T> means_;
  solvers::SvdProblem<T> problem_;
  Matrix<T> left_, mean_row_;
  Extras<T> extras_;
};

int solve(Run& run, Loaded& loaded) {
  return std::visit([&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, Svd<T>(run, matrix)); },
                    loaded.matrix.matrix);
}

}  // namespace

const Kind singular_values{true, plan_run, show, read, solve};

}  // namespace ts::app::tssolve
