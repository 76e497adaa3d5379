#include "tallskinny/app/tssolve/general_file.hpp"

#include <chrono>
#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/checkpoint.hpp"
#include "tallskinny/app/tssolve/general_report.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/solvers/setup/scale.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

namespace ts::app::tssolve {

namespace {

using Complex = std::complex<double>;

template <class T>
T scalar(Complex z) {
  if constexpr (is_complex<T>)
    return z;
  else
    return z.real();
}

template <class T>
solvers::GeneralInverse<T> inverse_of(const AnyMatrix<T>& matrix, T sigma) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix))
    return solvers::GeneralInverse<T>(sparse->view(), sigma);
  return solvers::GeneralInverse<T>(std::get<Matrix<T>>(matrix).cview(), sigma);
}

/// The eigenvalues nearest to a target, if there is one; `note` becomes what there is to say of the shift.
template <class T>
solvers::GeneralProblem<T> problem_of(const AnyMatrix<T>& matrix, std::optional<T> target,
                                      std::string& note) {
  solvers::GeneralProblem<T> problem{solvers::operator_of<T>(matrix)};
  if (!target) return problem;
  const auto inverse = inverse_of<T>(matrix, *target);
  problem.target = target, problem.inverse = inverse, problem.shift = inverse.sigma();
  note = inverse.note();
  return problem;
}

/// @param real the same matrix, where it is real and the target is not; otherwise null.
template <class T>
int solve(const Settings& settings, const Context& ctx, AnyMatrix<T>& matrix, AnyMatrix<double>* real,
          RunFacts facts, CheckpointFile& kept, Console& console) {
  std::optional<Profile::Use> profiled;
  if (facts.profile) profiled.emplace(*facts.profile);
  const auto start = std::chrono::steady_clock::now();
  std::optional<EndsOnSignal> preparing(std::in_place);
  const int exponent = solvers::extreme_exponent(matrix);
  if (exponent != 0) solvers::scale(matrix, -exponent);
  if (exponent != 0 && real != nullptr) solvers::scale(*real, -exponent);
  Matrix<T> initial(facts.input.rows, 0);
  if (!settings.initial.empty()) initial = read_initial<T>(settings.initial, facts.input.rows, settings.read);
  std::optional<T> target;
  if (settings.sigma) {
    target = scalar<T>(solvers::scaled({*settings.sigma, settings.sigma_imaginary}, -exponent));
    console.note("factorising A - sigma I");
  }
  auto problem = problem_of<T>(matrix, target, facts.note);
  if (!facts.note.empty()) console.warn(facts.note);
  AnyMatrix<T> adjoint;
  problem.adjoint = [&] {
    console.note("asking the adjoint matrix");
    adjoint = solvers::adjoint_of(matrix);
    std::optional<T> conjugate;
    if (target) conjugate = scalar<T>(std::conj(Complex(*target)));
    std::string note;
    return problem_of<T>(adjoint, conjugate, note);
  };
  solvers::GeneralOptions options{settings.part, settings.eigen};
  auto& common = options.common;
  if (common.convergence == solvers::Convergence::abs) common.tol = std::ldexp(common.tol, -exponent);
  common.stop = [] { return stop_requested(); };
  std::optional<EndsOnSignal> whole;  // a dense solve cannot be stopped half-way
  common.progress = [&console, &whole](const solvers::Progress& p) {
    if (p.phase == "dense") {
      whole.emplace();
      return console.progress(-1, "computing all eigenvalues");
    }
    console.progress(p.phase == "verify" ? -1 : p.fraction,
                     grouped(p.converged) + " of " + grouped(p.wanted) + " pairs, " +
                         grouped(p.operator_applications) + " operator applications");
  };
  Checkpoint<T> checkpoint(kept, kept.asked_for() ? fingerprint<T>(matrix, ctx.thread_count()) : 0,
                           fingerprint<T>(settings, initial.cview()));
  if (kept.resumes()) console.note("going on from " + kept.name());
  preparing.reset();
  auto result = solvers::solve_general<T>(ctx, problem, options, initial.cview(), checkpoint.hooks());
  whole.reset();
  if (result.verification == solvers::Verification::all_computed)
    facts.method = "dense, by the Schur form" +
                   (result.iterations == 0 ? std::string() : ", in place of " + facts.method);
  if (real != nullptr)
    result =
        solvers::with_conjugates(ctx, solvers::operator_of<double>(*real), std::move(result),
                                 solvers::scaled({*settings.sigma, settings.sigma_imaginary}, -exponent), options);
  if (exponent != 0) solvers::scale_result(result, exponent, facts.input.where.text());
  facts.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!settings.common.json) print_general_table(result, facts);
  if (!settings.common.output.empty()) console.note("wrote " + write_general_file(result, settings, facts));
  if (!settings.report.empty()) {
    write_general_page(result, settings, facts);
    console.note("wrote " + settings.report + ": a page with pictures");
  }
  if (result.stop == solvers::StopReason::converged || result.stop == solvers::StopReason::rounding)
    kept.remove();
  else if (kept.kept())
    console.note("the same command goes on from " + kept.name());
  if (settings.common.json) print_general_json(result, settings, facts, is_complex<T> && real == nullptr);
  if (result.verified) return exit_ok;
  console.warn(result.reason);
  return result.stop == solvers::StopReason::interrupted ? stop_exit_code() : exit_not_converged;
}

}  // namespace

