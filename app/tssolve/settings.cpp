#include "tallskinny/app/tssolve/settings.hpp"

#include <limits>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/tssolve/report.hpp"

namespace ts::app::tssolve {

namespace {

using solvers::Convergence;
using solvers::Method;
using solvers::Precision;
using solvers::Which;

About about() {
  return {
      "tssolve",
      "eigenvalues and eigenvectors of Hermitian matrices, checked for missing copies",
      "MATRIX [options]",
      {{"the 6 smallest eigenvalues of a matrix in Matrix Market format", "tssolve laplace.mtx -k 6 --which SA"},
       {"20 largest, to 1e-10, pairs and residuals to a file",
        "tssolve graph.h5:/adjacency -k 20 --which LA --tol 1e-10 -o pairs.h5"},
       {"the 8 nearest to 1.5, as JSON", "tssolve spin.h5 -k 8 --sigma 1.5 --json"},
       {"all between -0.2 and 0.3, their number proved", "tssolve spin.h5 --interval -0.2:0.3"},
       {"the 4 rightmost eigenvalues of a matrix that is not symmetric", "tssolve flow.mtx --general -k 4 --which LR"},
       {"the 5 first principal components of a feature set", "tssolve features.h5:/X --svd --centre -k 5 -o pca.h5"},
       {"the 10 lowest vibrations of a structure: K x = lambda M x",
        "tssolve model.h5:/K --mass model.h5:/M -k 10 --sigma 0"},
       {"a long run that a batch system may stop and start again, with a page of pictures",
        "tssolve big.h5 -k 20 --which SA -o pairs.h5 --checkpoint state.h5 --report run.html"}},
      "MATRIX is FILE or FILE:/object: HDF5 as Binsparse, AnnData, MATLAB v7.3, PETSc, SciPy, Octave, h5py and others "
      "write it, Matrix Market, npy, csv, MATLAB's .mat or PETSc's binary format; `tsdata info FILE` says what is in "
      "it. Options of reading hold for --mass "
      "and --preconditioner, too. It is real symmetric or complex Hermitian, sparse or dense; any square one with "
      "--general, any shape with --svd.\n\n"
      "The set is called complete only after a search for missing copies of repeated eigenvalues. Exit status: 0 "
      "converged and complete (converged, with --accept-unproven); 3 not, with the reason on standard error and the "
      "partial result written; 1 failure, 2 "
      "wrong use, 4 unusable input, 5 no such device, 128 + n after signal n.\n\n"
      "mpirun -n P tssolve ..., or srun, distributes the rows of a large Hermitian matrix over P processes, where it "
      "can; otherwise the first process works alone and says so. Eigenvalues and vectors have the bits of "
      "--determinism gpu_to_gpu on one.\n\n"
      "SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGXCPU end a run after its block step, with the checkpoint and the "
      "partial result written.\n\n"
      "--device cuda keeps matrix, basis and blocks in the memory of a GPU, and a basis that does not fit there in "
      "page-locked host memory; factors are made there by cuDSS where that is found, otherwise on the processor.\n\n"
      "Small eigenvalues of matrices such as Laplacians converge slowly from the end of the spectrum: --sigma 0 (or "
      "--which SM) factorises the matrix and finds them in a few steps where memory allows."};
}

void add_which(Options& options, Settings& settings, Given& given) {
  options.group("What to find")
      .value("nev,k", "COUNT", settings.eigen.nev, "how many eigenvalues", at_least<index_t>(1))
      .known_as({"k", "n", "nsv", "neigs", "num-eigenvalues", "n-components"})
      .custom("which", "LA|SA|LM|SM|BE", name_of(settings.eigen.which),
              "largest or smallest algebraic, largest or smallest magnitude, both ends. With --sigma: LM and "
              "SM the nearest to it, LA and SA the nearest above and below (where fewer lie there, all of "
              "them), BE half from each side. SM alone is nearest to 0. With --general: LM, LR or SR "
              "(largest or smallest real part), LI or SI (largest or smallest |imaginary part|), "
              "SM (nearest to 0 or to --sigma). With --svd: LM or SM",
              "LA, SA, LM, SM, BE, LR, SR, LI or SI",
              [&given](std::string_view text) { return (given.word = word_named(text)) != nullptr; });
  options
      .custom("sigma", "NUMBER", "",
              "look near this number, by factorising A - sigma I. With --general it may be complex, as in "
              "0.5+2i (or 0.5+2j): of a real matrix the values nearest to it or to its conjugate, pairs together",
              "a number; with --general a complex one such as 0.5+2i, 0.5-2i or 2i",
              [&settings](std::string_view text) {
                std::complex<double> z;
                if (!parse_complex(text, z)) return false;
                settings.sigma = z.real(), settings.sigma_imaginary = z.imag();
                return true;
              })
      .known_as({"target", "shift"})
      .custom("interval", "A:B", "",
              "all eigenvalues from A to B, however many (--nev has no say); either may be left out. Where the "
              "matrix can be factorised (sparse, --method auto) their number is proved by the inertia of "
              "factorisations at both ends; with --method lanczos or chebyshev nothing is factorised, and "
              "completeness is as sure as a search from random blocks makes it",
              "A:B with A not above B",
              [&settings](std::string_view text) { return parse_interval(text, settings.interval); })
      .value("threshold", "NUMBER", given.threshold,
             "all eigenvalues at or above this number (--which LA), at or below it (SA), or of at most this "
             "magnitude (SM): an interval with one end");
}

void add_problem(Options& options, Settings& settings) {
  options
      .flag("general", settings.general,
            "the matrix need not be Hermitian: block Krylov-Schur; eigenvalues may be complex, and the two of a "
            "conjugate pair are never separated")
      .flag("svd", settings.svd,
            "the --nev largest singular values instead (with --which SM the smallest), with left and right "
            "vectors, of a matrix of any shape")
      .flag("centre", settings.centre,
            "subtract the mean of every column first: with --svd the principal components of a feature set")
      .file(
          "mass", "FILE[:/object]", settings.mass,
          "solve A x = lambda M x with this M, symmetric or Hermitian and positive definite; with --sigma, --which SM, "
          "--interval or --threshold it may be semidefinite, and eigenvalues that are infinite are reported. Residuals "
          "are those of A x - lambda M x in the norm of M^-1, vectors are M-orthonormal")
      .flag("symmetrise", settings.symmetrise,
            "solve (A + A^H) / 2, and the same of --mass, however far a matrix is from Hermitian; without it only "
            "of one that differs by rounding: by half of the digits of its type at most")
      .value("tol", "NUMBER", settings.eigen.tol, "how small residuals must be", at_least(0.0))
      .choice("conv", settings.eigen.convergence,
              "what the residual of a pair is compared with: tol times |eigenvalue| (singular value), tol times the "
              "norm of A, or tol alone; with the rounding of products where that is larger, as it is for values near "
              "zero",
              {{"norm", Convergence::norm}, {"rel", Convergence::rel}, {"abs", Convergence::abs}});
}

void add_method(Options& options, Settings& settings) {
  options.group("How to find it")
      .choice("method", settings.eigen.method,
              "block Lanczos; the same on a Chebyshev polynomial of the matrix (for SA and LA); LOBPCG or block "
              "Davidson, for SA or LA with a preconditioner; or all eigenvalues by a dense solver, which from 512 rows "
              "on has equal bits for equal --threads, the others for any. auto takes dense for small matrices, "
              "chebyshev for large and sparse ones. --general knows auto and dense",
              {{"auto", Method::automatic},
               {"lanczos", Method::lanczos},
               {"chebyshev", Method::chebyshev},
               {"lobpcg", Method::lobpcg},
               {"davidson", Method::davidson},
               {"dense", Method::dense}})
      .choice("precision", settings.eigen.precision,
              "what block Lanczos iterates in. float32: matrix and basis in float32, for less memory and time; "
              "residuals, still computed in float64, reach 4e-6 of the norm of A and no less, so that --tol is 1e-5 "
              "unless given; a set is complete only where the gap outside of it shows in float32. mixed: float32 "
              "first, then float64 from what that found, to the same --tol and with the same certainty as float64. "
              "For the ends of the spectrum; dense and cheaply factorised matrices are solved in float64 anyway",
              {{name_of(Precision::float64), Precision::float64},
               {name_of(Precision::float32), Precision::float32},
               {name_of(Precision::mixed), Precision::mixed}})
      .file("preconditioner", "none|jacobi|ichol|chebyshev|FILE[:/object]", settings.preconditioner,
            "of LOBPCG and Davidson: nothing, the inverse of the diagonal, an incomplete Cholesky factorisation "
            "(sparse matrices), a Chebyshev polynomial of the matrix, or a matrix near the inverse of A, Hermitian "
            "and positive definite. auto: jacobi for SA, none for LA",
            "none, jacobi, ichol, chebyshev or a file name")
      .choice("reorder", settings.reorder,
              "put rows and columns of a sparse matrix into another order first, so that products find what they need "
              "of a block near by: reverse Cuthill-McKee, or nested dissection by METIS. For graphs and meshes whose "
              "rows stand in no order; --dry-run tells what it would gain. On several ranks (mpirun) METIS makes parts "
              "with few entries between them, and an order is taken where ranks then send less. Vectors are in the "
              "order of the file",
              {{"none", solvers::Reordering::none},
               {"rcm", solvers::Reordering::rcm},
               {"metis", solvers::Reordering::metis}})
      .value("block-size", "COUNT", settings.eigen.block_size, "vectors per block step; 0: chosen",
             at_least<index_t>(0))
      .value("max-basis", "COUNT", settings.eigen.max_basis,
             "vectors kept before a restart, raised to nev and six blocks where it is less; 0: chosen",
             at_least<index_t>(0))
      .known_as({"ncv", "mpd"})
      .value("max-iter", "COUNT", settings.eigen.max_iterations, "block steps before giving up; 0: chosen",
             at_least<index_t>(0))
      .known_as({"max-it", "maxit", "maxiter", "max-iterations", "iterations"})
      .file("initial", "FILE[:/object]", settings.initial,
            "start from the columns of this dense matrix (n x any number)")
      .known_as({"v0", "x0", "initial-space"});
  add_seed_option(options, settings.common);
}

void add_results(Options& options, Settings& settings) {
  options.group("Results");
  add_output_options(options, settings.common, "write eigenvalues, eigenvectors, residual_norms and what led to them");
  add_table_option(options, "values-out", settings.values_out,
                   "write eigenvalues or singular values for NumPy, or as text");
  add_table_option(options, "vectors-out", settings.vectors_out,
                   "write eigenvectors or right singular vectors, a column each");
  add_table_option(options, "left-vectors-out", settings.left_vectors_out,
                   "with --svd: write left singular vectors, a column each");
  add_report_options(options, settings.common);
  options.file("report", "FILE.html", settings.report,
               "write an HTML page with charts: convergence of each pair, the spectrum, residuals, time");
  options.flag(
      "accept-unproven", settings.accept_unproven,
      "exit status 0 for pairs that converged although nothing shows that the set is complete, as for matrices "
      "that are far from normal; the result says so");
  options.flag("profile", settings.profile,
               "measure what the machine can do, and show for each kind of work how long it took, what it "
               "moved and computed, and how near it came to that");
  add_checkpoint_options(options.group("Long runs"), settings.checkpoint);
  options.group("Machine");
  add_machine_options(options, settings.common);
  options.custom(
      "determinism", "LEVEL", "",
      "which runs have equal bits: run_to_run, equal runs on one machine; gpu_to_gpu, also those on any number "
      "of ranks (mpirun -n P, srun); not_guaranteed, none where MUMPS can factorise on all ranks (--sigma), "
      "which share its memory. Default run_to_run, on several ranks gpu_to_gpu",
      "run_to_run, gpu_to_gpu or not_guaranteed", [&settings](std::string_view text) {
        settings.bits_may_vary = text == "not_guaranteed";
        if (text != "run_to_run" && text != "gpu_to_gpu" && !settings.bits_may_vary) return false;
        settings.determinism = text == "gpu_to_gpu" ? Determinism::gpu_to_gpu : Determinism::run_to_run;
        return true;
      });
  add_memory_option(options, settings.memory,
                    "memory to use, like 500M or 40G: of the GPU, or with --device cpu of the host; default what "
                    "is free. A basis that does not fit on the GPU stays in page-locked host memory and passes "
                    "through it. --dry-run shows what will be where");
}

}  // namespace

bool parse_settings(Arguments arguments, Settings& settings) {
  settings.eigen.which = Which::LM;
  Options options(about());
  Given given;
  options.positional("MATRIX", settings.matrix, "the matrix: FILE or FILE:/object, or - for standard input");
  add_which(options, settings, given);
  add_problem(options, settings);
  add_method(options, settings);
  add_read_options(options.group("Reading"), settings.read);
  add_table_options(options.group("Tables (with --svd)"), settings.read);
  add_results(options, settings);
  if (!options.parse(arguments)) return false;
  settings.common.command_line = options.command_line();
  settings.eigen.seed = settings.common.seed;
  given.tol = options.given("tol");
  check_settings(settings, given);
  return true;
}

namespace {

/// The interval that --threshold means together with --which.
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
  expects(!settings.sigma || nearest || word.part == solvers::GeneralWhich::LM,
          "--general with --sigma finds the eigenvalues nearest to it: leave --which out");
  expects(!settings.interval && !given.threshold && settings.mass.empty() && !settings.svd,
          "--interval, --threshold, --mass and --svd do not go with --general");
  expects(eigen.method == Method::automatic || eigen.method == Method::dense,
          "--general knows --method dense, which computes the whole spectrum, beside block Krylov-Schur");
  settings.part = word.part.value_or(solvers::GeneralWhich::LM);
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
