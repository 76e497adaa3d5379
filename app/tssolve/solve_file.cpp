#include "tallskinny/app/tssolve/solve_file.hpp"

#include <chrono>
#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/checkpoint.hpp"
#include "tallskinny/app/tssolve/html_report.hpp"
#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/scaling.hpp"
#include "tallskinny/solvers/eigen/shift_invert.hpp"
#include "tallskinny/solvers/eigen/solve.hpp"

namespace ts::app::tssolve {

namespace {

/// A factorisation that takes at most a fraction of a second is worth a proof of completeness.
constexpr double cheap_flops = 2e8;

/// Where A - sigma I is factorised: --sigma, or 0 for SM.
std::optional<double> target_of(const Settings& settings) {
  if (settings.sigma) return settings.sigma;
  if (settings.eigen.which == solvers::Which::SM) return 0.0;
  return std::nullopt;
}

const char* method_text(const Settings& settings, const solvers::EigenPlan& plan) {
  if (plan.method == solvers::Method::dense) return "dense";
  if (settings.interval)
    return settings.eigen.method == solvers::Method::automatic
               ? "spectrum slicing by shift-invert block Lanczos"
               : "block Lanczos until the interval is covered";
  const bool target = target_of(settings).has_value();
  return target ? "block Lanczos, shift-invert" : "block Lanczos";
}

std::vector<MemoryUse> memory_of(const io::Description& input, const solvers::EigenPlan& plan) {
  return {{"matrix", input.bytes}, {"basis and blocks", plan.bytes}};
}

int show_plan(const Settings& settings, const io::Description& input, const solvers::EigenPlan& plan) {
  const auto uses = memory_of(input, plan);
  const char* method = method_text(settings, plan);
  if (settings.common.json) {
    JsonObject json;
    json.add("matrix", input.where.text()).add("rows", input.rows).add("nonzeros", input.nonzeros);
    json.add("method", method).add("nev", plan.nev).add("block_size", plan.block_size);
    json.add("max_basis", plan.max_basis).add("max_iterations", plan.max_iterations);
    add_memory(json, uses, available_memory());
    std::cout << json.text() << '\n';
    return exit_ok;
  }
  std::cout << input.where.text() << ": " << grouped(input.rows) << " x " << grouped(input.cols) << ", "
            << grouped(input.nonzeros) << " entries, " << input.convention << '\n'
            << "method: " << method << '\n';
  if (plan.method == solvers::Method::lanczos)
    std::cout << "block size " << plan.block_size << ", basis of " << plan.max_basis << " vectors, at most "
              << grouped(plan.max_iterations) << " block steps\n";
  std::cout << "memory:\n";
  print_memory(std::cout, uses, available_memory());
  if (plan.method == solvers::Method::lanczos && target_of(settings))
    std::cout << "and the factors of A - sigma I, whose size is known only once they are ordered\n";
  return exit_ok;
}

template <class T>
solvers::Operator<T> operator_of(const Hermitian<T>& matrix) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) return solvers::CsrOperator<T>(sparse->view());
  return solvers::DenseOperator<T>(std::get<Matrix<T>>(matrix).view());
}

/// The factorisation for a target and counts of eigenvalues, where they are needed (for a target or an
/// interval) or cheap.
template <class T>
void add_factorisation(solvers::EigenProblem<T>& problem, const Hermitian<T>& matrix, bool needed,
                       std::string& note) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    if (problem.target) {
      const solvers::ShiftInvert<T> factor(sparse->view(), *problem.target);
      problem.inverse = factor, problem.shift = factor.sigma(), note = factor.note();
    }
    problem.count_below = solvers::InertiaCounter<T>(sparse->view(), needed ? 0 : cheap_flops);
    // Called only after a count at the same shift, so only where a factorisation is needed or cheap.
    if (!problem.target)
      problem.invert = [a = sparse->view()](double sigma) -> std::optional<solvers::ShiftedInverse<T>> {
        const solvers::ShiftInvert<T> factor(a, sigma);
        return solvers::ShiftedInverse<T>{factor, factor.sigma()};
      };
  } else if (problem.target) {
    const solvers::DenseShiftInvert<T> factor(std::get<Matrix<T>>(matrix).view(), *problem.target);
    problem.inverse = factor, problem.shift = factor.sigma(), note = factor.note();
  }
}

template <class T>
solvers::EigenResult<T> solve_interval_of(const Settings& settings, const Context& ctx,
                                          const solvers::EigenProblem<T>& problem,
                                          const solvers::EigenOptions& options, int exponent,
                                          const io::Description& input) {
  const solvers::Interval scaled{std::ldexp(settings.interval->low, -exponent),
                                 std::ldexp(settings.interval->high, -exponent)};
  return solvers::solve_interval<T>(ctx, problem, options, scaled, [&](index_t count) {
    const auto bytes = static_cast<std::uint64_t>(input.rows) * static_cast<std::uint64_t>(count) * sizeof(T);
    expect_memory("keeping the " + grouped(count) + " eigenvectors of the interval",
                  {{"eigenvectors", 4 * bytes}}, available_memory());
  });
}

