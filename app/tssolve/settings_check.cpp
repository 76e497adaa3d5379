#include "tallskinny/app/tssolve/settings_check.hpp"

#include <limits>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/tssolve/tables.hpp"

namespace ts::app::tssolve {

namespace {

using solvers::Convergence;
using solvers::GeneralWhich;
using solvers::Method;
using solvers::Precision;
using solvers::Which;

/// What --threshold means together with --which.
solvers::Interval beyond(double threshold, Which which) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  expects(which != Which::LM && which != Which::BE,
          "--threshold needs --which LA (all at or above it), SA (all at or below it) or SM (all of at most "
          "that magnitude)");
  if (which == Which::LA) return {threshold, inf};
  if (which == Which::SA) return {-inf, threshold};
  expects(threshold >= 0, "--threshold with --which SM is a magnitude: 0 or larger");
  return {-threshold, threshold};
}

void check_precision(Settings& settings, const Given& given) {
  auto& eigen = settings.eigen;
  const Word& word = *given.word;
  expects(!settings.general && !settings.svd && settings.mass.empty() && !settings.sigma && word.which != Which::SM &&
              !settings.interval && !given.threshold && settings.checkpoint.file.empty() &&
              !solvers::is_preconditioned(eigen.method),
          "--precision float32 and mixed go with block Lanczos for the ends of the spectrum: --general, --svd, "
          "--mass, --sigma, --which SM, --interval, --threshold, --checkpoint and --method lobpcg or davidson "
          "take --precision float64");
  const bool single = eigen.precision == Precision::float32;
  if (single && !given.tol) eigen.tol = 1e-5;
  if (single && eigen.convergence != Convergence::abs && eigen.tol < solvers::float32_tolerance)
    throw Error(Errc::invalid_argument,
                "--tol " + value_text(eigen.tol) + " is below " + value_text(solvers::float32_tolerance) +
                    ", the least that --precision float32 takes: give a larger one, or take --precision mixed");
}

/// --which of a general matrix.
void check_general(Settings& settings, const Given& given) {
  auto& eigen = settings.eigen;
  const Word& word = *given.word;
  const bool nearest = word.which == Which::SM;  // to --sigma, or to 0
  if (nearest && !settings.sigma) settings.sigma = 0;
  expects(nearest || word.part.has_value(), "--general knows --which LM, SM, LR, SR, LI and SI");
  expects(!settings.sigma || nearest || word.part == GeneralWhich::LM,
          "--general with --sigma finds the eigenvalues nearest to it: leave --which out");
  expects(!settings.interval && !given.threshold && settings.mass.empty() && !settings.svd,
          "--interval, --threshold, --mass and --svd do not go with --general");
  expects(eigen.method == Method::automatic || eigen.method == Method::dense,
          "--general knows --method dense, which computes the whole spectrum, beside block Krylov-Schur");
  settings.part = word.part.value_or(GeneralWhich::LM);
}

void check_svd(Settings& settings) {
  auto& eigen = settings.eigen;
  const bool smallest = eigen.which == Which::SM || eigen.which == Which::SA;
  expects(smallest || eigen.which == Which::LM || eigen.which == Which::LA,
          "--svd finds the largest singular values, or with --which SM the smallest");
  expects(!settings.sigma && !settings.interval && settings.mass.empty() && settings.checkpoint.file.empty() &&
              settings.initial.empty() && eigen.method == Method::automatic,
          "--sigma, --interval, --threshold, --mass, --initial, --method and --checkpoint do not go with --svd");
  eigen.which = smallest ? Which::SM : Which::LA;
}

}  // namespace

void check_settings(Settings& settings, const Given& given) {
  auto& eigen = settings.eigen;
  expects(!settings.checkpoint.restart || !settings.checkpoint.file.empty(), "--restart needs --checkpoint FILE");
  if (eigen.precision != Precision::float64) check_precision(settings, given);
  if (settings.general) {
    check_general(settings, given);
  } else {
    expects(settings.sigma_imaginary == 0,
            "--sigma is a real number: eigenvalues of Hermitian matrices are (--general is for others)");
    expects(given.word->which.has_value(), "--which LI and SI go with --general");
    eigen.which = *given.word->which;
  }
  if (given.threshold) {
    expects(!settings.interval, "--threshold and --interval exclude each other");
    settings.interval = beyond(*given.threshold, eigen.which);
  }
  expects(!settings.symmetrise || (!settings.svd && !settings.general),
          "--symmetrise makes a matrix Hermitian: it does not go with --svd or --general");
  expects(settings.svd || !settings.centre, "--centre goes with --svd");
  expects(settings.svd || (!settings.read.table.selects() && settings.read.table.missing == io::Missing::refuse),
          "--columns, --drop and --missing go with --svd");
  expects(settings.svd || settings.left_vectors_out.empty(), "--left-vectors-out goes with --svd");
  (void)prints_table(settings);
  if (settings.reorder != solvers::Reordering::none)
    expects(!settings.svd && !settings.general,
            "--reorder is for Hermitian matrices: it does not go with --svd or --general");
  expects(settings.preconditioner == "auto" || solvers::is_preconditioned(eigen.method),
          "--preconditioner goes with --method lobpcg and davidson");
  if (solvers::is_preconditioned(eigen.method))
    expects(!settings.sigma && !settings.interval && settings.checkpoint.file.empty() &&
                (eigen.which == Which::SA || eigen.which == Which::LA),
            "--method lobpcg and davidson seek --which SA or LA, without --sigma, --interval, --threshold or "
            "--checkpoint");
  if (settings.svd) check_svd(settings);
  if (settings.interval) {
    expects(!settings.sigma, "--sigma looks near a number, --interval for all in a range: give one of them");
    expects(settings.checkpoint.file.empty() && settings.initial.empty(),
            "--checkpoint and --initial do not go with --interval or --threshold");
    eigen.which = Which::SA;  // the order of the result
  }
}

}  // namespace ts::app::tssolve
