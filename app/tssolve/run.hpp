// The steps of every run: describe, plan, read, prepare, solve, report. What differs between Hermitian
// matrices, general ones and singular values is a Kind.
#pragma once

#include <cmath>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/checkpoint.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/report_fields.hpp"
#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/driver/plan.hpp"

namespace ts::app::tssolve {

/// Memory, device and ranks of a run, decided before anything is read.
struct RunPlan : solvers::SearchPlan {
  std::string what;                 ///< the work, for a sentence
  solvers::HermitianSearch search;  ///< of a Hermitian matrix
  solvers::MemoryPlan memory;
  std::uint64_t block_bytes = 0;  ///< of blocks in which the rows of the matrix pass by; 0: it is held as a whole
  std::uint64_t host_bytes = 0, device_bytes = 0;  ///< that the run may take; 0: unknown
};

/// State of a run from its first step to its last.
struct Run {
  /// Looks at output files and checkpoint. @throws Error naming the option.
  Run(Settings asked, const Device& on, const Ranks& ranks);

  /// Number of rows of the matrix here: those of this rank where ranks share it, otherwise all.
  [[nodiscard]] index_t rows_here() const {
    return ctx.slabs.empty() ? facts.input.rows : ctx.slabs.rows(ctx.communicator->rank());
  }

  Settings settings;
  Device device;
  const Ranks& ranks;
  RanksPlan who = {};
  solvers::DirectBackend factors_by = solvers::DirectBackend::best;
  Console console;
  io::Location location;
  CheckpointFile kept;
  Context ctx;
  RunFacts facts;
  RunPlan plan;
  std::string warning;  ///< printed at the end, or empty
};

struct Loaded {
  Input matrix;
  std::optional<Input> other;  ///< the mass matrix, or the real matrix where `matrix` was made complex
};

struct Kind {
  void (*plan)(Run&);
  void (*show)(Run&);  ///< --dry-run: all that work call it, the first prints
  Loaded (*read)(Run&);
  int (*solve)(Run&, Loaded&);
};
extern const Kind hermitian, general, singular_values;

[[nodiscard]] inline bool is_complex_type(const io::Description& d) {
  return d.type == DType::complex128 || d.type == DType::complex64;
}

[[nodiscard]] inline solvers::MatrixFacts facts_of(const io::Description& d) {
  return {d.rows, d.cols, d.nonzeros, d.sparse, d.bytes, is_complex_type(d) ? std::size_t{16} : std::size_t{8}};
}

/// Begins the work of the plan on the run's device, unless the beginning of a sentence says why it is the processor's
/// after all, finds the memory there is, within --memory, and completes `needs` with where the run is. --device auto
/// weighs the plan's work, and without any takes the processor.
void take_device(Run& run, solvers::MemoryNeeds& needs, std::string_view on_processor = {});

/// Who decomposes the matrix as a whole where the run is.
[[nodiscard]] std::string decomposed_by(const Run& run);

/// Writes the memory plan, and what of it is on the device, if anything is.
void show_memory(const Run& run);
/// --dry-run of a matrix that is not Hermitian, or of singular values. @param what is sought. @param factors as
/// add_factors() describes them, or empty
void show_plan(const Run& run, const std::string& what, const std::string& factors);

/// Adds the factors of A - sigma I to the plan: those of two shifts, for one may serve an iteration while another
/// counts. Returns a text on them, "by MUMPS 5.5.1, 12 Gflop each". Nothing: those of a dense matrix.
std::string add_factors(Run& run, const std::optional<solvers::FactorEstimate>& factors,
                        const std::string& what = "A - sigma I");

/// The first columns, of --initial. Takes up the checkpoint of a run with `matrix`, a fingerprint, and them.
template <class T>
struct Beginning {
  Matrix<T> initial;
  std::optional<Checkpoint<T>> checkpoint = {};