int solve_general_file(const Settings& settings) {
  const Device device = resolve_processor(settings.common.device);
  Console console("tssolve", settings.common.quiet);
  const auto location = io::parse_location(settings.matrix);
  check_output_paths({{"--output", settings.common.output},
                      {"--checkpoint", settings.checkpoint.file},
                      {"--report", settings.report}},
                     {settings.matrix, settings.initial});
  CheckpointFile kept("tssolve", settings.checkpoint, console);
  Context ctx;
  ctx.threads = settings.common.threads;
  const auto d = io::describe(location, settings.read);
  if (d.rows != d.cols)
    throw Error(Errc::bad_input,
                d.where.text() + " is " + grouped(d.rows) + " x " + grouped(d.cols) +
                    ": eigenvalues need a square matrix (--svd finds singular values of any)");
  const index_t columns = 4 * settings.eigen.nev + 30 * std::max<index_t>(settings.eigen.block_size, 4);
  std::vector<MemoryUse> uses = {
      {"matrix", d.bytes},
      {"its adjoint", d.bytes},
      {"basis and blocks", static_cast<std::uint64_t>(d.rows) * static_cast<std::uint64_t>(columns) * 16}};
  const bool whole = settings.eigen.method == solvers::Method::dense;
  // The matrix, T and U as Eigen has them and as we do.
  if (whole || d.rows <= solvers::whole_takeover_rows<double>)
    uses.push_back(
        {"Schur form", static_cast<std::uint64_t>(d.rows) * static_cast<std::uint64_t>(d.rows) * 80});
  if (settings.common.dry_run) {
    std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols)
              << (whole ? ", Schur form" : ", block Krylov-Schur") << "\nmemory:\n";
    print_memory(std::cout, uses, available_memory());
    if (settings.sigma)
      std::cout << "and the factors of A - sigma I, whose size is known only once they are ordered\n";
    return exit_ok;
  }
  solvers::expect_memory("solving for eigenvalues of " + d.where.text(), uses, available_memory());
  RunFacts facts;
  if (settings.profile) facts.profile = begin_profile(ctx);
  std::optional<EndsOnSignal> reading(std::in_place);
  auto input = read_any(settings.matrix, settings.read);
  facts.input = d;
  facts.method = settings.sigma ? "block Krylov-Schur, shift-invert" : "block Krylov-Schur";
  facts.device = device_text(device), facts.threads = ctx.thread_count();
  // The two of a conjugate pair are at different distances from a complex target: it is sought in complex
  // arithmetic, and the real matrix then says what belongs together.
  std::optional<Input> real;
  if (settings.sigma_imaginary != 0 && !is_complex_input(input)) {
    real = read_any(settings.matrix, settings.read);
    make_complex(input);
  }
  reading.reset();
  return std::visit(
      [&](auto& matrix) {
        using T = typename std::decay_t<decltype(std::get<0>(matrix))>::value_type;
        return solve<T>(settings, ctx, matrix, real ? &std::get<AnyMatrix<double>>(real->matrix) : nullptr,
                        facts, kept, console);
      },
      input.matrix);
}

}  // namespace ts::app::tssolve