template <class T>
int solve_and_report(const Settings& settings, const solvers::EigenPlan& plan, const Context& ctx,
                     Hermitian<T>& matrix, RunFacts facts, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  const int exponent = extreme_exponent(matrix);
  if (exponent != 0) scale(matrix, -exponent);
  Matrix<T> initial(facts.input.rows, 0);
  if (!settings.initial.empty()) initial = read_initial<T>(settings.initial, facts.input.rows);

  solvers::EigenProblem<T> problem{operator_of<T>(matrix)};
  problem.target = target_of(settings);
  if (problem.target) problem.target = std::ldexp(*problem.target, -exponent);
  if (plan.method == solvers::Method::lanczos) {
    std::string note;
    if (problem.target) console.note("factorising A - sigma I");
    add_factorisation(
        problem, matrix,
        problem.target || (settings.interval && settings.eigen.method == solvers::Method::automatic), note);
    if (!note.empty()) console.warn(note);
    facts.note += (facts.note.empty() || note.empty() ? "" : "; ") + note;
  }
  auto options = settings.eigen;
  if (options.convergence == solvers::Convergence::abs) options.tol = std::ldexp(options.tol, -exponent);
  options.stop = [] { return stop_requested(); };
  options.progress = [&console](const solvers::Progress& p) {
    const std::string counted = grouped(p.operator_applications) + " operator applications";
    if (p.phase == "verify")
      console.progress(-1, "searching for missing copies, " + counted);
    else
      console.progress(p.fraction, grouped(p.converged) + " of " + grouped(p.wanted) + " pairs, " + counted);
  };
  Checkpoint<T> checkpoint(settings.checkpoint, settings.checkpoint_every,
                           settings.checkpoint.empty() ? 0 : fingerprint<T>(matrix));
  if (checkpoint.resumes()) console.note("going on from " + settings.checkpoint);
  auto result = settings.interval
                    ? solve_interval_of<T>(settings, ctx, problem, options, exponent, facts.input)
                    : solvers::solve_eigen<T>(ctx, problem, options, initial.cview(), checkpoint.hooks());
  if (exponent != 0) scale_result(result, exponent);
  facts.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.shift && !problem.target)
    facts.method += ", shift-invert beyond the end of the spectrum at " + short_number(*result.shift);
  if (result.filter_degree > 0)
    facts.method += " on a Chebyshev polynomial of degree " + std::to_string(result.filter_degree);

  if (!settings.common.output.empty()) write_file(result, settings, facts);
  if (!settings.report.empty()) write_html_report(result, settings, facts);
  // A run that was stopped, or used up its budget, may be taken up again.
  if (result.stop == solvers::StopReason::converged || result.stop == solvers::StopReason::rounding)
    checkpoint.remove();
  if (settings.common.json)
    print_json(std::cout, result, settings, facts);
  else
    print_table(std::cout, result, facts);
  if (settings.eigen.nev > facts.input.rows && !settings.interval)
    console.warn(grouped(settings.eigen.nev) + " eigenvalues were asked for, but the matrix has only " +
                 grouped(facts.input.rows));
  if (result.stop == solvers::StopReason::interrupted) {
    console.warn(result.reason);
    return stop_exit_code();
  }
  if (result.verified) return exit_ok;
  console.warn(result.reason);
  return exit_not_converged;
}

}  // namespace

int solve_file(Settings settings) {
  const Device device = resolve_device(settings.common.device);
  Console console("tssolve", settings.common.quiet);
  const auto location = io::parse_location(settings.matrix);
  if (!settings.common.output.empty()) {
    std::vector<std::filesystem::path> inputs{location.file};
    if (!settings.initial.empty()) inputs.push_back(io::parse_location(settings.initial).file);
    check_output_path("--output", settings.common.output, inputs);
  }
  if (!settings.checkpoint.empty()) check_output_path("--checkpoint", settings.checkpoint, {location.file});
  if (!settings.report.empty()) check_output_path("--report", settings.report, {location.file});
  Context ctx;
  ctx.threads = settings.common.threads;

  RunFacts facts;
  facts.input = io::describe(location);
  index_t initial_columns = 0;
  if (!settings.initial.empty()) initial_columns = io::describe(io::parse_location(settings.initial)).cols;
  const bool is_complex_matrix =
      facts.input.type == DType::complex128 || facts.input.type == DType::complex64;
  const auto plan =
      solvers::plan_eigen(facts.input.rows, is_complex_matrix ? 16 : 8, settings.eigen, initial_columns);
  if (settings.common.dry_run) return show_plan(settings, facts.input, plan);
  expect_memory("solving for " + grouped(plan.nev) + " eigenvalues of " + facts.input.where.text(),
                memory_of(facts.input, plan), available_memory());

  auto input = read_hermitian(settings.matrix);
  if (!input.note.empty()) console.note(input.note);
  facts.note = input.note;
  facts.method = method_text(settings, plan);
  facts.device = device_text(device);
  facts.threads = ctx.thread_count();
  facts.block_size = plan.block_size, facts.max_basis = plan.max_basis;
  console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " +
               grouped(facts.input.cols) + ", " + grouped(facts.input.nonzeros) + " entries; " +
               facts.method);
  return std::visit(
      [&](auto& matrix) {
        using Kind = std::decay_t<decltype(std::get<0>(matrix))>;
        return solve_and_report<typename Kind::value_type>(settings, plan, ctx, matrix, facts, console);
      },
      input.matrix);
}

}  // namespace ts::app::tssolve