  explicit Beginning(const Run& run) : initial(run.rows_here(), 0) {
    if (run.settings.initial.empty()) return;
    const index_t rows = run.facts.input.rows, first = first_row(run.ctx);
    const bool all = run.rows_here() == rows;
    initial = read_initial<T>(run.settings.initial, rows, run.settings.read, first, all ? -1 : first + run.rows_here());
  }
  template <class Fingerprint>
  void take_up(Run& run, const Fingerprint& matrix) {
    const bool kept = run.kept.asked_for();
    checkpoint.emplace(run.kept, run.ctx, kept ? matrix() : 0,
                       kept ? fingerprint<T>(run.ctx, run.settings, initial.cview()) : 0);
    if (run.kept.resumes()) run.console.note("resuming from " + run.kept.name());
  }
};

/// Table or JSON, file and page. Returns the exit status. Ranks call it together.
template <class Problem, class Pairs>
int report(Run& run, Problem& problem, const Pairs& pairs) {
  const Settings& settings = run.settings;
  Console& console = run.console;
  // Before the files: where they cannot be written the result is printed all the same.
  const bool speaks = run.ranks.first();
  if (!settings.common.json && !prints_table(settings) && speaks) print_table(std::cout, pairs, run.facts);
  for (const std::string& file : problem.write(pairs)) console.note("wrote " + file);
  if (!settings.report.empty() && speaks) {
    write_html_report(pairs, settings, run.facts);
    console.note("wrote " + settings.report + ": an HTML page with charts");
  }
  // A run that was stopped, or used up its budget, may be taken up again.
  if (pairs.stop == solvers::StopReason::converged || pairs.stop == solvers::StopReason::rounding)
    speaks ? run.kept.remove() : void();
  else if (run.kept.kept())
    console.note("run the same command again to resume from " + run.kept.name());
  if (settings.common.json && speaks) print_json(std::cout, pairs, settings, run.facts);
  if (!run.warning.empty()) console.warn(run.warning);
  const bool interrupted = pairs.stop == solvers::StopReason::interrupted;
  if (pairs.verified && !interrupted) return exit_ok;
  console.warn(pairs.reason);
  if (takes_unproven(pairs, settings)) return exit_ok;
  if (pairs.converged && !interrupted) console.note("--accept-unproven takes what converged without that proof");
  return interrupted ? stop_exit_code() : exit_not_converged;
}

/// From a matrix in memory to the exit status. A Problem has a run of solvers/driver: it prepares and solves, and
/// completes what was found with the facts of that run.
template <class Problem>
int solve_and_report(Run& run, Problem problem) {
  RunFacts& facts = run.facts;
  std::optional<Profile::Use> profiled;
  if (facts.profile) profiled.emplace(*facts.profile);
  const Stopwatch watch;
  std::optional<EndsOnSignal> whole(std::in_place);  // nothing can be kept of what is under way
  auto options = run.settings.eigen;
  options.stop = [] { return stop_requested(); };
  Pace pace;
  options.progress = [&](const solvers::Progress& p) {
    if (p.phase == "dense" && Problem::ends_when_dense) {
      whole.emplace();
      return run.console.progress("computing all eigenvalues");
    }
    std::string text = p.phase == "verify" ? "searching for missing copies"
                                           : grouped(p.converged) + " of " + grouped(p.wanted) + Problem::found;
    if (p.iteration > 0) text += ", " + pace.text(p.iteration, p.max_iterations);
    run.console.progress(text);
  };
  problem.prepare(options);
  whole.reset();
  auto result = problem.solve();
  whole.reset();
  auto& pairs = problem.complete(result);
  facts.elapsed_seconds = watch.seconds();
  pairs.reason = with_flags(std::move(pairs.reason));
  if (takes_unproven(pairs, run.settings))
    pairs.reason += "; taken although not shown to be complete (--accept-unproven)";
  return report(run, problem, pairs);
}

}  // namespace ts::app::tssolve
