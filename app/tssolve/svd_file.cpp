#include "tallskinny/app/tssolve/svd_file.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/html_report.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/solvers/setup/scale.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::app::tssolve {

namespace {

/// The problem and, where it is asked for, the means that were subtracted: from a dense matrix in place, from
/// a sparse one as a correction of every product.
template <class T>
solvers::SvdProblem<T> problem_of(const Context& ctx, AnyMatrix<T>& matrix, bool centre,
                                  std::vector<T>& means) {
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
    for (index_t i = 0; i < dense.rows(); ++i)
      for (index_t j = 0; j < dense.cols(); ++j) dense(i, j) -= means[static_cast<std::size_t>(j)];
  }
  return {std::move(a), dense.cview()};
}

/// The share of the variance that each component explains. A dense matrix has been centred by now; of a
/// sparse one sum |a_ij - mu_j|^2 = sum |a_ij|^2 - m sum |mu_j|^2.
template <class T>
std::vector<double> explained(const AnyMatrix<T>& matrix, const std::vector<T>& means,
                              const std::vector<double>& sigma) {
  double total = 0;
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    for (const T& x : sparse->values) total += std::norm(x);
    for (const T& mu : means) total -= static_cast<double>(sparse->rows) * std::norm(mu);
  } else {
    const auto& dense = std::get<Matrix<T>>(matrix);
    for (index_t i = 0; i < dense.rows() * dense.cols(); ++i) total += std::norm(dense.data()[i]);
  }
  std::vector<double> share;
  share.reserve(sigma.size());
  for (const double s : sigma) share.push_back(total > 0 ? std::min(1.0, s * s / total) : 0);
  return share;
}

template <class T>
int decompose(const Settings& settings, const Context& ctx, AnyMatrix<T>& matrix, RunFacts facts,
              Console& console) {
  std::optional<Profile::Use> profiled;
  if (facts.profile) profiled.emplace(*facts.profile);
  const auto start = std::chrono::steady_clock::now();
  const int exponent = solvers::extreme_exponent(matrix);
  if (exponent != 0) solvers::scale(matrix, -exponent);
  std::vector<T> means;
  const auto problem = problem_of<T>(ctx, matrix, settings.centre, means);
  auto options = settings.eigen;
  if (options.convergence == solvers::Convergence::abs) options.tol = std::ldexp(options.tol, -exponent);
  options.stop = [] { return stop_requested(); };
  options.progress = [&console](const solvers::Progress& p) {
    console.progress(p.phase == "verify" ? -1 : p.fraction,
                     grouped(p.converged) + " of " + grouped(p.wanted) + " triplets");
  };
  auto result = solvers::solve_svd<T>(ctx, problem, options);
  auto& triplets = result.triplets;
  if (result.stage == solvers::SvdStage::triangular) facts.method = "triangular factor";
  if (result.stage == solvers::SvdStage::deflated)
    facts.method = "eigenvectors of A^H A, large ones taken out for the small";
  if (result.stage == solvers::SvdStage::inverse)
    facts.method = "block Lanczos on (A^H A + delta^2 I)^-1, by factors of [delta I, A; A^H, -delta I]";
  if (exponent != 0) solvers::scale_result(triplets, exponent, facts.input.where.text());
  facts.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Matrix<T> mean_row(settings.centre ? 1 : 0, static_cast<index_t>(means.size()));
  Extras<T> extras{{"left_singular_vectors", &result.left}};
  if (settings.centre) {
    for (index_t j = 0; j < mean_row.cols(); ++j)
      mean_row(0, j) = solvers::scaled(means[static_cast<std::size_t>(j)], exponent);
    extras.emplace_back("column_means", &mean_row);
    auto values = triplets.values;
    for (double& v : values) v = std::ldexp(v, -exponent);
    extras.emplace_back("explained_variance_ratio", explained<T>(matrix, means, values));
  }
  if (!settings.common.json) print_table(std::cout, triplets, facts);
  if (!settings.common.output.empty()) console.note("wrote " + write_file(triplets, settings, facts, extras));
  if (!settings.report.empty()) {
    write_html_report(triplets, settings, facts);
    console.note("wrote " + settings.report + ": a page with pictures");
  }
  if (settings.common.json) print_json(std::cout, triplets, settings, facts);
  if (triplets.verified) return exit_ok;
  console.warn(triplets.reason);
  return triplets.stop == solvers::StopReason::interrupted ? stop_exit_code() : exit_not_converged;
}

}  // namespace

int decompose_file(const Settings& settings) {
  const Device device = resolve_processor(settings.common.device);
  Console console("tssolve", settings.common.quiet);
  const auto location = io::parse_location(settings.matrix);
  check_output_paths({{"--output", settings.common.output}, {"--report", settings.report}},
                     {settings.matrix});
  Context ctx;
  ctx.threads = settings.common.threads;

  RunFacts facts;
  facts.input = io::describe(location, settings.read);
  const auto& d = facts.input;
  const bool wide = d.type == DType::complex128 || d.type == DType::complex64;
  const index_t shorter = std::min(d.rows, d.cols), longer = std::max(d.rows, d.cols);
  const auto plan = solvers::plan_eigen(shorter, wide ? 16 : 8, settings.eigen);
  const auto vectors =
      static_cast<std::uint64_t>(longer) * static_cast<std::uint64_t>(plan.nev) * (wide ? 16 : 8) * 6;
  const std::vector<MemoryUse> uses = {
      {"matrix", d.bytes}, {"basis and blocks", plan.bytes}, {"singular vectors", vectors}};
  if (settings.common.dry_run) {
    std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols)
              << ", singular values\nmemory:\n";
    print_memory(std::cout, uses, available_memory());
    return exit_ok;
  }
  solvers::expect_memory("singular values of " + d.where.text(), uses, available_memory());
  facts.method = "eigenvectors of A^H A", facts.device = device_text(device),
  facts.threads = ctx.thread_count();
  facts.block_size = plan.block_size, facts.max_basis = plan.max_basis;
  facts.quantity = "singular value", facts.vectors = "right_singular_vectors";
  console.note(d.where.text() + ": " + grouped(d.rows) + " x " + grouped(d.cols) + "; singular values");
  if (settings.profile) facts.profile = begin_profile(ctx);
  std::optional<EndsOnSignal> reading(std::in_place);
  auto input = read_any(settings.matrix, settings.read);
  reading.reset();
  return std::visit(
      [&](auto& matrix) {
        using T = typename std::decay_t<decltype(std::get<0>(matrix))>::value_type;
        return decompose<T>(settings, ctx, matrix, facts, console);
      },
      input.matrix);
}

}  // namespace ts::app::tssolve
